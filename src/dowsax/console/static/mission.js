/** One mission as this page knows it: its snapshots, which of them is shown, and the news of it. */

import { get } from "./api.js";
import { listen } from "./live.js";

/** Snapshots kept with their particles. */
const KEPT = 240;
const AHEAD = 6;

/** Says `change` (with `detail.what`: mission, snapshots, shown, event) whenever something is new, and `gone`. */
export class Mission extends EventTarget {
  constructor(id) {
    super();
    this.id = id;
    this.facts = null;
    /** Snapshots without particles, by number less one. Those not here yet are missing. */
    this.snapshots = [];
    this.events = [];
    /** The number of the snapshot shown; 0 before the first. */
    this.shown = 0;
    this.following = true;
    this.cloud = null;
    this.closed = false;
    /** Whether this page itself has it deleted. */
    this.leaving = false;
    this._full = new Map();
    this._asked = new Map();
    this._loading = null;
  }

  get path() {
    return `/missions/${encodeURIComponent(this.id)}`;
  }

  get count() {
    return this.snapshots.length;
  }

  /** The snapshot shown, without its particles; `null` before the first. */
  get snapshot() {
    return this.snapshots[this.shown - 1] ?? null;
  }

  get isLive() {
    return this.shown === this.count;
  }

  /**
   * The readings that count in the snapshot of this number, in order: {number, reading}. One that was corrected
   * has the place and number of the first, one that was withdrawn is left out.
   */
  activeReadings(upTo = this.shown) {
    const counted = new Map();
    for (const snapshot of this.snapshots.slice(0, upTo)) {
      if (!snapshot) continue;
      const number = snapshot.corrects ?? snapshot.number;
      if (snapshot.reading) counted.set(number, { number, reading: snapshot.reading });
      else counted.delete(number);
    }
    return [...counted.values()];
  }

  async open() {
    this._take(await get(this.path));
    if (this.closed) return;
    await this._fill();
    this._stop = listen(
      `${this.path}/live`,
      (message) => this._heard(message),
      () => this._fill(),
      () => !this.closed && this.dispatchEvent(new Event("gone")),
    );
  }

  close() {
    this.closed = true;
    this._stop?.();
  }

  /** Show the snapshot of this number; the last one is followed as it grows. */
  select(number) {
    const wanted = Math.max(Math.min(number, this.count), Math.min(1, this.count));
    this.following = wanted === this.count;
    this._show(wanted);
  }

  /** Have the snapshots after this one at hand, for playing. */
  prefetch(number) {
    for (let next = number; next < number + AHEAD && next <= this.count; next++)
      this._ask(next).catch(() => {});
  }

  /** Take in what an answer to a request says of the mission. */
  learn(facts) {
    this._take({ ...this.facts, ...facts });
  }

  /** Take in a snapshot, with or without its particles. */
  add(snapshot) {
    if (snapshot.particles) this._keep(snapshot);
    this.snapshots[snapshot.number - 1] = slim(snapshot);
    this._grown();
  }

  _heard(message) {
    if (this.closed) return;
    if (message.type === "mission") this._take(message.mission);
    if (message.type === "snapshot") this.add(message.snapshot);
    if (message.type === "event") this._note(message.event);
  }

  _take(facts) {
    this.facts = facts;
    if (facts.events) this.events = facts.events;
    const { latest } = facts;
    if (latest && latest.number > this.count) {
      if (latest.particles) this._keep(latest);
      this.snapshots[latest.number - 1] = slim(latest);
      this._grown();
    }
    this._tell("mission");
  }

  _note(event) {
    const known = this.events.some((item) => item.time === event.time && item.text === event.text);
    if (!known) this.events = [...this.events, event];
    this._tell("event");
  }

  _grown() {
    // The status travels with the snapshot: the mission's own news may come later.
    const last = this.snapshots[this.count - 1];
    if (this.facts && last && last.number >= (this.facts.latest?.number ?? 0)) {
      this.facts = {
        ...this.facts,
        status: last.status,
        latest: last,
        readings: this.activeReadings(this.count).length,
        snapshots: this.count,
      };
    }
    this._tell("snapshots");
    if (this.following || this.shown === 0) this._show(this.count);
    if (this._missing() !== null) this._fill();
  }

  _missing() {
    const first = this.snapshots.findIndex((snapshot) => snapshot === undefined);
    return first < 0 ? null : first + 1;
  }

  /** Ask for the snapshots that are not here: at the opening, after a break, or where the server skipped some. */
  async _fill() {
    if (this._loading) return this._loading;
    this._loading = this._askMissing().finally(() => {
      this._loading = null;
    });
    return this._loading;
  }

  async _askMissing() {
    // The server gives so many at once: asked until none is missing, or none comes.
    for (let before = null; ;) {
      const first = this._missing() ?? this.count + 1;
      if (first === before || (before !== null && first > (this.facts.snapshots ?? 0))) return;
      before = first;
      let found;
      try {
        found = await get(`${this.path}/snapshots?first=${first}`);
      } catch {
        // The next opening of the socket asks again.
        return;
      }
      if (this.closed) return;
      for (const snapshot of found) this.snapshots[snapshot.number - 1] = slim(snapshot);
      this._tell("snapshots");
      if (this.following) this._show(this.count);
    }
  }

  async _show(number) {
    this.shown = number;
    this.cloud = this._full.get(number) ?? this.cloud;
    this._tell("shown");
    if (number === 0 || this._full.has(number)) return;
    try {
      await this._ask(number);
    } catch {
      return;
    }
    if (this.closed || this.shown !== number) return;
    this.cloud = this._full.get(number) ?? this.cloud;
    this._tell("shown");
  }

  async _ask(number) {
    if (this._full.has(number)) return;
    if (!this._asked.has(number)) {
      const asked = get(`${this.path}/snapshots/${number}`).then((snapshot) => this._keep(snapshot));
      this._asked.set(
        number,
        asked.finally(() => this._asked.delete(number)),
      );
    }
    await this._asked.get(number);
  }

  _keep(snapshot) {
    this._full.delete(snapshot.number);
    this._full.set(snapshot.number, snapshot);
    while (this._full.size > KEPT) this._full.delete(this._full.keys().next().value);
  }

  _tell(what) {
    if (!this.closed) this.dispatchEvent(new CustomEvent("change", { detail: { what } }));
  }
}

function slim(snapshot) {
  const { particles, regions, ...rest } = snapshot;
  return rest;
}
