/** Small charts over the time of measurement; the first is shown, the others are folded. A click shows a reading. */

import { h, s, say } from "../dom.js";
import { number, withUnit } from "../format.js";
import { scaleOf } from "../map/colours.js";
import { inUnit, unitOf } from "../units.js";
import { areComparable, momentOf, momentWords } from "./moments.js";

const WIDTH = 300;
const HEIGHT = 64;
const PAD = 4;

const SERIES = [
  {
    title: "Credible radius, 95 %",
    of: (snapshot) => snapshot.radius,
    quantity: "length",
    log: true,
    goal: (facts) => facts.radius,
  },
  { title: "Reading", of: (snapshot) => snapshot.reading?.value ?? Number.NaN, quantity: "value", log: null, isOwn: true },
  { title: "Spread of the position", of: (snapshot) => snapshot.spread, quantity: "length", log: true },
  { title: "Effective sample size", of: (snapshot) => snapshot.ess, log: false, from: 0 },
];

export function buildCharts(mission) {
  const [first, ...others] = SERIES.map((series) => buildChart(mission, series));
  const span = h("p", { class: "chart-span hint" });
  const folded = h(
    "details",
    { class: "fold" },
    h("summary", {}, "More charts"),
    others.map((chart) => chart.element),
  );
  const element = h(
    "section",
    { class: "card charts", "aria-labelledby": "charts-title" },
    h("h2", { id: "charts-title" }, "Over time"),
    first.element,
    span,
    folded,
  );
  const update = () => {
    element.hidden = mission.count === 0;
    if (mission.count === 0) return;
    const line = timeline(mission);
    first.update(line);
    say(span, line.words);
    if (folded.open) for (const chart of others) chart.update(line);
  };
  folded.addEventListener("toggle", update);
  return { element, update };
}

/**
 * Where each step stands in time: a reading at the moment when it was taken, and a belief at the newest of the
 * readings behind it. Without comparable times, in the order of the steps.
 */
function timeline({ snapshots }) {
  const moments = Array.from(snapshots, (snapshot) => (snapshot?.reading ? momentOf(snapshot) : null));
  const known = moments.filter(Boolean);
  const times = known.map(({ at }) => at);
  const [low, high] = [Math.min(...times), Math.max(...times)];
  const inOrder = moments.map((_, index) => (moments.length === 1 ? 0.5 : index / (moments.length - 1)));
  // When readings that do not say their time were sent tells little: a survey is sent at once.
  if (!known.some(({ isGiven }) => isGiven) || !areComparable(known) || !(high > low))
    return { own: inOrder, newest: inOrder, words: "In the order of the steps." };
  let latest = low;
  const own = moments.map((moment) => {
    latest = Math.max(latest, moment?.at ?? latest);
    return ((moment?.at ?? latest) - low) / (high - low);
  });
  let reached = 0;
  const newest = own.map((share) => (reached = Math.max(reached, share)));
  const words = [low, high].map((at) => momentWords({ ...known[0], at })).join(" to ");
  return { own, newest, words: `Readings taken ${words}.` };
}

function buildChart(mission, series) {
  const line = s("path", { class: "line", fill: "none" });
  const area = s("path", { class: "area" });
  const goal = s("line", { class: "goal", x1: 0, x2: WIDTH });
  const cursor = s("line", { class: "cursor", y1: 0, y2: HEIGHT });
  const picture = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": series.title },
    area,
    goal,
    line,
    cursor,
  );
  const value = h("span", { class: "chart-value" });
  const dot = h("i", { class: "chart-dot" });
  const top = h("span", { class: "chart-top" });
  const bottom = h("span", { class: "chart-bottom" });
  const plot = h("div", { class: "plot" }, picture, dot, top, bottom);
  const element = h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, h("span", {}, series.title), value),
    plot,
  );
  let shares = [];

  const point = (event) => {
    const box = picture.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    let best = 0;
    shares.forEach((each, index) => {
      if (Math.abs(each - share) <= Math.abs(shares[best] - share)) best = index;
    });
    mission.select(best + 1);
  };
  plot.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse") plot.setPointerCapture(event.pointerId);
    point(event);
  });
  plot.addEventListener("pointermove", (event) => {
    if (event.buttons === 1 && event.pointerType === "mouse") point(event);
  });

  const update = (time) => {
    const { facts, snapshots, shown } = mission;
    shares = series.isOwn ? time.own : time.newest;
    const values = Array.from(snapshots, (snapshot) => (snapshot ? series.of(snapshot) : Number.NaN));
    const level = levels(series, values, facts);
    const points = values.map((each, index) => [WIDTH * shares[index], each]);
    // Late readings stand at their own time, between others.
    if (series.isOwn) points.sort(([one], [other]) => one - other);
    const path = pathOf(points, level.y);
    line.setAttribute("d", path);
    const ends = [points.at(-1)[0], points[0][0]];
    area.setAttribute("d", path ? `${path} L${ends[0]} ${HEIGHT} L${ends[1]} ${HEIGHT}Z` : "");
    const goalValue = series.goal?.(facts);
    goal.setAttribute("visibility", goalValue ? "visible" : "hidden");
    if (goalValue) setLine(goal, "y", level.y(goalValue));
    setLine(cursor, "x", WIDTH * shares[shown - 1]);
    cursor.setAttribute("visibility", mission.isLive ? "hidden" : "visible");
    dot.style.left = `${100 * shares[shown - 1]}%`;
    dot.style.top = `${(100 * level.y(values[shown - 1])) / HEIGHT}%`;
    dot.hidden = !Number.isFinite(values[shown - 1]);
    const unit = series.quantity ? unitOf(series.quantity).name : "";
    const words = (each, figures) => number(series.quantity ? inUnit(each, series.quantity) : each, figures);
    say(value, withUnit(words(values[shown - 1]), unit));
    say(top, words(level.high, 2));
    say(bottom, words(level.low, 2));
    const now = `${words(values[shown - 1])} ${unit} at step ${shown}`;
    picture.setAttribute("aria-label", `${series.title}: ${now}, ${words(values[0])} at the first`);
  };
  return { element, update };
}

function setLine(element, axis, value) {
  element.setAttribute(`${axis}1`, value);
  element.setAttribute(`${axis}2`, value);
}

/** From values to heights in the picture. */
function levels(series, values, facts) {
  const finite = values.filter(Number.isFinite);
  const goal = series.goal?.(facts);
  const isLog = series.log ?? scaleOf(finite)?.isLog ?? false;
  const usable = isLog ? finite.filter((value) => value > 0) : finite;
  let low = Math.min(series.from ?? Infinity, goal ?? Infinity, ...usable);
  let high = Math.max(goal ?? -Infinity, ...usable);
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  if (high <= low) [low, high] = isLog ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const share = isLog
    ? (value) => Math.log(Math.max(value, low) / low) / Math.log(high / low)
    : (value) => (value - low) / (high - low);
  return { low, high, y: (value) => HEIGHT - PAD - (HEIGHT - 2 * PAD) * share(value) };
}

/** Gaps stay gaps. */
function pathOf(points, y) {
  let path = "";
  let pen = "M";
  for (const [x, value] of points) {
    if (!Number.isFinite(value)) {
      pen = "M";
      continue;
    }
    path += `${pen}${x.toFixed(2)} ${y(value).toFixed(2)} `;
    pen = "L";
  }
  return path.trim();
}
