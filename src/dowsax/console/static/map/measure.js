/** The measuring tool: lengths, bearings and the area between points that are tapped on the map. */

import { h, icon, say } from "../dom.js";
import { degrees, metres, number } from "../format.js";
import { unitOf } from "../units.js";

const FONT = "600 12px Inter, system-ui, sans-serif";

/** Length [m] and bearing [degrees clockwise from north] from one place to another. */
export function wayBetween([x1, y1], [x2, y2]) {
  const [east, north] = [x2 - x1, y2 - y1];
  const bearing = (Math.atan2(east, north) * 180) / Math.PI;
  return { length: Math.hypot(east, north), bearing: (bearing + 360) % 360 };
}

/** [m²], of a polygon; where its border crosses itself, as the formula has it. */
export function areaOf(places) {
  const twice = places.reduce((sum, [x, y], index) => {
    const [nextX, nextY] = places[(index + 1) % places.length];
    return sum + x * nextY - nextX * y;
  }, 0);
  return Math.abs(twice) / 2;
}

export class Measure {
  constructor(map) {
    this.map = map;
    this.places = [];
    this.words = h("output", {});
    const button = (text, act) => h("button", { type: "button", class: "quiet", on: { click: act } }, text);
    this.element = h(
      "div",
      { class: "measure", hidden: true, role: "group", "aria-label": "Measure" },
      this.words,
      button("Undo", () => this.undo()),
      button("Clear", () => this._set([])),
      h(
        "button",
        { type: "button", class: "quiet", "aria-label": "End measuring", on: { click: () => this.toggle(false) } },
        icon("failed"),
      ),
    );
  }

  get isOn() {
    return this.map.tool === this;
  }

  toggle(on = !this.isOn) {
    this.map.use(on ? this : null);
  }

  /** Called by the map when the tool is taken up or put down. */
  switched(on) {
    this.element.hidden = !on;
    this.onSwitch?.(on);
    this._set([]);
  }

  tap(place) {
    this._set([...this.places, place]);
  }

  undo() {
    this._set(this.places.slice(0, -1));
  }

  key(event) {
    if (event.key === "Escape") this.toggle(false);
    else if (event.key === "Backspace" || event.key === "Delete") this.undo();
    else return false;
    return true;
  }

  draw(pen, camera, palette, labels) {
    if (!this.isOn || this.places.length === 0) return;
    const points = this.places.map((place) => camera.toScreen(place));
    pen.beginPath();
    points.forEach((point, index) => (index === 0 ? pen.moveTo(...point) : pen.lineTo(...point)));
    pen.lineJoin = "round";
    for (const [colour, width] of [
      [palette.halo, 5],
      [palette.pick, 2],
    ]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.stroke();
    }
    for (const [x, y] of points) {
      pen.beginPath();
      pen.arc(x, y, 4, 0, 2 * Math.PI);
      pen.fillStyle = palette.pick;
      pen.fill();
      pen.strokeStyle = palette.halo;
      pen.lineWidth = 1.5;
      pen.stroke();
    }
    for (let leg = 1; leg < points.length; leg++) this._label(pen, palette, labels, points, leg);
  }

  _label(pen, palette, labels, points, leg) {
    const { length, bearing } = wayBetween(this.places[leg - 1], this.places[leg]);
    const text = `${metres(length)}  ${degrees(bearing)}`;
    pen.font = FONT;
    const width = pen.measureText(text).width + 12;
    const [x, y] = [0, 1].map((axis) => (points[leg - 1][axis] + points[leg][axis]) / 2);
    const [across, down] = labels.take(
      [width, 20],
      [
        [x, y - 14],
        [x, y + 14],
        [x + width / 2 + 6, y],
        [x - width / 2 - 6, y],
      ],
    );
    pen.beginPath();
    pen.roundRect(across - width / 2, down - 10, width, 20, 10);
    pen.fillStyle = palette.pick;
    pen.fill();
    pen.fillStyle = palette.halo;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(text, across, down + 0.5);
  }

  _set(places) {
    this.places = places;
    say(this.words, this._describe());
    this.map.redraw();
  }

  _describe() {
    const { places } = this;
    if (places.length < 2) return "Measure: tap two or more points.";
    const ways = places.slice(1).map((place, index) => wayBetween(places[index], place));
    const last = ways.at(-1);
    const total = ways.reduce((sum, { length }) => sum + length, 0);
    const words = [`${metres(last.length)} towards ${degrees(last.bearing)}`];
    if (places.length > 2) words.push(`${metres(total)} in all`, `area ${areaWords(areaOf(places))}`);
    return words.join(" · ");
  }
}

/** An area [m²] in the unit chosen for lengths. */
export function areaWords(area) {
  const { name, size } = unitOf("length");
  if (name !== "m") return `${number(area / size ** 2)} ${name}²`;
  return area >= 1e5 ? `${number(area / 1e4)} ha` : `${number(area)} m²`;
}
