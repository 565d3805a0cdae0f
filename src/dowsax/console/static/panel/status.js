/** How the search stands, in big words, and what to do now. */

import { announce, h, icon, put, say } from "../dom.js";
import { compass, metres, number, percent, plural } from "../format.js";
import { buildCompass } from "./next.js";
import { buildSureness } from "./sureness.js";

/** [ms] between two readings that are read out while a simulation runs. */
const CALM = 8000;

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

/** The status of the frame shown, or of the mission where there is none yet. */
function statusOf(mission) {
  const { facts, frame } = mission;
  if (facts.status === "failed" || (facts.status === "preparing" && !frame)) return facts.status;
  if (!frame) return facts.status;
  return mission.isLive ? facts.status : frame.status;
}

/** Read out what is new: each change of the status, but of a search that runs by itself not every reading. */
function buildReader() {
  let said = { status: "", words: "", at: 0 };
  return (facts, frame, status) => {
    const words = spoken(facts, frame, status);
    const runs = facts.type === "simulated" && facts.running && status === said.status;
    if (words === said.words || (runs && Date.now() - said.at < CALM)) return;
    said = { status, words, at: Date.now() };
    announce(words);
  };
}

/** One sentence for those who listen. */
function spoken(facts, frame, status) {
  const word = (STATUS[status] ?? STATUS.failed).word.toLowerCase();
  if (!frame || facts.preparing) return `${word}. ${facts.message ?? ""}`;
  const next = frame.next ? ` Next: ${metres(frame.distance, 2)} to the ${compass(frame.bearing)}.` : "";
  return `Reading ${frame.number}: ${word}.${next}`;
}

export function buildStatus(mission, map) {
  const mark = h("span", { class: "status-icon" });
  const word = h("strong", { class: "status-word", id: "status-word" });
  const tag = h("span", { class: "status-tag" });
  const wait = h("p", { class: "wait", hidden: true }, icon("preparing"), h("span"));
  const alarm = h("p", { class: "alarm", role: "alert", hidden: true }, icon("unsure"), h("span"));
  const why = h("p", { class: "why" });
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
    sureness.element,
    rate,
    budget,
  );
  const readOut = buildReader();

  const update = () => {
    const { facts, frame } = mission;
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
    say(why, frame ? frame.why : (!facts.preparing && facts.message) || waitingWords(facts));
    next.update(facts, frame, map.globe);
    sureness.update(facts, frame);
    sayRate(rate, facts.false_stops, why.textContent);
    say(budget, budgetWords(facts, frame, mission.standing().length));
    budget.hidden = budget.textContent === "";
    if (mission.isLive) readOut(facts, frame, status);
  };

  return { element, update };
}

function tagOf(mission, status) {
  const { facts, frame, shown, count } = mission;
  if (!mission.isLive) return `step ${shown} of ${count}`;
  if (status === "preparing") return "";
  const paused =
    facts.type === "simulated" && status === "searching" && facts.running === false ? "paused, " : "";
  return frame
    ? `${paused}${plural(facts.readings, "reading")}, ${metres(frame.path_length, 2)}`
    : paused
      ? "paused"
      : "no reading yet";
}

function waitingWords(facts) {
  if (facts.status === "preparing") return "It takes a while for a field that is new to this machine.";
  return facts.type === "real"
    ? "Give the first reading: type it, upload a survey, or send it by MQTT."
    : "Press Run or Step.";
}

/** What is spent of what may be. */
function budgetWords({ budget, status }, frame, readings) {
  if (!budget || !frame || status !== "searching") return "";
  const parts = [
    budget.readings ? `${readings} of ${budget.readings} readings` : null,
    budget.distance ? `${number(frame.path_length, 2)} of ${metres(budget.distance, 2)}` : null,
    budget.time ? `${number(budget.time / 60, 2)} min at the most` : null,
  ].filter(Boolean);
  return parts.length ? `Budget: ${parts.join(", ")}.` : "";
}

/** How often stops were wrong in simulation, or which command measures it; unless the reason says it. */
function sayRate(element, stops, why) {
  element.hidden = !stops || why.includes(stops.sentence) || why.includes(stops.command ?? stops.sentence);
  if (element.hidden || element.dataset.said === stops.sentence) return;
  element.dataset.said = stops.sentence;
  put(element, stops.command ? measuring(stops) : rateWords(stops));
}

/** Folded: it is for before or after a search, not for the way. */
function measuring(stops) {
  return h(
    "details",
    {},
    h("summary", {}, "False stops: not measured here"),
    h("p", {}, `${capital(stops.sentence)}. This measures it, on the machine of the console:`),
    h("code", {}, stops.command),
  );
}

function rateWords(stops) {
  if (stops.of === "site") return `False stops: ${stops.sentence}.`;
  const interval = `[${(100 * stops.low).toFixed(1)}, ${(100 * stops.high).toFixed(1)}]`;
  const count = stops.stops.toLocaleString("en");
  return `False stops: ${percent(stops.rate)} ${interval} of ${count} stops in simulations of this field.`;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
