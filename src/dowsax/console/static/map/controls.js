/** The controls on the map: zoom, layers, legend, scale bar. */

import { h, icon, put } from "../dom.js";
import { number, withUnit, within } from "../format.js";
import { css, ramp } from "./colours.js";
import { scaleBar } from "./graticule.js";

const LAYERS = [
  ["field", "Expected field"],
  ["density", "Density of the source"],
  ["regions", "50 and 95 % regions"],
  ["particles", "Particles"],
  ["path", "Path"],
  ["grid", "Grid"],
];
const STOPS = 12;
/** [points] between ticks of the bar of colours, at least. */
const SPACE = 4;

export function buildControls(map) {
  const button = (name, label, act) =>
    h(
      "button",
      { type: "button", class: "tool", "aria-label": label, title: label, on: { click: act } },
      icon(name),
    );
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

  const choices = map.globe ? [...LAYERS, ["degrees", "Degrees, not metres"]] : LAYERS;
  for (const [name, text] of choices) {
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
    button("plus", "Zoom in", () => map.zoom(1.5)),
    button("minus", "Zoom out", () => map.zoom(1 / 1.5)),
    button("fit", "Show the whole area", () => {
      map.touched = false;
      map.fitArea();
    }),
    button("belief", "Zoom to the belief", () => {
      map.touched = true;
      map.fitBelief();
    }),
    opener,
    list,
  );
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
  const ruler = h("span", { class: "ruler" });
  const length = h("span", { class: "ruler-text" });
  const scale = h("div", { class: "scale" }, length, ruler);
  const element = h("div", { class: "legend", "aria-hidden": "true" }, scale, values, marks);
  let before = "";

  const update = (map, look) => {
    const { width, text } = scaleBar(map.camera);
    ruler.style.width = `${width}px`;
    length.textContent = text;
    dense.hidden = !map.show.density;
    obstacle.hidden = !map.mission.facts.obstacles?.length;
    wall.hidden = !map.walls?.length;
    nameSearchers(marks, map.mission.facts.searchers ?? []);
    values.hidden = !map.scale;
    if (!map.scale) return;
    const { low, high, isLog, share } = map.scale;
    const { unit } = map.mission.facts;
    const now = [low, high, isLog, look, unit].join();
    if (now === before) return;
    before = now;
    title.textContent = withUnit("reading", unit ? `[${unit}]` : "");
    const stops = Array.from({ length: STOPS }, (_, index) => css(ramp(index / (STOPS - 1), look)));
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    put(
      ticks,
      map.scale.ticks.map((value) => {
        const tick = h("span", {}, tickWords(map.scale, value));
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

function tickWords({ ticks, isLog }, value) {
  if (isLog || ticks.length < 2) return number(value, 1);
  return within(value, 0, 10 * (ticks[1] - ticks[0]));
}
