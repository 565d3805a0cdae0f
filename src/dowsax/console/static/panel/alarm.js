/**
 * The alarm: at `found`, and when a feed stops. It sounds, marks the title and the icon of the page, and stays until a
 * person has seen it, also after the page is loaded again.
 */

import { h, icon, put, say } from "../dom.js";
import { choice } from "../forms.js";
import { serverNow } from "../server_time.js";
import { store, stored } from "../settings.js";
import { ageWords } from "./moments.js";
import { beep, setBadge } from "./signal.js";

/** [s] without a reading, from which a feed counts as stopped; 0 is never. */
const LIMITS = [0, 60, 120, 300, 900, 1800];
const USUAL_LIMIT_S = 300;

export function buildAlarm(mission) {
  const { facts } = mission;
  const words = h("span");
  const seen = h("button", { type: "button", id: "alarm-seen" }, "I have seen it");
  const banner = h("div", { class: "alarm", role: "alert", hidden: true }, icon("bell"), words, seen);
  const sound = h("button", { type: "button", id: "alarm-sound" });
  const limits = LIMITS.map((limit) => ({ name: String(limit), label: limit ? ageWords(limit) : "never" }));
  const state = () => stored(`alarm-${mission.id}`, {});
  const limit = choice("When no reading comes for", limits, String(limitOf(facts, state().limit)));
  limit.input.name = "alarm-limit";
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "alarm-title" },
    h("h2", { id: "alarm-title" }, "Alarm"),
    h("div", { class: "row end" }, limit.element, sound),
    h("p", { class: "hint" }, "It sounds on this page when the source is found and when readings stop."),
  );
  const keep = (more) => store(`alarm-${mission.id}`, { ...state(), ...more });
  let active = null;

  sound.addEventListener("click", () => {
    store("muted", !stored("muted", false));
    update();
  });
  limit.input.addEventListener("change", () => {
    keep({ limit: Number(limit.input.value) });
    update();
  });
  seen.addEventListener("click", () => {
    keep({ seen: active?.key });
    update();
    sound.focus();
  });

  const update = () => {
    const isMuted = stored("muted", false);
    const label = isMuted ? "Alarm is muted: turn the sound on" : "Mute the alarm";
    if (sound.getAttribute("aria-label") !== label) {
      put(sound, icon(isMuted ? "muted" : "bell"), isMuted ? "Muted" : "Sound on");
      sound.setAttribute("aria-label", label);
    }
    const { status } = mission.facts;
    // A page that was opened after the end of the search gives no alarm.
    if (status === "searching" && !state().watched) keep({ watched: true });
    const now = cause(mission, state().watched, limitOf(mission.facts, state().limit));
    active = now && now.key !== state().seen ? now : null;
    banner.hidden = !active;
    say(words, active ? active.words : "");
    setBadge(Boolean(active));
    beep(Boolean(active) && !isMuted, active?.kind);
  };
  const close = () => {
    setBadge(false);
    beep(false);
  };
  return { element, banner, update, isOn: () => Boolean(active), close };
}

/** [s], as chosen; by itself only a mission with a feed waits for readings. */
function limitOf({ mqtt }, chosen) {
  return chosen ?? (mqtt ? USUAL_LIMIT_S : 0);
}

/** What there is to tell: {key, kind, words}, or `null`. A cause that was seen has the same key again. */
function cause({ facts, snapshots, count }, wasWatched, limit) {
  const newest = snapshots[count - 1];
  if (facts.status === "found" && wasWatched && newest)
    return { key: `found ${newest.number}`, kind: "found", words: `The source is found, by reading ${newest.number}.` };
  if (!limit || facts.status !== "searching" || facts.type !== "real") return null;
  const since = (serverNow() - Date.parse(newest?.time ?? facts.created)) / 1000;
  if (!(since > limit)) return null;
  return { key: `silent ${count}`, kind: "silent", words: `No reading has come for ${ageWords(since)}.` };
}
