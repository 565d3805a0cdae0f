/** The map on which a site is drawn. */

import { Globe } from "./globe.js";
import { drawSite } from "./layers.js";
import { drawAim, drawStart } from "./marks.js";
import { boxOf, Plan } from "./plan.js";
import { POLYGONS, Sketch } from "./sketch.js";

const ALL = { fence: true, obstacles: true };

export class SiteMap extends Plan {
  /** `drawn` is called after each drawing; the rest is for `Sketch`. */
  constructor({ drawn, ...sketch }) {
    super(
      "Map of the site. Arrow keys move it, plus and minus zoom, 0 shows all. Enter acts at the middle: it adds or " +
        "chooses a corner. Shift and an arrow move the chosen corner, Delete deletes it, Ctrl Z takes back.",
      {},
    );
    this.drawn = drawn;
    this.sketch = new Sketch(this, sketch);
    this.tool = this.sketch;
  }

  /** Measuring takes taps for a while; then they draw again. */
  use(tool) {
    super.use(tool ?? this.sketch);
  }

  /** Show the shapes of a site; `picture` are the corners of an uploaded one that says them itself [degrees]. */
  take(shapes, picture, isOld = false) {
    const isFirst = !this.sketch.shapes;
    const { origin } = shapes;
    this.globe = origin ? new Globe(origin) : null;
    this.show.degrees &&= Boolean(this.globe);
    this.sketch.take(shapes, isOld);
    this.picture.place(this._cornersOf(shapes.map?.corners, picture));
    if (isFirst || !this.touched) this.fitArea();
  }

  _cornersOf(corners, degrees) {
    const four = corners ?? (this.globe ? degrees?.map((place) => this.globe.toMetres(...place)) : null);
    if (!four) return null;
    if (four.length === 4) return [four[0], four[1], four[3]];
    const [[west, south], [east, north]] = four;
    return [
      [west, north],
      [east, north],
      [west, south],
    ];
  }

  _area() {
    return this.sketch.shapes?.area;
  }

  _box() {
    const { shapes } = this.sketch;
    return shapes && boxOf([...shapes.area, ...POLYGONS.flatMap((list) => shapes[list].flatMap((one) => one.corners))]);
  }

  _drawOn(pen, palette) {
    const { camera, sketch } = this;
    const rings = Object.fromEntries(
      ["geofence", "no_go"].map((list) => [list, sketch.shapes[list].map(({ corners }) => corners)]),
    );
    const obstacles = sketch.shapes.obstacle.map(({ corners }) => corners).filter((ring) => ring.length > 2);
    drawSite(pen, camera, palette, { area: sketch.shapes.area, ...rings, obstacles }, ALL);
    if (sketch.shapes.start) drawStart(pen, camera, palette, sketch.shapes.start);
    if (!sketch.mode && !this.measure.isOn) this._drawHandles(pen, palette);
    if (sketch.mode) this._drawUnfinished(pen, palette);
    if (document.activeElement === this.canvas && this.canvas.matches(":focus-visible"))
      drawAim(pen, camera, palette);
    this.drawn(this);
  }

  _drawTexts() {}

  _drawHandles(pen, palette) {
    const { chosen } = this.sketch;
    for (const handle of this.sketch.handles()) {
      const isShape = handle.list === chosen?.list && handle.index === chosen?.index;
      // Middles only of the polygon that is chosen: with all of them, little else would be seen.
      if (handle.isMiddle && !isShape) continue;
      const isChosen = isShape && handle.corner === chosen.corner && !handle.isMiddle;
      const [x, y] = this.camera.toScreen(handle.place);
      pen.beginPath();
      pen.arc(x, y, handle.isMiddle ? 3.5 : isChosen ? 7.5 : 5.5, 0, 2 * Math.PI);
      pen.fillStyle = isChosen ? palette.pick : palette.halo;
      pen.fill();
      pen.strokeStyle = isShape ? palette.pick : palette.ink;
      pen.lineWidth = 2;
      pen.stroke();
    }
  }

  _drawUnfinished(pen, palette) {
    const points = this.sketch.corners.map((corner) => this.camera.toScreen(corner));
    pen.beginPath();
    points.forEach((point, index) => (index === 0 ? pen.moveTo(...point) : pen.lineTo(...point)));
    pen.strokeStyle = palette.pick;
    pen.lineWidth = 2;
    pen.stroke();
    points.forEach(([x, y], index) => {
      pen.beginPath();
      pen.arc(x, y, index === 0 ? 7 : 5, 0, 2 * Math.PI);
      pen.fillStyle = index === 0 ? palette.halo : palette.pick;
      pen.fill();
      pen.stroke();
    });
  }
}
