/** One mission on this page: its snapshots, the one that is shown, and its events. */

import { get } from "./api.js";
import { listen } from "./live.js";

/** Snapshots with particles in memory. */
const KEPT = 240;
const AHEAD = 6;

/** Dispatches `change` (`detail.what`: mission, snapshots, shown, event), and `gone` when it is deleted. */
export class Mission extends EventTarget {
  constructor(id) {
    super();
    this.id = id;
    this.facts = null;
    /** Snapshots without particles, by number less one; undefined until they are loaded. */
    this.snapshots = [];
    this.events = [];
    /** The number of the snapshot shown; 0 before the first. */
    this.shown = 0;
    this.following = true;
    this.cloud = null;
    this.closed = false;
    /** Whether this page itself deletes it. */
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

  /** The snapshot shown with its particles, regions and pieces; `null` until it is loaded. */
  get full() {
    return this.cloud?.number === this.shown ? this.cloud : null;
  }

  get isLive() {
    return this.shown === this.count;
  }

  /**
   * The readings that count at this snapshot, in order: {number, reading}. A corrected reading keeps its
   * number; a withdrawn one is left out.
   */
  activeReadings(upTo = this.shown) {
    return this.allReadings(upTo).filter(({ reading }) => reading);
  }

  /**
   * All readings up to this snapshot, in order: {number, reading, snapshot, versions, received}. `snapshot` is the
   * newest that has the reading, which is `null` where it was withdrawn; `versions` are all that made it what it
   * is; `received` says when it was added.
   */
  allReadings(upTo = this.shown) {
    const found = new Map();
    for (const snapshot of this.snapshots.slice(0, upTo)) {
      if (!snapshot) continue;
      const number = snapshot.corrects ?? snapshot.number;
      const before = found.get(number);
      const versions = [...(before?.versions ?? []), snapshot];
      const newest = snapshot.reading ? { ...snapshot, time: before?.received ?? snapshot.time } : before?.snapshot;
      const { reading } = snapshot;
      found.set(number, { number, reading, snapshot: newest, versions, received: newest?.time });
    }
    return [...found.values()];
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

  /** Show the snapshot of this number; at the last one, follow new ones. */
  select(number) {
    const wanted = Math.max(Math.min(number, this.count), Math.min(1, this.count));
    this.following = wanted === this.count;
    this._show(wanted);
  }

  /** Load the snapshots after this one, for playing. */
  prefetch(number) {
    for (let next = number; next < number + AHEAD && next <= this.count; next++)
      this._ask(next).catch(() => {});
  }

  /** Update the mission from an answer. */
  learn(facts) {
    this._take({ ...this.facts, ...facts });
  }

  /** Add a snapshot, with or without its particles. */
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
    // The snapshot has the status: the mission's own message may come later.
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

  /** Load the missing snapshots: at the start, after a break, or where the server skipped some. */
  async _fill() {
    if (this._loading) return this._loading;
    this._loading = this._askMissing().finally(() => {
      this._loading = null;
    });
    return this._loading;
  }

  async _askMissing() {
    // The server limits the number in one answer: repeat until none is missing, or none comes.
    for (let before = null; ;) {
      const first = this._missing() ?? this.count + 1;
      if (first === before || (before !== null && first > (this.facts.snapshots ?? 0))) return;
      before = first;
      let found;
      try {
        found = await get(`${this.path}/snapshots?first=${first}`);
      } catch {
        // The next connection of the socket tries again.
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
