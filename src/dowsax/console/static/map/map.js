/** The map of a mission: it shows a scene, and reports where a person points. */

import { get } from "../api.js";
import { h } from "../dom.js";
import { measured } from "../format.js";
import { scaleOf } from "./colours.js";
import { densityOf, densityPicture } from "./density.js";
import { Globe } from "./globe.js";
import * as layers from "./layers.js";
import * as marks from "./marks.js";
import { paintParticles } from "./particles.js";
import { nextPlaceOf, othersOf, placeOf, seenWallsOf, sourcePlacesOf, waysOf } from "./places.js";
import { boxOf, Plan } from "./plan.js";
import { Sheet } from "./sheet.js";

/** Share of the field that may set the scale of colours. */
const PEAK = 0.8;
/** [points] within which a reading is pointed at. */
const NEAR = 12;
/** [points] from the middle of a mark to its edge. */
const MARK = 8;

export class MapView extends Plan {
  /** `picked` gets a position [m] and whether a key picked it, `chosen` the number of the reading clicked. */
  constructor({ picked, chosen, drawn }) {
    super("Map of the search. Arrow keys move it, plus and minus zoom, 0 shows the area, b the belief.", {
      field: false,
      density: false,
      regions: true,
      particles: true,
      readings: true,
      path: true,
      obstacles: true,
      fence: true,
    });
    this.picked = picked;
    this.chosen = chosen;
    this.drawn = drawn;
    this.mission = null;
    this.pick = null;
    this.canPick = false;
    this.scale = null;
    this.tip = h("div", { class: "tip", hidden: true });
    this.element.append(this.tip);
    this._fields = new Map();
    this._particles = new Sheet(paintParticles);
  }

  /** Show this mission. */
  attach(mission) {
    this.mission = mission;
    const { facts } = mission;
    this.globe = facts.origin ? new Globe(facts.origin) : null;
    this.show.degrees = Boolean(facts.geographic && this.globe);
    if (facts.picture) {
      this.picture.place(facts.picture.corners);
      this.picture.load(`/api${mission.path}/picture`);
    }
    this._resize();
  }

  _box() {
    if (!this.mission) return null;
    const { area, geofence } = this.mission.facts;
    return boxOf([...area, ...(geofence ?? []).flat()]);
  }

  _area() {
    return this.mission?.facts.area;
  }

  /** Show where the source may be, and where one is. */
  fitBelief() {
    const { cloud, snapshot } = this.mission ?? {};
    if (!snapshot) return this.fitArea();
    const goals = [snapshot.next, snapshot.next_far_end].filter(Boolean);
    return this._fitTo([...cornersOf(cloud), this._here(), ...goals]);
  }

  /** Show where the source is found to be; the map stays there. */
  fitRegion() {
    const { facts, snapshot, full } = this.mission;
    const radius = facts.radius ?? snapshot.radius;
    const ends = sourcePlacesOf(snapshot, full).flatMap(([east, north]) => [
      [east - radius, north - radius],
      [east + radius, north + radius],
    ]);
    this.touched = true;
    return this._fitTo([...cornersOf(full), ...ends]);
  }

  /** Show all of these places, with some room about them. */
  _fitTo(places) {
    const [[west, south], [east, north]] = boxOf(places);
    const room = 0.15 * Math.max(east - west, north - south, this.mission.facts.radius ?? 0.1);
    this.camera.fit(
      [
        [west - room, south - room],
        [east + room, north + room],
      ],
      this._room(),
    );
    return this.redraw();
  }

  hover(point) {
    const near = point && this._nearest(point);
    this.tip.hidden = !near;
    if (!this.mission) return;
    super.hover(point);
    if (!this.tool) this.canvas.style.cursor = near && !this.canPick ? "pointer" : this.canPick ? "crosshair" : "grab";
    if (!near) return;
    const { reading } = near;
    this.tip.textContent = `Reading ${near.number}: ${measured(reading.value)} at ${this.placeWords(placeOf(reading))}`;
    const [x, y] = this.camera.toScreen(placeOf(reading));
    this.tip.style.left = `${Math.min(x + 12, Math.max(this.camera.width - 250, 0))}px`;
    this.tip.style.top = `${Math.max(y - 36, 4)}px`;
  }

