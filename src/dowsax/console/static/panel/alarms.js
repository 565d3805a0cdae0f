/** The alarms of all real missions, for their list: as on the page of a mission, until a person has seen them. */

import { h, icon, put } from "../dom.js";
import { stored } from "../settings.js";
import { findAlarm, keepAlarm } from "./alarm_causes.js";
import { beep, setBadge } from "./signal.js";

/** [ms] after which silence is measured again. */
const PULSE_MS = 5000;

/** {element, close} for a store of missions that says `change`. */
export function buildAlarms(missions) {
  const list = h("ul", { class: "alarm-list" });
  const seen = h("button", { type: "button", id: "alarms-seen" }, "I have seen it");
  const element = h("div", { class: "alarm", role: "alert", hidden: true }, icon("bell"), list, seen);
  let active = [];
  let said = "";

  const update = () => {
    active = missions.list.filter(({ type }) => type === "real").flatMap(alarmOf);
    const words = active.map(({ name, alarm }) => `${name}: ${alarm.words}`).join("\n");
    if (words !== said) put(list, active.map(item));
    said = words;
    const isOn = active.length > 0;
    const kind = active.some(({ alarm }) => alarm.kind === "found") ? "found" : "silent";
    element.hidden = !isOn;
    setBadge(isOn);
    beep(isOn && !stored("muted", false), kind);
    document.title = `${isOn ? "(!) " : ""}dowsax console`;
  };
  seen.addEventListener("click", () => {
    for (const { id, alarm } of active) keepAlarm(id, { seen: alarm.key });
    update();
    document.querySelector("h1")?.focus({ preventScroll: true });
  });
  missions.addEventListener("change", update);
  const pulse = setInterval(update, PULSE_MS);
  update();
  return {
    element,
    close: () => {
      clearInterval(pulse);
      missions.removeEventListener("change", update);
      setBadge(false);
      beep(false);
    },
  };
}

/** The alarm of an item of the list, or none. */
function alarmOf({ id, name, type, status, has_feed: hasFeed, snapshots: count, updated: since }) {
  const alarm = findAlarm({ id, type, status, hasFeed, count, since });
  return alarm ? [{ id, name, alarm }] : [];
}

function item({ id, name, alarm }) {
  return h("li", {}, h("a", { href: `#/m/${encodeURIComponent(id)}` }, name), `: ${alarm.words}`);
}
