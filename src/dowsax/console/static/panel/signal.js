/** The sound of an alarm, made here, and its badge on the icon of the page. */

/** [Hz] of the tones of a kind of alarm, and [ms] between two times of it. */
const TONES = { found: [660, 880, 1100], silent: [440, 330] };
const EVERY_MS = 4000;
const TONE_S = 0.18;
const LOUDNESS = 0.25;

let context = null;
let timer = null;
let playing = null;

/** Sound an alarm of a kind again and again, or end it. A browser is silent until the page is clicked or typed on. */
export function beep(isOn, kind = "found") {
  const wanted = isOn ? kind : null;
  if (wanted === playing) return;
  playing = wanted;
  clearInterval(timer);
  document.body.dataset.sounds = wanted ?? "";
  if (!wanted) return;
  play();
  timer = setInterval(play, EVERY_MS);
}

function play() {
  context ??= new AudioContext();
  if (context.state === "suspended") {
    context.resume();
    return;
  }
  (TONES[playing] ?? []).forEach((pitch, index) => {
    const start = context.currentTime + index * TONE_S;
    const tone = context.createOscillator();
    const loudness = context.createGain();
    tone.frequency.value = pitch;
    // Without a click at either end.
    loudness.gain.setValueAtTime(0, start);
    loudness.gain.linearRampToValueAtTime(LOUDNESS, start + 0.02);
    loudness.gain.linearRampToValueAtTime(0, start + TONE_S);
    tone.connect(loudness).connect(context.destination);
    tone.start(start);
    tone.stop(start + TONE_S);
  });
}

// The first click or key lets the page sound, also where an alarm waits from before it was loaded.
for (const event of ["pointerdown", "keydown"])
  document.addEventListener(event, () => playing && context?.state === "suspended" && context.resume().then(play));

const PLAIN = "icon.svg";
const MARKED = "icon-alarm.svg";

/** Show or remove the badge. */
export function setBadge(isOn) {
  const link = document.querySelector("link[rel=icon]");
  const wanted = isOn ? MARKED : PLAIN;
  if (link.getAttribute("href") !== wanted) link.setAttribute("href", wanted);
}
