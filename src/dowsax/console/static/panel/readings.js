/** All readings, the last taken first: when, what, where, with which wind; each can be corrected or left out. */

import { restore } from "../api.js";
import { mayWrite } from "../access.js";
import { h, notice, put, say } from "../dom.js";
import { measured, metres, plural } from "../format.js";
import { placeOf } from "../map/places.js";
import { askCorrection, askWithdrawal, follow } from "./correction.js";
import { areComparable, dateWords, momentOf, momentWords, uploadWords } from "./moments.js";
import { windAge, windAgeWords, windSource, windWords } from "./winds.js";

/** Readings in the list before the rest is asked for. */
const FIRST = 20;

export function buildReadings(mission, map) {
  const list = h("ol", { class: "readings", "aria-label": "Readings, the last taken first" });
  const title = h("h2", { id: "readings-title" }, "Readings");
  const state = h("p", { class: "computing", role: "status" });
  const more = h("button", { type: "button", class: "small" });
  const element = h("section", { class: "card", "aria-labelledby": "readings-title" }, title, state, list, more);
  let most = FIRST;
  /** Whether this page waits for the belief that a change makes. */
  let isWaiting = false;
  let before = "";
  /** The control that lost the focus because it was disabled or is gone. */
  let lost = null;

  more.addEventListener("click", () => {
    most = Infinity;
    update();
  });
  const undo = async (one) => {
    isWaiting = true;
    update();
    try {
      const version = one.versions.findLast((snapshot, index) => snapshot.reading && index < one.versions.length - 1);
      follow(mission, (await restore(`${mission.path}/readings/${one.number}`, version.number)).snapshot);
    } catch (refusal) {
      notice(refusal.message);
    }
    isWaiting = false;
    update();
  };

  const update = () => {
    const all = mission.allReadings(mission.count);
    element.hidden = all.length === 0;
    const { preparing, message, status, unit } = mission.facts;
    const isBusy = isWaiting || Boolean(preparing);
    say(state, isBusy ? message || "Computing the belief again" : "");
    state.hidden = !isBusy;
    const changes = all.length === 0 ? 0 : mission.count;
    const now = [changes, mission.shown, most, isBusy, status, unit, map.show.degrees].join();
    if (now === before) return;
    before = now;
    const out = all.filter(({ reading }) => !reading).length;
    say(title, `${plural(all.length - out, "reading")}${out ? `, ${out} left out` : ""}`);
    const rows = byTime(all).slice(0, most);
    const focused = focusedIn(list) ?? (document.activeElement === document.body ? lost : null);
    const canAct = mayWrite() && mission.facts.type === "real" && !isBusy && status !== "failed";
    put(
      list,
      rows.map((one) => rowOf(one, all, { mission, map, canAct, undo })),
    );
    lost = focused && !refocus(focused, isBusy) ? focused : null;
    more.hidden = all.length <= most;
    say(more, `Show all ${all.length}`);
  };
  return { element, update };
}

function focusedIn(list) {
  return list.contains(document.activeElement) ? document.activeElement.id : null;
}

/** Focus the control with this id, or the reading it belonged to where it is gone for good; whether that worked. */
function refocus(id, isBusy) {
  const control = document.getElementById(id) ?? (isBusy ? null : document.getElementById(id.replace(/.*-/, "reading-")));
  control?.focus();
  return control !== null && document.activeElement === control;
}

/** The last taken first; in the order of arrival where their times cannot be compared. */
function byTime(all) {
  const known = all.filter(({ snapshot }) => snapshot).map((one) => ({ ...one, moment: momentOf(one.snapshot) }));
  if (known.length === 0 || !areComparable(known.map(({ moment }) => moment))) return known.reverse();
  return known.sort((a, b) => b.moment.at - a.moment.at || b.number - a.number);
}

function rowOf(one, all, { mission, map, canAct, undo }) {
  const { number, reading, snapshot, versions, moment } = one;
  const kept = snapshot.reading;
  const isShown = mission.snapshot && (mission.snapshot.corrects ?? mission.snapshot.number) === number;
  const open = h(
    "button",
    { type: "button", class: "reading-open", id: `reading-${number}`, "aria-current": isShown ? "true" : null },
    h("span", { class: "reading-number" }, `${number}`),
    h("b", {}, measured(kept.value)),
    h("time", {}, momentWords(moment)),
  );
  open.addEventListener("click", () => mission.select(number));
  const details = [
    map.placeWords(placeOf(kept)),
    kept.altitude !== undefined && kept.altitude !== null && mission.facts.heights?.length
      ? `${metres(kept.altitude)} up`
      : null,
    kept.searcher ?? null,
    windDetail(one, all),
    uploadWords(moment),
    changeWords(one),
  ];
  return h(
    "li",
    { class: reading ? "reading-row" : "reading-row is-out" },
    open,
    h("p", { class: "reading-details" }, details.filter(Boolean).join(" · ")),
    mayWrite() && mission.facts.type === "real" ? actionsOf(one, versions, { mission, map, canAct, undo }) : null,
  );
}

/** Left out and why, or corrected and from what. */
function changeWords({ reading, versions }) {
  const newest = versions.at(-1);
  const reason = newest.reason ? `: ${newest.reason}` : "";
  if (!reading) return `left out at ${dateWords(Date.parse(newest.time))}${reason}`;
  if (versions.length === 1) return "";
  const earlier = versions.findLast(({ reading: old }, index) => old && index < versions.length - 1);
  return earlier.reading.value === reading.value
    ? `changed${reason}`
    : `corrected from ${measured(earlier.reading.value)}${reason}`;
}

/** The wind of a reading: its own, or whose it has and how old that was. */
function windDetail({ snapshot, number }, all) {
  const { reading } = snapshot;
  if (!reading.wind) return "";
  const words = `wind ${windWords(reading.wind)}`;
  if (!snapshot.held_wind) return words;
  const before = all.filter((one) => one.reading && one.number < number);
  const source = windSource(before);
  if (!source) return `${words}, carried over`;
  const age = windAge(source, momentOf(snapshot));
  return `${words}, that of reading ${source.number}, ${windAgeWords(age)}`;
}

function actionsOf(one, versions, { mission, map, canAct, undo }) {
  const { number, reading } = one;
  const button = (id, words, act, extra = {}) =>
    h(
      "button",
      {
        type: "button",
        class: "small",
        id: `${id}-${number}`,
        "aria-label": `${words} reading ${number}`,
        disabled: !canAct,
        on: { click: act },
        ...extra,
      },
      words,
    );
  const dialog = { "aria-haspopup": "dialog" };
  // What was undone is not offered again: left out it can be by the other button.
  const wasChanged = versions.length > 1 && (!reading || versions.at(-2).reading);
  return h(
    "div",
    { class: "row reading-actions" },
    reading ? button("correct", "Correct", () => askCorrection(mission, map, one), dialog) : null,
    reading ? button("leave-out", "Leave out", () => askWithdrawal(mission, one), dialog) : null,
    wasChanged ? button("undo", "Undo", () => undo(one)) : null,
  );
}
