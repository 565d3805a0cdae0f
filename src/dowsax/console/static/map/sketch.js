/** Drawing a site: area, start and polygons, by taps, drags and keys. Every change is reported. */

import { distanceTo } from "./places.js";

/** [points] within which a corner is meant, of a mouse and of a finger. */
const REACH = { mouse: 10, pen: 14, touch: 24 };
/** [points] by which a key moves a corner. */
const NUDGE = 8;
export const POLYGONS = ["geofence", "no_go", "obstacle"];
const NUDGES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Sketch {
  /** `changed` is called after each change of the shapes, `told` after each of what is drawn or chosen. */
  constructor(map, { changed, told, undo }) {
    this.map = map;
    this.changed = changed;
    this.told = told;
    this.undoAll = undo;
    this.shapes = null;
    /** What is being drawn: `area`, `start`, one of POLYGONS, or `null`. */
    this.mode = null;
    /** Its corners so far [m]. */
    this.corners = [];
    /** What is chosen: {list, index, corner}. */
    this.chosen = null;
    this.held = null;
  }

  /** Show these shapes; only their numbers in the file are taken while a corner moves, or if they are `isOld`. */
  take(shapes, isOld) {
    if (!this.shapes || !(this.held || isOld)) {
      this.shapes = shapes;
    } else {
      for (const list of POLYGONS) {
        if (shapes[list].length !== this.shapes[list].length) continue;
        shapes[list].forEach(({ index }, at) => (this.shapes[list][at].index = index));
      }
    }
    if (this.chosen && !this._placeOf(this.chosen) && !this._polygonOf(this.chosen)) this.chosen = null;
    this._tell();
  }

  switched(on) {
    if (!on) this.draw(null);
  }

  /** Begin to draw; `null` ends it without a change. */
  draw(mode) {
    this.mode = mode;
    this.corners = [];
    this.chosen = null;
    this._tell();
  }

  tap(place, point) {
    if (this.mode) {
      this._add(place, point);
      return;
    }
    const near = this._nearest(point, REACH.touch);
    this.chosen = near && !near.isMiddle ? near : this._polygonAt(place);
    this._tell();
  }

  grab(point, pointerType) {
    if (this.mode || !this.shapes) return false;
    const near = this._nearest(point, REACH[pointerType] ?? REACH.mouse);
    if (!near) return false;
    this.held = { at: near, before: JSON.stringify(this.shapes) };
    if (near.isMiddle) {
      const polygon = this._polygonOf(near);
      polygon.corners.splice(near.corner + 1, 0, near.place);
      this.held.at = { list: near.list, index: near.index, corner: near.corner + 1 };
    }
    this.chosen = this.held.at;
    this._tell();
    return true;
  }

  drag(place) {
    this._move(this.held.at, place);
    this.map.redraw();
  }

  drop(hasMoved) {
    const { before } = this.held;
    this.held = null;
    if (hasMoved) this.changed();
    else this.shapes = JSON.parse(before);
    this._tell();
  }

  /** Take back the last corner of what is being drawn, or else the last change of the site. */
  undo() {
    if (this.mode && this.corners.length > 0) this.corners.pop();
    else if (this.mode) this.mode = null;
    else this.undoAll();
    this._tell();
  }

  /** End the polygon that is being drawn. */
  finish() {
    if (!POLYGONS.includes(this.mode) || this.corners.length < 3) return;
    const { mode, corners } = this;
    this.shapes[mode].push({ index: null, name: "", corners });
    this.mode = null;
    this.corners = [];
    this.chosen = { list: mode, index: this.shapes[mode].length - 1, corner: null };
    this.changed();
    this._tell();
  }

  /** Delete the corner that is chosen, or its polygon where that has only three or is chosen as a whole. */
  remove(isWhole = false) {
    if (this.mode) {
      this.undo();
      return;
    }
    if (this.chosen?.list === "start") this.shapes.start = null;
    const polygon = this._polygonOf(this.chosen);
    if (polygon && (isWhole || this.chosen.corner === null || polygon.corners.length <= 3)) {
      this.shapes[this.chosen.list].splice(this.chosen.index, 1);
    } else if (polygon) {
      polygon.corners.splice(this.chosen.corner, 1);
    } else if (this.chosen?.list !== "start") {
      return;
    }
    this.chosen = null;
    this.changed();
    this._tell();
  }

  key(event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") this.undo();
    else if (event.ctrlKey || event.metaKey || event.altKey) return false;
    else if (event.key === "Escape") this.draw(null);
    else if (event.key === "Delete" || event.key === "Backspace") this.remove();
    else if (event.shiftKey && NUDGES[event.key]) this._nudge(NUDGES[event.key]);
    else return false;
    return true;
  }

  _nudge([east, north]) {
    const place = this._placeOf(this.chosen);
    if (!place) return;
    const metres = NUDGE / this.map.camera.scale;
    this._move(this.chosen, [place[0] + east * metres, place[1] + north * metres]);
    this.changed();
    this._tell();
  }

  _add(place, point) {
    const { camera } = this.map;
    const isAt = (corner) => {
      const [x, y] = camera.toScreen(corner);
      return Math.hypot(x - point[0], y - point[1]) <= REACH.pen;
    };
    if (this.mode === "start") {
      this.shapes.start = place;
      this.mode = null;
      this.changed();
    } else if (this.mode === "area" && this.corners.length === 1) {
      this._setArea(this.corners[0], place);
      this.mode = null;
      this.corners = [];
      this.changed();
    } else if (this.corners.length >= 3 && (isAt(this.corners[0]) || isAt(this.corners.at(-1)))) {
      this.finish();
      return;
    } else {
      this.corners.push(place);
    }
    this._tell();
  }

  /** The places that can be moved: corners, the start, and the middles of sides, where a corner can be added. */
  handles() {
    const { area, start } = this.shapes;
    const [[west, south], [east, north]] = area;
    const corners = [[west, south], [east, south], [east, north], [west, north]];
    const found = corners.map((place, corner) => ({ list: "area", corner, place }));
    if (start) found.push({ list: "start", place: start });
    for (const list of POLYGONS) {
      this.shapes[list].forEach(({ corners: ring }, index) => {
        ring.forEach((place, corner) => {
          const next = ring[(corner + 1) % ring.length];
          found.push({ list, index, corner, place });
          const middle = [(place[0] + next[0]) / 2, (place[1] + next[1]) / 2];
          found.push({ list, index, corner, place: middle, isMiddle: true });
        });
      });
    }
    return found;
  }

  /** The handle nearest to a point of the screen; a corner goes before a middle. */
  _nearest(point, reach) {
    const away = ({ place, isMiddle }) => {
      const [x, y] = this.map.camera.toScreen(place);
      return Math.hypot(x - point[0], y - point[1]) + (isMiddle ? reach / 3 : 0);
    };
    // A corner can be added to the polygon that is chosen.
    const isMeant = ({ list, index, isMiddle }) =>
      !isMiddle || (list === this.chosen?.list && index === this.chosen.index);
    const near = this.handles().filter((handle) => isMeant(handle) && away(handle) <= reach);
    return near.sort((one, other) => away(one) - away(other))[0] ?? null;
  }

  /** The polygon that a place is in, the smallest of several: {list, index, corner: null}. */
  _polygonAt(place) {
    for (const list of ["obstacle", "no_go", "geofence"]) {
      const index = this.shapes[list].findIndex(({ corners }) => holds(corners, place));
      if (index >= 0) return { list, index, corner: null };
    }
    const reach = REACH.mouse / this.map.camera.scale;
    for (const list of POLYGONS) {
      const index = this.shapes[list].findIndex(({ corners }) =>
        corners.some((corner, at) => distanceTo([corner, corners[(at + 1) % corners.length]], place) <= reach),
      );
      if (index >= 0) return { list, index, corner: null };
    }
    return null;
  }

  _polygonOf(chosen) {
    return POLYGONS.includes(chosen?.list) ? this.shapes[chosen.list][chosen.index] : undefined;
  }

  _placeOf(chosen) {
    if (chosen?.list === "start") return this.shapes.start;
    if (chosen?.list === "area") return this.handles()[chosen.corner].place;
    return chosen?.corner === null ? undefined : this._polygonOf(chosen)?.corners[chosen?.corner];
  }

  _move({ list, index, corner }, place) {
    if (list === "start") this.shapes.start = place;
    else if (list === "area") this._setArea(place, this.handles()[(corner + 2) % 4].place);
    else this.shapes[list][index].corners[corner] = place;
  }

  _setArea(one, other) {
    this.shapes.area = [Math.min, Math.max].map((end) => [0, 1].map((axis) => end(one[axis], other[axis])));
  }

  _tell() {
    this.told();
    this.map.redraw();
  }
}

/** Whether a place is in a polygon, by the number of sides to its east. */
function holds(corners, [x, y]) {
  return corners.reduce((inside, [x1, y1], index) => {
    const [x2, y2] = corners[(index + 1) % corners.length];
    const crosses = y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1);
    return crosses ? !inside : inside;
  }, false);
}
