/** The status of the search, and what to do next. */

import { announce, h, icon, put, say } from "../dom.js";
import { compass, metres, number, percent, plural, wayWords } from "../format.js";
import { wordsInUnits } from "../units.js";
import { buildCompass } from "./next.js";
import { buildSureness } from "./sureness.js";

/** [ms] between two readings that are read out while a simulation runs. */
const MIN_INTERVAL_MS = 8000;

export const STATUS = {
  preparing: { word: "PREPARING", icon: "preparing", kind: "preparing" },
  searching: { word: "SEARCHING", icon: "searching", kind: "searching" },
  found: { word: "FOUND", icon: "found", kind: "found" },
  inconclusive: { word: "INCONCLUSIVE", icon: "unsure", kind: "unsure" },
  failed: { word: "FAILED", icon: "failed", kind: "failed" },
  damaged: { word: "DAMAGED", icon: "failed", kind: "failed" },
};

/** A small mark of a status, for lists. */
export function chip(status, running) {
  const { word, icon: name, kind } = STATUS[status] ?? STATUS.failed;
  const text = status === "searching" && running === false ? "PAUSED" : word;
  return h("span", { class: `chip ${kind}` }, icon(name), text);
}

/** The status of the snapshot shown, or of the mission where there is none yet. */
function statusOf(mission) {
  const { facts, snapshot } = mission;
  if (facts.status === "failed" || (facts.status === "preparing" && !snapshot)) return facts.status;
  if (!snapshot) return facts.status;
  return mission.isLive ? facts.status : snapshot.status;
}

/** Announce each change of the status; of a running simulation, not every reading. */
function buildReader() {
  let said = { status: "", words: "", at: 0 };
  return (facts, snapshot, status) => {
    const words = spoken(facts, snapshot, status);
    const runs = facts.type === "simulated" && facts.running && status === said.status;
    if (words === said.words || (runs && Date.now() - said.at < MIN_INTERVAL_MS)) return;
    said = { status, words, at: Date.now() };
    announce(words);
  };
}

/** The sentence for screen readers. */
function spoken(facts, snapshot, status) {
  const word = (STATUS[status] ?? STATUS.failed).word.toLowerCase();
  if (!snapshot || facts.preparing) return `${word}. ${facts.message ?? ""}`;
  return `Reading ${snapshot.number}: ${word}.${spokenNext(snapshot)}`;
}

function spokenNext(snapshot) {
  const { next, next_path: path } = snapshot;
  if (!next) return "";
  return ` Next: ${path ? `the path ${path}` : wayWords(snapshot, (bearing) => ` to the ${compass(bearing)}`)}.`;
}

export function buildStatus(mission, map) {
  const mark = h("span", { class: "status-icon" });
  const word = h("strong", { class: "status-word", id: "status-word" });
  const tag = h("span", { class: "status-tag" });
  const wait = h("p", { class: "wait", hidden: true }, icon("preparing"), h("span"));
  const alarm = h("p", { class: "alarm", role: "alert", hidden: true }, icon("unsure"), h("span"));
  const why = h("p", { class: "why" });
  const region = h(
    "button",
    { type: "button", class: "small", hidden: true, on: { click: () => map.fitRegion() } },
    icon("belief"),
    "Show the region",
  );
  const rate = h("div", { class: "rate" });
  const budget = h("p", { class: "rate" });
  const next = buildCompass();
  const sureness = buildSureness();
  const element = h(
    "section",
    { class: "card status", "aria-labelledby": "status-word" },
    h("div", { class: "status-line" }, mark, word, tag),
    alarm,
    wait,
    next.element,
    why,
    region,
    sureness.element,
    rate,
    budget,
  );
  const readOut = buildReader();

  const update = () => {
    const { facts, snapshot } = mission;
    const status = statusOf(mission);
    const { word: text, icon: name, kind } = STATUS[status] ?? STATUS.failed;
    element.dataset.kind = kind;
    if (word.textContent !== text) put(mark, icon(name));
    say(word, text);
    say(tag, tagOf(mission, status));
    alarm.hidden = !facts.alarm;
    say(alarm.lastChild, facts.alarm ?? "");
    wait.hidden = !facts.preparing;
    say(wait.lastChild, facts.preparing ? facts.message || "Preparing" : "");
    const reason = mission.full?.why ?? snapshot?.why;
    say(why, reason ? wordsInUnits(reason) : (!facts.preparing && facts.message) || waitingWords(facts));
    region.hidden = status !== "found" || !snapshot;
    next.update(facts, snapshot, map.globe);
    sureness.update(facts, snapshot);
    sayRate(rate, facts.false_stops, reason ?? "");
    say(budget, budgetWords(facts, snapshot, mission.activeReadings().length));
    budget.hidden = budget.textContent === "";
    if (mission.isLive) readOut(facts, snapshot, status);
  };

  return { element, update };
}

function tagOf(mission, status) {
  const { facts, snapshot, shown, count } = mission;
  if (!mission.isLive) return `step ${shown} of ${count}`;
  if (status === "preparing") return "";
  const paused =
    facts.type === "simulated" && status === "searching" && facts.running === false ? "paused, " : "";
  return snapshot
    ? `${paused}${plural(facts.readings, "reading")}, ${metres(snapshot.path_length, 2)}`
    : paused
      ? "paused"
      : "no reading yet";
}

function waitingWords(facts) {
  if (facts.status === "preparing") return "The first mission in a new field takes a while to compile.";
  return facts.type === "real"
    ? "Add the first reading: type it, upload a survey, or send it by MQTT."
    : "Press Run or Step.";
}

/** How much of the budget is used. */
function budgetWords({ budget, status }, snapshot, readings) {
  if (!budget || !snapshot || status !== "searching") return "";
  const parts = [
    budget.readings ? `${readings} of ${budget.readings} readings` : null,
    budget.distance ? `${metres(snapshot.path_length, 2)} of ${metres(budget.distance, 2)}` : null,
    budget.time ? `${number(budget.time / 60, 2)} min at most` : null,
  ].filter(Boolean);
  return parts.length ? `Budget: ${parts.join(", ")}.` : "";
}

/** Say how often stops were wrong in simulation, or which command measures it, unless the reason does. */
function sayRate(element, stops, why) {
  element.hidden = !stops || why.includes(stops.sentence) || why.includes(stops.command ?? stops.sentence);
  if (element.hidden || element.dataset.said === stops.sentence) return;
  element.dataset.said = stops.sentence;
  put(element, stops.command ? measuring(stops) : rateWords(stops));
}

/** Folded, as it is not needed during a search. */
function measuring(stops) {
  return h(
    "details",
    {},
    h("summary", {}, `False stops: ${stops.measured_for === "kind" ? "this site was not rehearsed" : "not measured here"}`),
    h("p", {}, `${capital(stops.sentence)}. To measure it, run on the machine of the console:`),
    h("code", {}, stops.command),
  );
}

function rateWords(stops) {
  if (stops.measured_for === "site") return `False stops: ${stops.sentence}.`;
  const interval = `[${(100 * stops.low).toFixed(1)}, ${(100 * stops.high).toFixed(1)}]`;
  const count = stops.stops.toLocaleString("en");
  return `False stops: ${percent(stops.rate)} ${interval} of ${count} stops in simulations of this field.`;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
