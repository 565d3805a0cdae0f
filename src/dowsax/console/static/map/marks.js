/** Single marks on the map: start, estimate, next place, truth, the place picked. */

import { degrees, metres, number } from "../format.js";
import { haloed } from "./graticule.js";

const FONT = "600 12px Inter, system-ui, sans-serif";

/** Stroke twice, with a halo below, so that a mark is seen on any ground. */
function outlined(pen, palette, colour, width) {
  pen.lineCap = "round";
  pen.lineJoin = "round";
  pen.strokeStyle = palette.halo;
  pen.lineWidth = width + 3;
  pen.stroke();
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.stroke();
}

export function drawStart(pen, camera, palette, place) {
  const [x, y] = camera.toScreen(place);
  pen.beginPath();
  pen.rect(x - 4.5, y - 4.5, 9, 9);
  pen.fillStyle = palette.halo;
  pen.fill();
  pen.strokeStyle = palette.path;
  pen.lineWidth = 1.75;
  pen.stroke();
}

/** The mean position: a cross with a gap in the middle, so that what is there is seen. */
export function drawEstimate(pen, camera, palette, place, isFound) {
  const [x, y] = camera.toScreen(place);
  // Within the disc of what was found it has to be small.
  const [gap, arm] = isFound ? [2.5, 8] : [4, 13];
  pen.beginPath();
  addCross(pen, x, y, gap, arm);
  outlined(pen, palette, palette.belief, isFound ? 2 : 2.5);
}

/** The disc in which the source is found. */
export function drawFound(pen, camera, palette, place, radius) {
  const [x, y] = camera.toScreen(place);
  pen.beginPath();
  pen.arc(x, y, Math.max(radius * camera.scale, 16), 0, 2 * Math.PI);
  outlined(pen, palette, palette.truth, 2.5);
}

/** From here to there, with bearing and distance. */
export function drawNext(pen, camera, palette, here, frame) {
  const [x, y] = camera.toScreen(frame.next);
  const [fromX, fromY] = camera.toScreen(here);
  const length = Math.hypot(x - fromX, y - fromY);
  if (length > 26) {
    const [dx, dy] = [(x - fromX) / length, (y - fromY) / length];
    pen.beginPath();
    pen.setLineDash([6, 5]);
    pen.moveTo(fromX + 11 * dx, fromY + 11 * dy);
    pen.lineTo(x - 11 * dx, y - 11 * dy);
    outlined(pen, palette, palette.go, 2);
    pen.setLineDash([]);
  }
  pen.beginPath();
  pen.arc(x, y, 9, 0, 2 * Math.PI);
  outlined(pen, palette, palette.go, 2.5);
  pen.beginPath();
  pen.arc(x, y, 2.5, 0, 2 * Math.PI);
  pen.fillStyle = palette.go;
  pen.fill();
  const text = `${metres(frame.distance, 2)}  ${degrees(frame.bearing)}`;
  drawPill(pen, palette, camera, text, x, y, x < fromX - 4);
}

/** On the side that one goes to, so that the path is seen. */
function drawPill(pen, palette, camera, text, x, y, toTheLeft) {
  pen.font = FONT;
  const width = pen.measureText(text).width + 16;
  const left = Math.min(Math.max(toTheLeft ? x - 16 - width : x + 16, 6), camera.width - width - 60);
  const top = Math.min(Math.max(y - 30, 6), camera.height - 30);
  pen.beginPath();
  pen.roundRect(left, top, width, 22, 11);
  pen.fillStyle = palette.go;
  pen.fill();
  pen.fillStyle = palette.goText;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.fillText(text, left + 8, top + 11.5);
}

export function drawTruth(pen, camera, palette, place) {
  const [x, y] = camera.toScreen(place);
  pen.beginPath();
  for (let corner = 0; corner < 10; corner++) {
    const radius = corner % 2 === 0 ? 9.5 : 4;
    const angle = (corner * Math.PI) / 5 - Math.PI / 2;
    pen.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  }
  pen.closePath();
  outlined(pen, palette, palette.truth, 1);
  pen.fillStyle = palette.truth;
  pen.fill();
  pen.font = FONT;
  // Above its star, so that no other mark is taken for it.
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  haloed(pen, palette, "truth", x, y - 18, palette.truth);
}

/** Where the air goes, at the newest reading. */
export function drawWind(pen, camera, palette, place, [east, north]) {
  const speed = Math.hypot(east, north);
  if (!(speed > 0)) return;
  const [x, y] = camera.toScreen(place);
  const angle = Math.atan2(-north, east);
  pen.save();
  pen.translate(x, y);
  pen.rotate(angle);
  pen.beginPath();
  pen.moveTo(14, 0);
  pen.lineTo(50, 0);
  pen.moveTo(42, -6);
  pen.lineTo(50, 0);
  pen.lineTo(42, 6);
  outlined(pen, palette, palette.wind, 2);
  pen.restore();
  pen.font = FONT;
  pen.textAlign = Math.cos(angle) < -0.3 ? "right" : Math.cos(angle) > 0.3 ? "left" : "center";
  pen.textBaseline = "middle";
  haloed(
    pen,
    palette,
    `wind ${number(speed, 2)} m/s`,
    x + 58 * Math.cos(angle),
    y + 62 * Math.sin(angle),
    palette.wind,
  );
}

/** The place picked for the next reading. */
export function drawPick(pen, camera, palette, place) {
  const [x, y] = camera.toScreen(place);
  pen.beginPath();
  pen.moveTo(x, y);
  pen.bezierCurveTo(x - 4, y - 9, x - 9, y - 12, x - 9, y - 19);
  pen.arc(x, y - 19, 9, Math.PI, 0);
  pen.bezierCurveTo(x + 9, y - 12, x + 4, y - 9, x, y);
  outlined(pen, palette, palette.halo, 1);
  pen.fillStyle = palette.pick;
  pen.fill();
  pen.beginPath();
  pen.arc(x, y - 19, 3.2, 0, 2 * Math.PI);
  pen.fillStyle = palette.halo;
  pen.fill();
}

/** The middle of the map, which Enter picks. */
export function drawAim(pen, camera, palette) {
  const [x, y] = [camera.width / 2, camera.height / 2];
  pen.beginPath();
  addCross(pen, x, y, 3, 9);
  outlined(pen, palette, palette.pick, 1.5);
}

/** Four arms around a gap, added to the path. */
function addCross(pen, x, y, gap, arm) {
  for (const [dx, dy] of [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ]) {
    pen.moveTo(x + gap * dx, y + gap * dy);
    pen.lineTo(x + arm * dx, y + arm * dy);
  }
}