  click(point, byKeyboard = false) {
    if (this.tool) {
      super.click(point, byKeyboard);
      return;
    }
    const near = this._nearest(point);
    if (this.canPick) this.picked(this.camera.toMetres(point), byKeyboard);
    else if (near) this.chosen(near.number);
  }

  _nearest(point) {
    let best = null;
    let least = NEAR;
    for (const snapshot of this._seen()) {
      const [x, y] = this.camera.toScreen(placeOf(snapshot.reading));
      const distance = Math.hypot(x - point[0], y - point[1]);
      if (distance <= least) [best, least] = [snapshot, distance];
    }
    return best;
  }

  /** The readings that count in the snapshot shown. */
  _seen() {
    return this.mission?.activeReadings() ?? [];
  }

  /** Where one is in the snapshot shown: at the newest reading, or at the start where none counts. */
  _here() {
    const newest = this._seen().at(-1)?.reading;
    return newest ? placeOf(newest) : this.mission.facts.start;
  }

  /** [m/s], at the newest reading of the snapshot shown, where it was measured. */
  _wind() {
    return this._seen().at(-1)?.reading.wind ?? null;
  }

  _field() {
    const number = this.mission.shown;
    if (!this.show.field || number === 0) return null;
    if (!this._fields.has(number) && !this._asking) this._askField(number);
    if (this._fields.has(number)) this._lastField = this._fields.get(number);
    return this._lastField ?? null;
  }

  /** One at a time: while a search runs fast, some snapshots are skipped. */
  async _askField(number) {
    this._asking = true;
    try {
      this._fields.set(number, await get(`${this.mission.path}/field?number=${number}`));
      if (this._fields.size > 60) this._fields.delete(this._fields.keys().next().value);
    } catch {
      this._fields.set(number, null);
    }
    this._asking = false;
    this.redraw();
  }

  _drawOn(pen, palette, look) {
    const { camera, show, mission } = this;
    const { facts } = mission;
    const seen = this._seen();
    const field = this._field();
    // All readings, so that colours stay as they are while one looks back.
    const values = mission.activeReadings(mission.count).map(({ reading }) => reading.value);
    this.scale = scaleOf(field?.comparable ? values.concat(lowerPart(field.values)) : values);
    // Of ranks only the order counts: their map has colours of its own.
    const fieldScale = field && !field.comparable ? scaleOf(lowerPart(field.values)) : this.scale;
    if (field && fieldScale) layers.drawField(pen, camera, field, this._picture(field, fieldScale, look));
    layers.drawSite(pen, camera, palette, facts, show);
    this.walls = show.obstacles ? seenWallsOf(facts, seen) : [];
    layers.drawSeenWalls(pen, camera, palette, this.walls);
    this._drawBelief(pen, palette, Boolean(field));
    const ways = waysOf(facts, seen);
    if (show.path)
      for (const { start, readings, colour } of ways)
        layers.drawPath(pen, camera, palette, start, readings, colour);
    for (const { start } of ways) if (start) marks.drawStart(pen, camera, palette, start);
    if (show.readings) layers.drawReadings(pen, camera, palette, seen, this.scale, look);
    this._drawMarks(pen, palette);
    this.drawn(this, look);
  }

  _drawBelief(pen, palette, onField) {
    const { cloud, shown } = this.mission;
    if (!cloud || shown === 0) return;
    if (this.show.density && cloud.particles) {
      const { density, picture } = this._density(cloud, palette.belief);
      layers.drawField(pen, this.camera, density, picture);
    }
    if (this.show.regions && cloud.regions)
      layers.drawRegions(pen, this.camera, palette, cloud.regions, onField);
    if (this.show.particles && cloud.particles)
      this._particles.draw(pen, this.camera, this._ratio, [cloud.particles, palette.belief]);
  }

