/** What lies on the map, from the ground up: the site, the field, the belief, the path. */

import { css, ramp } from "./colours.js";
import { placeOf } from "./places.js";

function trace(pen, camera, ring) {
  ring.forEach((corner, index) => {
    const [x, y] = camera.toScreen(corner);
    if (index === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  });
  pen.closePath();
}

export function drawGround(pen, camera, palette, area) {
  pen.fillStyle = palette.ground;
  pen.fillRect(0, 0, camera.width, camera.height);
  const [west, north] = camera.toScreen([area[0][0], area[1][1]]);
  const [east, south] = camera.toScreen([area[1][0], area[0][1]]);
  pen.fillStyle = palette.site;
  pen.fillRect(west, north, east - west, south - north);
}

/** The border of the area, and what `show` has of fence, obstacles and paths. */
export function drawSite(pen, camera, palette, site, show) {
  const [west, north] = camera.toScreen([site.area[0][0], site.area[1][1]]);
  const [east, south] = camera.toScreen([site.area[1][0], site.area[0][1]]);
  pen.lineWidth = 1.25;
  pen.strokeStyle = palette.border;
  pen.strokeRect(west, north, east - west, south - north);
  const fences = (show.fence ? (site.geofence ?? []) : []).filter((ring) => !isBox(ring, site.area));
  pen.setLineDash([7, 5]);
  pen.lineWidth = 1.75;
  pen.beginPath();
  for (const ring of fences) trace(pen, camera, ring);
  pen.stroke();
  pen.setLineDash([]);
  if (show.fence) for (const ring of site.no_go ?? []) drawForbidden(pen, camera, palette, ring);
  if (show.obstacles) for (const ring of site.obstacles ?? []) drawObstacle(pen, camera, palette, ring);
  pen.strokeStyle = palette.path;
  pen.lineWidth = 1;
  for (const { ends } of site.paths ?? []) strokeLine(pen, camera, ends);
}

function strokeLine(pen, camera, ends) {
  pen.beginPath();
  pen.moveTo(...camera.toScreen(ends[0]));
  pen.lineTo(...camera.toScreen(ends[1]));
  pen.stroke();
}

/** Whether a fence is the border of the area itself, which is drawn already. */
function isBox(ring, [low, high]) {
  const onCorner = ([east, north]) => [low[0], high[0]].includes(east) && [low[1], high[1]].includes(north);
  return ring.every(onCorner);
}

/** Filled, as what it is: there is no way through. */
function drawObstacle(pen, camera, palette, ring) {
  pen.save();
  pen.beginPath();
  trace(pen, camera, ring);
  pen.globalAlpha = 0.45;
  pen.fillStyle = palette.border;
  pen.fill();
  pen.globalAlpha = 1;
  pen.lineWidth = 1.25;
  pen.strokeStyle = palette.border;
  pen.stroke();
  pen.restore();
}

/** The walls that a range sensor saw: darker than the obstacles that the site knows. */
export function drawSeenWalls(pen, camera, palette, walls) {
  pen.save();
  pen.beginPath();
  for (const ring of walls) trace(pen, camera, ring);
  pen.fillStyle = palette.path;
  pen.fill();
  pen.lineWidth = 1;
  pen.strokeStyle = palette.path;
  pen.stroke();
  pen.restore();
}

/** Hatched, to differ from a region also without colour. */
function drawForbidden(pen, camera, palette, ring) {
  pen.save();
  pen.beginPath();
  trace(pen, camera, ring);
  pen.globalAlpha = 0.1;
  pen.fillStyle = palette.nogo;
  pen.fill();
  pen.globalAlpha = 0.55;
  pen.clip();
  pen.strokeStyle = palette.nogo;
  pen.lineWidth = 1;
  const corners = ring.map((corner) => camera.toScreen(corner));
  const [left, right] = [Math.min, Math.max].map((pick) => pick(...corners.map(([x]) => x)));
  const [top, bottom] = [Math.min, Math.max].map((pick) => pick(...corners.map(([, y]) => y)));
  pen.beginPath();
  for (let x = Math.max(left, -camera.height) - (bottom - top); x < Math.min(right, camera.width); x += 9) {
    pen.moveTo(x, bottom);
    pen.lineTo(x + (bottom - top), top);
  }
  pen.stroke();
  pen.restore();
  pen.beginPath();
  trace(pen, camera, ring);
  pen.strokeStyle = palette.nogo;
  pen.lineWidth = 1.25;
  pen.stroke();
}

/** The expected field as a picture of as many points as it has values; drawn large, it is smooth. */
export function fieldPicture(field, scale, look) {
  const canvas = document.createElement("canvas");
  canvas.width = field.columns;
  canvas.height = field.rows;
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(field.columns, field.rows);
  for (let row = 0; row < field.rows; row++) {
    for (let column = 0; column < field.columns; column++) {
      const value = field.values[row * field.columns + column];
      const share = Math.min(Math.max(scale.share(value ?? Number.NaN) || 0, 0), 1);
      const at = 4 * ((field.rows - 1 - row) * field.columns + column);
      const [red, green, blue] = ramp(share, look);
      // The lowest values let the ground show.
      image.data.set([red, green, blue, Math.round(255 * Math.min(0.85, 0.12 + 1.6 * share))], at);
    }
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}

export function drawField(pen, camera, field, picture) {
  const [west, north] = camera.toScreen([field.low[0], field.high[1]]);
  const [east, south] = camera.toScreen([field.high[0], field.low[1]]);
  pen.save();
  pen.imageSmoothingEnabled = true;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(picture, west, north, east - west, south - north);
  pen.restore();
}

const REGIONS = [
  ["95", 0.1, 1.5, []],
  ["50", 0.2, 1.5, []],
];

export function drawRegions(pen, camera, palette, regions, onField) {
  for (const [name, alpha, width] of REGIONS) {
    pen.beginPath();
    for (const polygon of regions[name] ?? []) for (const ring of polygon) trace(pen, camera, ring);
    pen.globalAlpha = onField ? alpha / 2 : alpha;
    pen.fillStyle = palette.belief;
    pen.fill("evenodd");
    pen.globalAlpha = 1;
    if (onField) {
      pen.strokeStyle = palette.halo;
      pen.lineWidth = width + 2.5;
      pen.stroke();
    }
    pen.strokeStyle = palette.belief;
    pen.lineWidth = name === "50" ? width + 0.75 : width;
    pen.stroke();
  }
}

/** The way of one searcher; `colour` is that of several, each of which has its own. */
export function drawPath(pen, camera, palette, start, readings, colour = palette.path) {
  // Along a path nobody goes.
  const places = readings.filter(({ reading }) => !reading.far_end).map(({ reading }) => reading.position);
  if (start) places.unshift(start);
  pen.lineJoin = "round";
  pen.lineCap = "round";
  pen.beginPath();
  places.forEach((place, index) => {
    const [x, y] = camera.toScreen(place);
    if (index === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  });
  pen.globalAlpha = 0.8;
  pen.strokeStyle = palette.halo;
  pen.lineWidth = 4;
  pen.stroke();
  pen.globalAlpha = 1;
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.stroke();
}

/** [points], so that neighbours on the path mostly do not cover each other. */
function discSize(camera, snapshots) {
  const legs = snapshots.slice(1).map((snapshot, index) => {
    const [here, there] = [placeOf(snapshots[index].reading), placeOf(snapshot.reading)];
    return Math.hypot(here[0] - there[0], here[1] - there[1]) * camera.scale;
  });
  const middle = legs.sort((a, b) => a - b)[Math.floor(legs.length / 2)] ?? 20;
  return Math.min(6, Math.max(3, 0.42 * middle));
}

/** Readings as discs in the colour of their value, on the line of a path; the newest is the largest. */
export function drawReadings(pen, camera, palette, snapshots, scale, look) {
  const last = snapshots.length - 1;
  const size = discSize(camera, snapshots);
  snapshots.forEach((snapshot, index) => {
    const { position, far_end: farEnd, value } = snapshot.reading;
    const [x, y] = camera.toScreen(placeOf(snapshot.reading));
    const colour = css(ramp(scale ? scale.share(value) : 0, look));
    if (farEnd) {
      pen.strokeStyle = colour;
      pen.lineWidth = index === last ? 5 : 3;
      strokeLine(pen, camera, [position, farEnd]);
    }
    pen.beginPath();
    pen.arc(x, y, index === last ? size + 2.5 : size, 0, 2 * Math.PI);
    pen.fillStyle = colour;
    pen.fill();
    pen.strokeStyle = index === last ? palette.ink : palette.path;
    pen.lineWidth = index === last ? 2.25 : 1;
    pen.stroke();
  });
}
