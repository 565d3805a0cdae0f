/** The controls on the map: zoom, layers, legend, scale bar. */

import { h, icon, put } from "../dom.js";
import { number, withUnit, within } from "../format.js";
import { unitOf } from "../units.js";
import { css, ramp } from "./colours.js";
import { scaleBar } from "./graticule.js";

const LAYERS = [
  ["field", "Expected field"],
  ["density", "Density of the source"],
  ["regions", "50 and 95 % regions"],
  ["particles", "Particles"],
  ["readings", "Readings"],
  ["path", "Path"],
];

/** The layers that a map has, with their names. */
function layersOf(map) {
  const facts = map.mission?.facts ?? {};
  const hasFence = facts.geofence?.length || facts.no_go?.length;
  return [
    ...(facts.picture ? [["background", "Picture of the site"]] : []),
    ...LAYERS,
    ...(facts.obstacles?.length || facts.range_limit ? [["obstacles", "Obstacles"]] : []),
    ...(hasFence ? [["fence", "Fence, no-go areas"]] : []),
    ["grid", "Grid"],
    ...(map.globe ? [["degrees", "Degrees, not metres"]] : []),
  ];
}
const STOPS = 12;
/** [points] between ticks of the bar of colours, at least. */
const SPACE = 4;

export function buildControls(map) {
  const list = h("div", {
    class: "popover",
    id: "layers",
    role: "group",
    "aria-label": "Layers",
    hidden: true,
  });
  const opener = button("layers", "Layers", () => toggle());
  opener.setAttribute("aria-expanded", "false");
  opener.setAttribute("aria-controls", "layers");

  const toggle = (open = list.hidden) => {
    list.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (open) list.querySelector("input")?.focus();
  };
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    toggle(false);
    opener.focus();
  });

  map.canvas.addEventListener("pointerdown", () => toggle(false));

  for (const [name, text] of layersOf(map)) {
    const box = h("input", { type: "checkbox", checked: map.show[name], name: `layer-${name}` });
    box.addEventListener("change", () => {
      map.show[name] = box.checked;
      map.redraw();
    });
    list.append(h("label", { class: "check" }, box, h("span", {}, text)));
  }

  return h(
    "div",
    { class: "map-tools" },
    ...viewTools(map),
    button("belief", "Zoom to the belief", () => {
      map.touched = true;
      map.fitBelief();
    }),
    opener,
    list,
    ...placeTools(map),
  );
}

function button(name, label, act) {
  return h(
    "button",
    { type: "button", class: "tool", "aria-label": label, title: label, on: { click: act } },
    icon(name),
  );
}

/** Nearer, farther, and all of it. */
export function viewTools(map) {
  return [
    button("plus", "Zoom in", () => map.zoom(1.5)),
    button("minus", "Zoom out", () => map.zoom(1 / 1.5)),
    button("fit", "Show the whole area", () => {
      map.touched = false;
      map.fitArea();
    }),
  ];
}

/** The measuring tool, and the place of the device. */
export function placeTools(map) {
  const switched = (name, label, tool) => {
    const one = button(name, label, () => tool.toggle());
    one.setAttribute("aria-pressed", "false");
    tool.onSwitch = (on) => one.setAttribute("aria-pressed", String(on));
    return one;
  };
  return [
    switched("ruler", "Measure lengths and areas", map.measure),
    switched("own", "Show where I am", map.own),
  ];
}

/** A bar of a round length; `update` after each drawing. */
export function buildScale() {
  const ruler = h("span", { class: "ruler" });
  const length = h("span", { class: "ruler-text" });
  const update = (camera) => {
    const { width, text } = scaleBar(camera);
    ruler.style.width = `${width}px`;
    length.textContent = text;
  };
  return { element: h("div", { class: "scale" }, length, ruler), update };
}

/** Colours of the values, kinds of marks, and the scale bar; `update` after each drawing. */
export function buildLegend() {
  const title = h("span", { class: "legend-title" });
  const bar = h("div", { class: "legend-bar" });
  const ticks = h("div", { class: "legend-ticks" });
  const values = h("div", { class: "legend-values" }, title, h("div", {}, bar, ticks));
  const dense = h("li", { hidden: true }, h("i", { class: "key dense" }), "more probable");
  const obstacle = h("li", { hidden: true }, h("i", { class: "key obstacle" }), "obstacle");
  const wall = h("li", { hidden: true }, h("i", { class: "key wall" }), "wall seen");
  const marks = h(
    "ul",
    { class: "legend-marks" },
    dense,
    obstacle,
    wall,
    h("li", {}, h("i", { class: "key region" }), "50 and 95 %"),
    h("li", {}, h("i", { class: "key cross" }), "estimate"),
    h("li", {}, h("i", { class: "key next" }), "next"),
  );
  const scale = buildScale();
  const element = h("div", { class: "legend", "aria-hidden": "true" }, scale.element, values, marks);
  let before = "";

  const update = (map, look) => {
    scale.update(map.camera);
    dense.hidden = !map.show.density;
    obstacle.hidden = !map.mission.facts.obstacles?.length;
    wall.hidden = !map.walls?.length;
    nameSearchers(marks, map.mission.facts.searchers ?? []);
    values.hidden = !map.scale;
    if (!map.scale) return;
    const { low, high, isLog, share } = map.scale;
    const { name: unit, size } = unitOf("value");
    const now = [low, high, isLog, look, unit].join();
    if (now === before) return;
    before = now;
    title.textContent = withUnit("reading", unit ? `[${unit}]` : "");
    const stops = Array.from({ length: STOPS }, (_, index) => css(ramp(index / (STOPS - 1), look)));
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    put(
      ticks,
      map.scale.ticks.map((value) => {
        const tick = h("span", {}, tickWords(map.scale, value, size));
        tick.style.left = `${100 * share(value)}%`;
        return tick;
      }),
    );
    leaveOutCovered(ticks);
  };
  return { element, update };
}

/** The colour of the way of each of several searchers, once. */
function nameSearchers(marks, searchers) {
  if (marks.querySelector(".key.way")) return;
  const keys = searchers.map(({ name, colour }) => {
    const key = h("i", { class: "key way" });
    key.style.background = colour;
    return h("li", {}, key, name);
  });
  marks.prepend(...keys);
}

/** Remove the ticks that overlap others; the first and the last stay. */
function leaveOutCovered(ticks) {
  const all = [...ticks.children];
  const ends = all.length > 1 ? [all[0], all[all.length - 1]] : all;
  const kept = ends.map((tick) => tick.getBoundingClientRect());
  for (const tick of all.slice(1, -1)) {
    const { left, right } = tick.getBoundingClientRect();
    if (kept.every((box) => right + SPACE <= box.left || box.right + SPACE <= left))
      kept.push({ left, right });
    else tick.remove();
  }
}

function tickWords({ ticks, isLog }, value, size) {
  if (isLog || ticks.length < 2) return number(value / size, 1);
  return within(value / size, 0, (10 * (ticks[1] - ticks[0])) / size);
}