  _drawMarks(pen, palette) {
    const { camera, mission } = this;
    const { snapshot, facts } = mission;
    if (snapshot) {
      const isFound = snapshot.status === "found";
      for (const place of sourcePlacesOf(snapshot, mission.full)) {
        if (isFound) marks.drawFound(pen, camera, palette, place, facts.radius ?? snapshot.radius);
        marks.drawEstimate(pen, camera, palette, place, isFound);
      }
      for (const other of othersOf(facts, mission.snapshots, mission.shown))
        marks.drawNext(pen, camera, { ...palette, go: other.colour }, other.snapshot.reading.position, other.snapshot);
      if (this._wind()) marks.drawWind(pen, camera, palette, this._here(), this._wind());
      if (snapshot.next) marks.drawNext(pen, camera, palette, this._here(), snapshot);
    }
    if (facts.truth && mission.isLive) marks.drawTruth(pen, camera, palette, facts.truth.position);
    if (this.pick && !this._isNext(this.pick)) marks.drawPick(pen, camera, palette, this.pick);
    if (this.canPick && document.activeElement === this.canvas && this.canvas.matches(":focus-visible")) {
      marks.drawAim(pen, camera, palette);
    }
  }

  /** What the marks say: the most important first, which has the best place. */
  _drawTexts(pen, palette, labels) {
    const { camera, mission } = this;
    const { snapshot, facts } = mission;
    const [here, wind] = snapshot ? [this._here(), this._wind()] : [];
    for (const place of [here, snapshot && nextPlaceOf(snapshot), facts.truth?.position].filter(Boolean))
      labels.avoid(camera.toScreen(place), MARK);
    if (wind) marks.avoidWind(camera, labels, here, wind);
    marks.labelPieces(pen, camera, palette, labels, mission.full?.pieces ?? []);
    if (snapshot?.next) marks.labelNext(pen, camera, palette, labels, here, snapshot);
    if (facts.truth && mission.isLive && camera.sees(facts.truth.position))
      marks.labelTruth(pen, camera, palette, labels, facts.truth.position);
    if (wind && camera.sees(here)) marks.labelWind(pen, camera, palette, labels, here, wind);
  }

  /** Whether a place is where the next reading is advised: it has its mark already. */
  _isNext(place) {
    const next = nextPlaceOf(this.mission.snapshot ?? {});
    return Boolean(next) && Math.hypot(next[0] - place[0], next[1] - place[1]) * this.camera.scale < 3;
  }

  _density(cloud, colour) {
    if (this._drawnDensity?.cloud !== cloud || this._drawnDensity.colour !== colour) {
      const density = densityOf(cloud.particles, this.mission.facts.source_area);
      this._drawnDensity = { cloud, colour, density, picture: densityPicture(density, colour) };
    }
    return this._drawnDensity;
  }

  _picture(field, scale, look) {
    const same = this._drawnField?.field === field && this._drawnField.look === look;
    if (!same || this._drawnField.low !== scale.low || this._drawnField.high !== scale.high) {
      const picture = layers.fieldPicture(field, scale, look);
      this._drawnField = { field, look, low: scale.low, high: scale.high, picture };
    }
    return this._drawnField.picture;
  }
}

/** The corners of the 95 % region of a snapshot. */
function cornersOf(snapshot) {
  return (snapshot?.regions?.["95"] ?? []).flatMap((polygon) => polygon[0]);
}

/** The field without its peak, which is so high beside a source that readings would all look alike. */
function lowerPart(values) {
  const sorted = Float64Array.from(values.filter(Number.isFinite)).sort();
  return Array.from(sorted.subarray(0, Math.ceil(PEAK * sorted.length)));
}
