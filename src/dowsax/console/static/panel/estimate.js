/** The estimate of each unknown: mean, 95 % interval, and the truth once it is revealed. */

import { h, put, say } from "../dom.js";
import { latitude, longitude, metres, withUnit, within } from "../format.js";

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
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "estimate-title" },
    h("h2", { id: "estimate-title" }, "Estimate"),
    place,
    table,
  );

  const update = () => {
    const { snapshot, facts } = mission;
    element.hidden = !snapshot;
    if (!snapshot) return;
    const { names, mean, low, high } = snapshot.estimate;
    const truth = mission.isLive ? facts.truth?.theta : null;
    truthHead.hidden = !truth;
    say(place, placeWords(snapshot, facts, map.globe));
    put(
      body,
      names.map((name, index) => rowOf(mission, index, name, mean, low, high, truth)),
    );
  };
  return { element, update };
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
  const unit = known?.unit ?? mission.snapshot.estimate.units[index];
  const interval = h(
    "td",
    { class: "interval" },
    `${within(low[index], low[index], high[index])} to ${within(high[index], low[index], high[index])}`,
    bracket(mission, index, low[index], high[index]),
  );
  return h(
    "tr",
    {},
    h("th", { scope: "row", title: known?.label ?? name }, short(known?.label ?? name)),
    h("td", { class: "mean" }, withUnit(within(mean[index], low[index], high[index]), unit)),
    interval,
    truth
      ? h("td", { class: "truth" }, name in truth ? within(truth[name], low[index], high[index]) : "")
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
