/** Where the phone itself is, with the circle of its accuracy; only while it is asked for. */

import { notice } from "../dom.js";
import { metres } from "../format.js";

const OPTIONS = { enableHighAccuracy: true, maximumAge: 2000, timeout: 30000 };
const REASONS = {
  1: "The position was refused: allow this page to know it in the settings of the browser, then try again.",
  2: "The device does not know its position: go into the open, or switch its location on.",
  3: "The device found no position in time: go into the open, and try again.",
};
const NO_ORIGIN = "The site has metres alone: give its `origin` in [area], and the map knows where you are.";
const NOT_SECURE =
  "Browsers tell a position only to pages over HTTPS or on the device itself: open the console through a proxy with " +
  "TLS, or type positions.";

function hindrance() {
  if (!window.isSecureContext) return NOT_SECURE;
  return navigator.geolocation ? "" : "This browser knows no positions: use another one, or type them.";
}

/** Ask once where the device is; `failed` gets the reason where it does not say. */
export function locate(found, failed) {
  const reason = hindrance();
  if (reason) failed(reason);
  else
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => found(coords),
      ({ code }) => failed(REASONS[code] ?? REASONS[2]),
      OPTIONS,
    );
}

export class OwnPlace {
  constructor(map) {
    this.map = map;
    this.place = null;
    this.watch = null;
  }

  get isOn() {
    return this.watch !== null;
  }

  toggle() {
    if (this.isOn) {
      this.stop();
      return;
    }
    const reason = this.map.globe ? hindrance() : NO_ORIGIN;
    if (reason) {
      notice(reason, "note");
      return;
    }
    this.watch = navigator.geolocation.watchPosition(
      ({ coords }) => this._take(coords),
      (error) => this._fail(error),
      OPTIONS,
    );
    this.onSwitch?.(true);
  }

  stop() {
    if (this.isOn) navigator.geolocation.clearWatch(this.watch);
    this.watch = null;
    this.place = null;
    this.onSwitch?.(false);
    this.map.redraw();
  }

  _take({ latitude, longitude, accuracy }) {
    const isFirst = this.place === null;
    this.place = this.map.globe.toMetres(latitude, longitude);
    this.accuracy = accuracy;
    if (isFirst && !this.map.camera.sees(this.place)) {
      notice(`You are ${metres(this._distance(), 2)} from the middle of the map.`, "note");
    }
    this.map.redraw();
  }

  _distance() {
    const { centre } = this.map.camera;
    return Math.hypot(this.place[0] - centre[0], this.place[1] - centre[1]);
  }

  _fail({ code }) {
    // Once it has a place, a fix that is late is no reason to end.
    if (this.place && code !== 1) return;
    this.stop();
    notice(REASONS[code] ?? REASONS[2], "note");
  }

  draw(pen, camera, palette) {
    if (!this.place) return;
    const [x, y] = camera.toScreen(this.place);
    const disc = (radius) => {
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
    };
    disc(Math.max(this.accuracy * camera.scale, 7));
    pen.globalAlpha = 0.18;
    pen.fillStyle = palette.own;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = palette.own;
    pen.lineWidth = 1;
    pen.stroke();
    disc(6);
    pen.fillStyle = palette.own;
    pen.fill();
    pen.strokeStyle = palette.halo;
    pen.lineWidth = 2;
    pen.stroke();
  }
}
