/** Lines of equal east and north, in metres or degrees, with their labels; and the scale bar. */

import { latitude, longitude, metres } from "../format.js";
import { unitOf } from "../units.js";
import { evenTicks, roundStep } from "./colours.js";

/** [points] between lines, at least. */
const SPACE = 90;
const FONT = "11px Inter, system-ui, sans-serif";
/** [points], of a line of it. */
const HEIGHT = 14;

/** The lines of one axis: where they are [points], and what they say. */
function lines(camera, globe) {
  const { west, south, east, north } = camera.view;
  if (!globe) {
    // Round in the unit in which they are shown.
    const { size } = unitOf("length");
    const step = roundStep(SPACE / camera.scale / size) * size;
    const ticks = (low, high) =>
      evenTicks(low / size, high / size, (high - low) / step).map((value) => value * size);
    const text = (value) =>
      metres(Math.abs(value) < step / 2 ? 0 : Number(value.toPrecision(9)), 1 + digits(value, step));
    return {
      upright: ticks(west, east).map((value) => [camera.toScreen([value, 0])[0], text(value)]),
      level: ticks(south, north).map((value) => [camera.toScreen([0, value])[1], text(value)]),
    };
  }
  const [low, high] = [globe.toDegrees([west, south]), globe.toDegrees([east, north])];
  const [middleLat, middleLon] = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
  const perPoint = (high[0] - low[0]) / camera.height;
  const step = roundStep(SPACE * perPoint);
  // Degrees of longitude are shorter: their lines may stand as far apart as those of latitude.
  const across = roundStep((SPACE * 1.3 * (high[1] - low[1])) / camera.width);
  const decimals = (value) => Math.max(0, Math.ceil(-Math.log10(value) - 1e-9));
  return {
    upright: evenTicks(low[1], high[1], (high[1] - low[1]) / across).map((value) => [
      camera.toScreen(globe.toMetres(middleLat, value))[0],
      longitude(value, decimals(across)),
    ]),
    level: evenTicks(low[0], high[0], (high[0] - low[0]) / step).map((value) => [
      camera.toScreen(globe.toMetres(value, middleLon))[1],
      latitude(value, decimals(step)),
    ]),
  };
}

/** Figures needed to tell neighbours apart. */
function digits(value, step) {
  return value === 0
    ? 0
    : Math.max(0, Math.floor(Math.log10(Math.abs(value)) + 1e-9) - Math.floor(Math.log10(step) + 1e-9));
}

export function drawGraticule(pen, camera, palette, globe) {
  const { upright, level } = lines(camera, globe);
  pen.lineWidth = 1;
  pen.strokeStyle = palette.line;
  pen.beginPath();
  for (const [x] of upright) {
    pen.moveTo(Math.round(x) + 0.5, 0);
    pen.lineTo(Math.round(x) + 0.5, camera.height);
  }
  for (const [y] of level) {
    pen.moveTo(0, Math.round(y) + 0.5);
    pen.lineTo(camera.width, Math.round(y) + 0.5);
  }
  pen.stroke();
}

/** The labels come last, so that nothing lies over them; those for which there is no room are left out. */
export function drawLabels(pen, camera, palette, labels, globe) {
  const { upright, level } = lines(camera, globe);
  pen.font = FONT;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const write = (text, centreOf) => {
    const { width } = pen.measureText(text);
    const centre = labels.takeOnly([width, HEIGHT], centreOf(width));
    if (centre) haloed(pen, palette, text, ...centre);
  };
  for (const [x, text] of upright) write(text, () => [x, 12]);
  for (const [y, text] of level) write(text, (width) => [8 + width / 2, y]);
}

export function haloed(pen, palette, text, x, y, colour = palette.label) {
  pen.lineJoin = "round";
  pen.lineWidth = 3;
  pen.strokeStyle = palette.halo;
  pen.strokeText(text, x, y);
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}

/** A round length of about a hundred points: {width [points], text}. */
export function scaleBar(camera) {
  const { size } = unitOf("length");
  const length = roundStep(60 / camera.scale / size) * size;
  return { width: length * camera.scale, text: metres(length, 1) };
}
