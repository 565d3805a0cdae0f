/** The estimate of each unknown: mean, 95 % interval, and the truth once it is revealed. */

import { h, put, say } from "../dom.js";
import { latitude, longitude, metres, shareWords, withUnit, within } from "../format.js";
import { inUnit, quantityOf, unitOf } from "../units.js";
import { placeWords as wordsOfPlace } from "./next.js";

/** Names of the parameters that say where the source is. */
const POSITION = ["x", "y"];

export function buildEstimate(mission, map) {
  const body = h("tbody");
  const truthHead = h("th", { scope: "col", hidden: true }, "truth");
  const table = h(
    "table",
    { class: "estimate" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ...["unknown", "mean", "95 % interval"].map((text) => h("th", { scope: "col" }, text)),
        truthHead,
      ),
    ),
    body,
  );
  const place = h("p", { class: "place-line" });
  const pieces = h("ol", { class: "pieces" });
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "estimate-title" },
    h("h2", { id: "estimate-title" }, "Estimate"),
    place,
    pieces,
    table,
  );

  const update = () => {
    const { snapshot, facts } = mission;
    element.hidden = !snapshot;
    if (!snapshot) return;
    const { names, mean, low, high } = snapshot.estimate;
    const truth = mission.isLive ? facts.truth?.theta : null;
    truthHead.hidden = !truth;
    const apart = mission.full?.pieces ?? [];
    say(place, apart.length > 0 ? piecesWords(apart) : placeWords(snapshot, facts, map.globe));
    pieces.hidden = apart.length === 0;
    put(
      pieces,
      apart.map((piece) => pieceItem(piece, facts, map.globe)),
    );
    // The mean of several places is none of them.
    const rows = names
      .map((name, index) => [name, index])
      .filter(([name]) => apart.length === 0 || !POSITION.includes(name));
    put(
      body,
      rows.map(([name, index]) => rowOf(mission, index, name, mean, low, high, truth)),
    );
    table.hidden = rows.length === 0;
  };
  return { element, update };
}

function piecesWords(pieces) {
  return `The source is in one of ${pieces.length} places, which are apart from each other:`;
}

/** One of several places: where, how probable, and how large. */
function pieceItem({ centre, radius, probability }, facts, globe) {
  return h(
    "li",
    {},
    h("b", {}, shareWords(probability)),
    h("span", {}, `near ${wordsOfPlace(facts, globe, centre)}, within ${metres(radius, 2)}`),
  );
}

function placeWords(snapshot, facts, globe) {
  const off = facts.truth && snapshot.number === facts.snapshots ? missWords(snapshot, facts.truth.position) : "";
  const disc = `The source is within ${metres(snapshot.radius, 2)} of the mean with 95\u00a0%.${off}`;
  if (!facts.geographic || !globe) return disc;
  const [lat, lon] = globe.toDegrees(snapshot.estimate.mean);
  return `${latitude(lat)}, ${longitude(lon)}. ${disc}`;
}

function missWords(snapshot, truth) {
  const [east, north] = snapshot.estimate.mean;
  return ` It was ${metres(Math.hypot(east - truth[0], north - truth[1]), 2)} away from it, at the star.`;
}

function rowOf(mission, index, name, mean, low, high, truth) {
  const known = mission.facts.parameters?.find((item) => item.name === name);
  const own = known?.unit ?? mission.snapshot.estimate.units[index];
  const quantity = quantityOf(own);
  const unit = quantity ? unitOf(quantity).name : own;
  const shown = (value) => (quantity ? inUnit(value, quantity) : value);
  const text = (value) => within(shown(value), shown(low[index]), shown(high[index]));
  const interval = h(
    "td",
    { class: "interval" },
    `${text(low[index])} to ${text(high[index])}`,
    bracket(mission, index, low[index], high[index]),
  );
  return h(
    "tr",
    {},
    h("th", { scope: "row", title: known?.label ?? name }, short(known?.label ?? name)),
    h("td", { class: "mean" }, withUnit(text(mean[index]), unit)),
    interval,
    truth
      ? h("td", { class: "truth" }, name in truth ? text(truth[name]) : "")
      : null,
  );
}

/** A label without its part in brackets, which is in the tooltip. */
function short(label) {
  return label.replace(/\s*\([^)]*\)/g, "");
}

/** The interval within the widest one so far. */
function bracket(mission, index, low, high) {
  const all = mission.snapshots.slice(0, mission.shown).filter(Boolean);
  const least = Math.min(...all.map((snapshot) => snapshot.estimate.low[index]));
  const most = Math.max(...all.map((snapshot) => snapshot.estimate.high[index]));
  const width = most - least || 1;
  const inner = h("i");
  inner.style.left = `${(100 * (low - least)) / width}%`;
  inner.style.width = `${Math.max((100 * (high - low)) / width, 2)}%`;
  return h("span", { class: "bracket", "aria-hidden": "true" }, inner);
}
