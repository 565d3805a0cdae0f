/** From metres to points of the screen and back. */

const CLOSEST = 4000;

export class Camera {
  constructor() {
    this.width = 1;
    this.height = 1;
    /** [m] */
    this.centre = [0, 0];
    /** Points of the screen a metre. */
    this.scale = 1;
  }

  resize(width, height) {
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
  }

  toScreen([east, north]) {
    return [
      this.width / 2 + (east - this.centre[0]) * this.scale,
      this.height / 2 - (north - this.centre[1]) * this.scale,
    ];
  }

  toMetres([x, y]) {
    return [
      this.centre[0] + (x - this.width / 2) / this.scale,
      this.centre[1] - (y - this.height / 2) / this.scale,
    ];
  }

  /** Whether a place [m] is on the screen. */
  sees(place) {
    const [x, y] = this.toScreen(place);
    return x >= 0 && x <= this.width && y >= 0 && y <= this.height;
  }

  /** The box that is seen [m]. */
  get view() {
    const [west, north] = this.toMetres([0, 0]);
    const [east, south] = this.toMetres([this.width, this.height]);
    return { west, south, east, north };
  }

  /** Show this box [m], with room for the tools about it [points]. */
  fit([[west, south], [east, north]], room = { top: 24, right: 24, bottom: 24, left: 24 }) {
    const across = Math.max(this.width - room.left - room.right, 40);
    const down = Math.max(this.height - room.top - room.bottom, 40);
    this.scale = this._bounded(
      Math.min(across / Math.max(east - west, 1e-3), down / Math.max(north - south, 1e-3)),
    );
    this.centre = [
      (west + east) / 2 + (room.right - room.left) / 2 / this.scale,
      (south + north) / 2 + (room.top - room.bottom) / 2 / this.scale,
    ];
  }

  pan(x, y) {
    this.centre = [this.centre[0] - x / this.scale, this.centre[1] + y / this.scale];
  }

  /** Come nearer by this factor; what is at this point of the screen stays there. */
  zoom(factor, at = [this.width / 2, this.height / 2]) {
    const before = this.toMetres(at);
    this.scale = this._bounded(this.scale * factor);
    const after = this.toMetres(at);
    this.centre = [this.centre[0] + before[0] - after[0], this.centre[1] + before[1] - after[1]];
  }

  _bounded(scale) {
    return Math.min(Math.max(scale, 1e-4), CLOSEST);
  }
}
