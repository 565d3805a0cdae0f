/** A canvas with a camera: ground, grid, picture of the site, and tools. What lies on it is up to its heirs. */

import { h, s } from "../dom.js";
import { latitude, longitude, metres } from "../format.js";
import { notice } from "../dom.js";
import { Camera } from "./camera.js";
import { PALETTES, theme } from "./colours.js";
import { bindGestures } from "./gestures.js";
import { drawGraticule, drawLabels } from "./graticule.js";
import { Labels } from "./labels.js";
import { drawGround } from "./layers.js";
import { Measure } from "./measure.js";
import { OwnPlace } from "./own_place.js";
import { BackPicture } from "./picture.js";

/** [points], as in map.css. */
const SHORT = 350;

export class Plan {
  constructor(label, show) {
    this.camera = new Camera();
    this.globe = null;
    this.show = { background: true, grid: true, degrees: false, ...show };
    this.touched = false;
    /** What takes taps instead of the map: it measures or draws. */
    this.tool = null;
    this.canvas = h("canvas", {
      class: "map-canvas",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "map",
      "aria-label": label,
    });
    this.place = h("output", { class: "place", "aria-hidden": "true" });
    this.measure = new Measure(this);
    this.own = new OwnPlace(this);
    this.picture = new BackPicture((error) => {
      if (error) notice(error.message);
      this.redraw();
    });
    this.element = h("div", { class: "map" }, this.canvas, this.place, northArrow(), this.measure.element);
    bindGestures(this);
    this._observer = new ResizeObserver(() => this._resize());
    this._observer.observe(this.element);
  }

  close() {
    this._observer.disconnect();
    this.own.stop();
  }

  redraw() {
    if (this._waiting) return;
    this._waiting = requestAnimationFrame(() => {
      this._waiting = null;
      this._draw();
    });
  }

  /** The person moved the map: it no longer moves by itself. */
  moved() {
    this.touched = true;
    this.redraw();
  }

  zoom(factor) {
    this.camera.zoom(factor);
    this.moved();
  }

  /** Show all of the site. */
  fitArea() {
    const box = this._box();
    if (!box) return;
    this.camera.fit(box, this._room());
    this.redraw();
  }

  /** Give taps to a tool; `null` gives them back to the map. */
  use(tool) {
    const before = this.tool;
    this.tool = tool;
    if (before !== tool) before?.switched(false);
    tool?.switched(true);
    this.redraw();
  }

  placeWords(position) {
    if (!this.show.degrees) return `${metres(position[0])} east, ${metres(position[1])} north`;
    const [lat, lon] = this.globe.toDegrees(position);
    return `${latitude(lat)}, ${longitude(lon)}`;
  }

  hover(point) {
    this.place.textContent = point ? this.placeWords(this.camera.toMetres(point)) : "";
    this.canvas.style.cursor = this.tool ? "crosshair" : "grab";
  }

  click(point, byKeyboard = false) {
    this.tool?.tap(this.camera.toMetres(point), point, byKeyboard);
  }

  _room() {
    const narrow = this.camera.width < 620;
    // The tools stand in two columns beside a map that is short.
    const right = this.camera.height <= SHORT ? 102 : 56;
    return narrow
      ? { top: 26, right, bottom: 14, left: 52 }
      : { top: 32, right: 68, bottom: 24, left: 68 };
  }

  _resize() {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || clientHeight === 0) return;
    const ratio = Math.min(devicePixelRatio || 1, 3);
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this._ratio = ratio;
    this._tools = this._toolBoxes();
    this.camera.resize(clientWidth, clientHeight);
    if (!this.touched) this.fitArea();
    // At once: a canvas is empty after a change of size.
    this._draw();
  }

  /** The boxes of what stands on the map [points]. */
  _toolBoxes() {
    const { left, top } = this.element.getBoundingClientRect();
    const boxes = [...this.element.querySelectorAll(".map-tools > .tool, .north")].map((tool) =>
      tool.getBoundingClientRect(),
    );
    return boxes.map((box) => [box.left - left, box.top - top, box.right - left, box.bottom - top]);
  }

  /** Draw everything; heirs say what by `_area`, `_drawOn` and `_drawTexts`. */
  _draw() {
    const area = this._area();
    if (!area || !this._ratio) return;
    const look = theme();
    const palette = PALETTES[look];
    const { camera, show } = this;
    const pen = this.canvas.getContext("2d");
    const globe = show.degrees ? this.globe : null;
    pen.setTransform(this._ratio, 0, 0, this._ratio, 0, 0);
    drawGround(pen, camera, palette, area);
    if (show.background) this.picture.draw(pen, camera, this._ratio);
    if (show.grid) drawGraticule(pen, camera, palette, globe);
    this._drawOn(pen, palette, look);
    this.own.draw(pen, camera, palette);
    const labels = new Labels(camera, this._tools);
    this.measure.draw(pen, camera, palette, labels);
    this._drawTexts(pen, palette, labels);
    if (show.grid) drawLabels(pen, camera, palette, labels, globe);
  }
}

function northArrow() {
  return h(
    "div",
    { class: "north", role: "img", "aria-label": "North is up" },
    s(
      "svg",
      { viewBox: "0 0 24 36", "aria-hidden": "true" },
      s("path", { d: "M12 2 L19 24 L12 19 L5 24 Z" }),
      s("text", { x: "12", y: "35", "text-anchor": "middle" }, "N"),
    ),
  );
}

export function boxOf(points) {
  const [easts, norths] = [points.map(([east]) => east), points.map(([, north]) => north)];
  return [
    [Math.min(...easts), Math.min(...norths)],
    [Math.max(...easts), Math.max(...norths)],
  ];
}
