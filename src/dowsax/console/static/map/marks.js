/** Single marks on the map: start, estimate, next place, truth, the place picked. */

import { degrees, number, shareWords, wayWords } from "../format.js";
import { inUnit, unitOf } from "../units.js";
import { haloed } from "./graticule.js";
import { nextPlaceOf } from "./places.js";

const FONT = "600 12px Inter, system-ui, sans-serif";
/** [points], of a line of it. */
const HEIGHT = 15;

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

/** The share of each of several places where the source may be, beside its mark. */
export function labelPieces(pen, camera, palette, labels, pieces) {
  for (const { centre, probability } of pieces) {
    if (!camera.sees(centre)) continue;
    const [x, y] = camera.toScreen(centre);
    drawText(pen, palette, labels, shareWords(probability), palette.belief, (width) => [
      [x + 17 + width / 2, y - 10],
      [x - 17 - width / 2, y - 10],
      [x, y - 24],
      [x, y + 24],
    ]);
  }
}

/** The disc in which the source is found. */
export function drawFound(pen, camera, palette, place, radius) {
  const [x, y] = camera.toScreen(place);
  pen.beginPath();
  pen.arc(x, y, Math.max(radius * camera.scale, 16), 0, 2 * Math.PI);
  outlined(pen, palette, palette.truth, 2.5);
}

/** The place 11 pixels from one place towards another, so that a line leaves room for a mark. */
function towards([x, y], [otherX, otherY]) {
  const share = 11 / Math.max(Math.hypot(otherX - x, otherY - y), 22);
  return [x + share * (otherX - x), y + share * (otherY - y)];
}

/** From here to there, around what is in the way; nobody goes to a path, which is a line. */
export function drawNext(pen, camera, palette, here, snapshot) {
  if (snapshot.next_far_end) {
    pen.beginPath();
    pen.moveTo(...camera.toScreen(snapshot.next));
    pen.lineTo(...camera.toScreen(snapshot.next_far_end));
    outlined(pen, palette, palette.go, 3);
    return;
  }
  const way = [here, ...(snapshot.next_way ?? []), snapshot.next].map((place) => camera.toScreen(place));
  const [x, y] = way.at(-1);
  if (way.length > 2 || Math.hypot(x - way[0][0], y - way[0][1]) > 26) {
    pen.beginPath();
    pen.setLineDash([6, 5]);
    pen.moveTo(...towards(way[0], way[1]));
    for (const corner of way.slice(1, -1)) pen.lineTo(...corner);
    pen.lineTo(...towards(way.at(-1), way.at(-2)));
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
}

/** How far the next place is and where to, on the side that one goes to; of a path, its name. */
export function labelNext(pen, camera, palette, labels, here, snapshot) {
  const [x, y] = camera.toScreen(nextPlaceOf(snapshot));
  const side = x < camera.toScreen(here)[0] - 4 ? -1 : 1;
  const text = snapshot.next_path ?? wayWords(snapshot, (bearing) => `  ${degrees(bearing)}`);
  pen.font = FONT;
  const width = pen.measureText(text).width + 16;
  const away = 16 + width / 2;
  const [across, down] = labels.take(
    [width, 22],
    [
      [x + side * away, y - 19],
      [x - side * away, y - 19],
      [x + side * away, y + 19],
      [x - side * away, y + 19],
    ],
  );
  pen.beginPath();
  pen.roundRect(across - width / 2, down - 11, width, 22, 11);
  pen.fillStyle = palette.go;
  pen.fill();
  pen.fillStyle = palette.goText;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(text, across, down + 0.5);
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
}

/** Above its star where there is room, so that no other mark is taken for it. */
export function labelTruth(pen, camera, palette, labels, place) {
  const [x, y] = camera.toScreen(place);
  drawText(pen, palette, labels, "truth", palette.truth, (width) => [
    [x, y - 18],
    [x, y + 18],
    [x + 15 + width / 2, y],
    [x - 15 - width / 2, y],
  ]);
}

/** A text at the first of these centres, by its width, that is free. */
function drawText(pen, palette, labels, text, colour, centresOf) {
  pen.font = FONT;
  const { width } = pen.measureText(text);
  const [x, y] = labels.take([width, HEIGHT], centresOf(width));
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  haloed(pen, palette, text, x, y, colour);
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
}

/** Have no label on the arrow of the wind. */
export function avoidWind(camera, labels, place, [east, north]) {
  const speed = Math.hypot(east, north);
  const [x, y] = camera.toScreen(place);
  if (speed > 0)
    for (let far = 14; far <= 50; far += 6)
      labels.avoid([x + (far * east) / speed, y - (far * north) / speed], 3);
}

/** The speed of the wind, beyond the tip of its arrow where there is room, else beside the reading. */
export function labelWind(pen, camera, palette, labels, place, [east, north]) {
  const speed = Math.hypot(east, north);
  if (!(speed > 0)) return;
  const [x, y] = camera.toScreen(place);
  const [across, down] = [east / speed, -north / speed];
  const text = `wind ${number(inUnit(speed, "speed"), 2)} ${unitOf("speed").name}`;
  drawText(pen, palette, labels, text, palette.wind, (width) => [
    [x + 58 * across + (Math.abs(across) > 0.3 ? (Math.sign(across) * width) / 2 : 0), y + 62 * down],
    ...[-1, 1].map((side) => [x + 32 * across, y + 32 * down + side * (14 + 20 * Math.abs(down))]),
    ...[-1, 1].map((side) => [x + side * (16 + width / 2), y - 18 * Math.sign(down || 1)]),
  ]);
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
