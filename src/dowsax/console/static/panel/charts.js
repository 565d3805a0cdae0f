/** Small charts over the readings. A click or a drag on one shows that reading. */

import { h, s, say } from "../dom.js";
import { number, withUnit } from "../format.js";
import { scaleOf } from "../map/colours.js";

const WIDTH = 300;
const HEIGHT = 64;
const PAD = 4;

const SERIES = [
  {
    title: "Credible radius, 95 %",
    of: (snapshot) => snapshot.radius,
    unit: () => "m",
    log: true,
    goal: (facts) => facts.radius,
  },
  { title: "Spread of the position", of: (snapshot) => snapshot.spread, unit: () => "m", log: true },
  { title: "Effective sample size", of: (snapshot) => snapshot.ess, unit: () => "", log: false, from: 0 },
  { title: "Reading", of: (snapshot) => snapshot.reading?.value ?? Number.NaN, unit: (facts) => facts.unit, log: null },
];

export function buildCharts(mission) {
  const charts = SERIES.map((series) => buildChart(mission, series));
  const element = h(
    "section",
    { class: "card charts", "aria-labelledby": "charts-title" },
    h("h2", { id: "charts-title" }, "Over time"),
    charts.map((chart) => chart.element),
  );
  const update = () => {
    element.hidden = mission.count === 0;
    if (mission.count > 0) for (const chart of charts) chart.update();
  };
  return { element, update };
}

function buildChart(mission, series) {
  const line = s("path", { class: "line", fill: "none" });
  const area = s("path", { class: "area" });
  const goal = s("line", { class: "goal", x1: 0, x2: WIDTH });
  const cursor = s("line", { class: "cursor", y1: 0, y2: HEIGHT });
  const picture = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
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

  const point = (event) => {
    const box = picture.getBoundingClientRect();
    mission.select(1 + Math.round(((event.clientX - box.left) / box.width) * (mission.count - 1)));
  };
  plot.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse") plot.setPointerCapture(event.pointerId);
    point(event);
  });
  plot.addEventListener("pointermove", (event) => {
    if (event.buttons === 1 && event.pointerType === "mouse") point(event);
  });

  const update = () => {
    const { facts, snapshots, shown, count } = mission;
    const values = Array.from(snapshots, (snapshot) => (snapshot ? series.of(snapshot) : Number.NaN));
    const level = levels(series, values, facts);
    const x = (index) => (count === 1 ? WIDTH / 2 : (WIDTH * index) / (count - 1));
    const path = pathOf(values, x, level.y);
    line.setAttribute("d", path);
    area.setAttribute("d", path ? `${path} L${x(count - 1)} ${HEIGHT} L${x(0)} ${HEIGHT}Z` : "");
    const goalValue = series.goal?.(facts);
    goal.setAttribute("visibility", goalValue ? "visible" : "hidden");
    if (goalValue) setLine(goal, "y", level.y(goalValue));
    setLine(cursor, "x", x(shown - 1));
    cursor.setAttribute("visibility", mission.isLive ? "hidden" : "visible");
    dot.style.left = `${(100 * x(shown - 1)) / WIDTH}%`;
    dot.style.top = `${(100 * level.y(values[shown - 1])) / HEIGHT}%`;
    dot.hidden = !Number.isFinite(values[shown - 1]);
    const unit = series.unit(facts);
    say(value, withUnit(number(values[shown - 1]), unit));
    say(top, number(level.high, 2));
    say(bottom, number(level.low, 2));
    const now = `${number(values[shown - 1])} ${unit} at step ${shown}`;
    picture.setAttribute("aria-label", `${series.title}: ${now}, ${number(values[0])} at the first`);
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
function pathOf(values, x, y) {
  let path = "";
  let pen = "M";
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      pen = "M";
      return;
    }
    path += `${pen}${x(index).toFixed(2)} ${y(value).toFixed(2)} `;
    pen = "L";
  });
  return path.trim();
}
