/**
 * The alarm: at `found`, and when a feed stops. It sounds, marks the title and the icon of the page, and stays until a
 * person has seen it, also after the page is loaded again.
 */

import { h, icon, put, say } from "../dom.js";
import { choice } from "../forms.js";
import { store, stored } from "../settings.js";
import { findAlarm, keepAlarm, limitOf } from "./alarm_causes.js";
import { ageWords } from "./moments.js";
import { beep, setBadge } from "./signal.js";

/** [s] without a reading, from which a feed counts as stopped; 0 is never. */
const LIMITS = [0, 60, 120, 300, 900, 1800];

export function buildAlarm(mission) {
  const words = h("span");
  const seen = h("button", { type: "button", id: "alarm-seen" }, "I have seen it");
  const banner = h("div", { class: "alarm", role: "alert", hidden: true }, icon("bell"), words, seen);
  const sound = h("button", { type: "button", id: "alarm-sound" });
  const limits = LIMITS.map((limit) => ({ name: String(limit), label: limit ? ageWords(limit) : "never" }));
  const limit = choice("When no reading comes for", limits, String(limitOf(summaryOf(mission))));
  limit.input.name = "alarm-limit";
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "alarm-title" },
    h("h2", { id: "alarm-title" }, "Alarm"),
    h("div", { class: "row end" }, limit.element, sound),
    h("p", { class: "hint" }, "It sounds here and at the list of missions when the source is found and when readings stop."),
  );
  let active = null;

  sound.addEventListener("click", () => {
    store("muted", !stored("muted", false));
    update();
  });
  limit.input.addEventListener("change", () => {
    keepAlarm(mission.id, { limit: Number(limit.input.value) });
    update();
  });
  seen.addEventListener("click", () => {
    keepAlarm(mission.id, { seen: active?.key });
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
    active = findAlarm(summaryOf(mission));
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

/** What an alarm needs of the mission. */
function summaryOf({ id, facts, snapshots, count }) {
  const since = snapshots[count - 1]?.time ?? facts.created;
  return { id, type: facts.type, status: facts.status, hasFeed: Boolean(facts.mqtt), count, since };
}
