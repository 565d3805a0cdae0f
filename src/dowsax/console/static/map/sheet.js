/** A layer that takes long to draw, kept as a picture of the view and of what is about it: panning moves that. */

import { Camera } from "./camera.js";

/** Pixels a point, at most: more would take longer, and are not seen. */
const MOST = 2;
/** Room on each side of the view, as a share of it. */
const MARGIN = 0.25;

export class Sheet {
  /** `paint(pen, camera, ratio)` draws the layer on a canvas that is empty; `ratio` is pixels a point. */
  constructor(paint) {
    this.paint = paint;
    this.canvas = document.createElement("canvas");
    this.camera = new Camera();
    this.key = null;
  }

  /** Draw the layer; it is painted again where the scale or anything of the key has changed. */
  draw(pen, camera, screenRatio, key) {
    const ratio = Math.min(screenRatio, MOST);
    const now = [...key, camera.scale, camera.width, camera.height, ratio];
    const isSame = this.key?.length === now.length && now.every((part, index) => part === this.key[index]);
    if (!isSame || !this._covers(camera)) this._paint(camera, ratio, now);
    const place = this.camera.toMetres([0, 0]);
    // On whole pixels, so that it stays sharp.
    const [x, y] = camera.toScreen(place).map((value) => Math.round(value * screenRatio) / screenRatio);
    pen.drawImage(this.canvas, x, y, this.canvas.width / ratio, this.canvas.height / ratio);
  }

  _covers(camera) {
    const [view, own] = [camera.view, this.camera.view];
    return (
      own.west <= view.west && view.east <= own.east && own.south <= view.south && view.north <= own.north
    );
  }

  _paint(camera, ratio, key) {
    this.key = key;
    const size = [camera.width, camera.height].map((side) => Math.ceil((1 + 2 * MARGIN) * side));
    this.camera.resize(...size);
    this.camera.centre = camera.centre;
    this.camera.scale = camera.scale;
    // Setting a size empties a canvas.
    [this.canvas.width, this.canvas.height] = size.map((side) => Math.round(side * ratio));
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint(pen, this.camera, ratio, ...key);
  }
}
