/** The time slider: look back at any reading, play the search again, return to the newest. */

import { h, icon, put, say } from "../dom.js";
import { momentOf, momentWords, uploadWords } from "./moments.js";

/** [ms] per snapshot while playing. */
const PACE = 160;

export function buildReplay(mission) {
  const slider = h("input", {
    type: "range",
    min: "1",
    max: "1",
    value: "1",
    step: "1",
    "aria-label": "Reading shown",
    id: "replay",
  });
  const play = h(
    "button",
    { type: "button", class: "tool", "aria-label": "Play the search again", title: "Play the search again" },
    icon("play"),
  );
  const where = h("output", { class: "replay-where", for: "replay" });
  const live = h("button", { type: "button", class: "live" }, h("i"), "Newest");
  const element = h(
    "div",
    { class: "replay", role: "group", "aria-label": "Replay" },
    play,
    slider,
    where,
    live,
  );
  let timer = null;

  const stop = () => {
    clearInterval(timer);
    timer = null;
    put(play, icon("play"));
    play.setAttribute("aria-label", "Play the search again");
  };
  const tick = () => {
    if (mission.closed || mission.shown >= mission.count) {
      stop();
      return;
    }
    mission.select(mission.shown + 1);
    mission.prefetch(mission.shown + 1);
  };
  const start = () => {
    if (mission.isLive) mission.select(1);
    mission.prefetch(mission.shown);
    timer = setInterval(tick, PACE);
    put(play, icon("pause"));
    play.setAttribute("aria-label", "Stop playing");
  };

  play.addEventListener("click", () => (timer ? stop() : start()));
  slider.addEventListener("input", () => {
    stop();
    mission.select(Number(slider.value));
  });
  live.addEventListener("click", () => {
    stop();
    mission.select(mission.count);
  });

  const update = () => {
    const { snapshot, shown, count } = mission;
    element.hidden = count < 1;
    if (!snapshot) return;
    slider.max = String(count);
    slider.value = String(shown);
    slider.style.setProperty("--share", `${count > 1 ? (100 * (shown - 1)) / (count - 1) : 100}%`);
    // Of a withdrawal, when it was made.
    const moment = momentOf(snapshot);
    const taken = momentWords(moment);
    slider.setAttribute("aria-valuetext", `step ${shown} of ${count}, taken ${taken}, ${snapshot.status}`);
    say(where, `${shown} / ${count}  ${taken}`);
    where.title = uploadWords(moment);
    live.disabled = mission.isLive;
  };
  return { element, update, stop };
}
