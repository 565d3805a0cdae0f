/** The drawing board: the map of a site with its buttons, and words about what is drawn. */

import { h, icon, say } from "../dom.js";
import { buildScale, placeTools, viewTools } from "../map/controls.js";
import { areaOf, areaWords } from "../map/measure.js";
import { SiteMap } from "../map/site_map.js";

const MODES = [
  ["area", "Area", "Tap two opposite corners of the area in which the source lies."],
  ["start", "Start", "Tap where the search starts."],
  ["geofence", "Fence", "Tap the corners of where the sensor may be; the first one again ends it."],
  ["no_go", "No-go zone", "Tap the corners of where the sensor may not be; the first one again ends it."],
  ["obstacle", "Obstacle", "Tap the corners of what stands in the way; the first one again ends it."],
];
const NAMES = { area: "Area", start: "Start", geofence: "Fence", no_go: "No-go zone", obstacle: "Obstacle" };
const IDLE = "Drag a corner to move it. Choose something to draw it.";

/** `changed` is called with the shapes after each change, `undo` to take the last one back. */
export function buildBoard({ changed, undo }) {
  const scale = buildScale();
  const map = new SiteMap({
    changed: () => changed(map.sketch.shapes),
    told: () => update(),
    undo,
    drawn: () => scale.update(map.camera),
  });
  const { sketch } = map;
  const words = h("p", { class: "board-words", role: "status" });
  const button = (text, act, properties = {}) =>
    h("button", { type: "button", class: "small", ...properties, on: { click: act } }, text);
  const modes = MODES.map(([mode, text]) =>
    button(text, () => sketch.draw(sketch.mode === mode ? null : mode), { "data-mode": mode, "aria-pressed": "false" }),
  );
  const finish = button("Finish", () => sketch.finish());
  const removeCorner = button("Delete corner", () => sketch.remove());
  const removeShape = button("Delete shape", () => sketch.remove(true));
  const back = button([icon("undo"), "Undo"], () => sketch.undo());
  const name = h("input", { type: "text", maxlength: "60", class: "small", "aria-label": "Name of the shape", placeholder: "name" });
  name.addEventListener("change", () => {
    const { list, index } = sketch.chosen ?? {};
    if (!sketch.shapes[list]?.[index]) return;
    sketch.shapes[list][index].name = name.value.trim();
    changed(sketch.shapes);
  });
  map.element.append(h("div", { class: "map-tools" }, ...viewTools(map), ...placeTools(map)));

  const update = () => {
    const { mode, chosen, shapes } = sketch;
    for (const one of modes) one.setAttribute("aria-pressed", String(one.dataset.mode === mode));
    const polygon = shapes?.[chosen?.list]?.[chosen?.index];
    finish.hidden = !mode || mode === "start" || mode === "area";
    finish.disabled = sketch.corners.length < 3;
    removeCorner.hidden = !(polygon && chosen.corner !== null) && chosen?.list !== "start";
    say(removeCorner, chosen?.list === "start" ? "Delete start" : "Delete corner");
    removeShape.hidden = !polygon;
    name.hidden = !polygon;
    if (polygon && document.activeElement !== name) name.value = polygon.name;
    say(words, wordsOf(mode, chosen, polygon));
  };
  update();
  const bar = h("div", { class: "board-bar", role: "group", "aria-label": "Draw the site" }, modes, back);
  const more = h("div", { class: "board-bar" }, finish, name, removeCorner, removeShape);
  const foot = h("div", { class: "board-foot" }, scale.element, words);
  const element = h("div", { class: "board" }, bar, map.element, foot, more);
  return { element, map, sketch };
}

function wordsOf(mode, chosen, polygon) {
  if (mode) return MODES.find(([one]) => one === mode)[2];
  if (!chosen) return IDLE;
  if (!polygon) return `${NAMES[chosen.list]}: drag it, or move it with Shift and the arrow keys.`;
  const size = `${polygon.corners.length} corners, ${areaWords(areaOf(polygon.corners))}`;
  return `${NAMES[chosen.list]}${polygon.name ? ` ${polygon.name}` : ""}: ${size}.`;
}
