/** Where readings are on the map: at a place, or along a path, whose middle stands for it. */

export const middleOf = ([[x1, y1], [x2, y2]]) => [(x1 + x2) / 2, (y1 + y2) / 2];

/** [m], from a place to the nearest point of a path. */
export function distanceTo([[x1, y1], [x2, y2]], [x, y]) {
  const [along, across] = [x2 - x1, y2 - y1];
  const share = ((x - x1) * along + (y - y1) * across) / (along * along + across * across);
  const nearest = Math.min(1, Math.max(0, share));
  return Math.hypot(x - x1 - nearest * along, y - y1 - nearest * across);
}

/** [m], of a reading. */
export function placeOf({ position, far_end: farEnd }) {
  return farEnd ? middleOf([position, farEnd]) : position;
}

/** [m], of the next reading of a snapshot, or `null` where there is none. */
export function nextPlaceOf({ next, next_far_end: farEnd }) {
  if (!next) return null;
  return farEnd ? middleOf([next, farEnd]) : next;
}

/** The ways on a map: {start, readings, colour} of each searcher, or of the only one. */
export function waysOf(facts, snapshots) {
  // With a list of paths nobody starts anywhere.
  const start = facts.paths?.length ? null : facts.start;
  if (!facts.searchers?.length) return [{ start, readings: snapshots }];
  return facts.searchers.map(({ name, start, colour }) => ({
    start,
    colour,
    readings: snapshots.filter(({ reading }) => reading.searcher === name),
  }));
}

/** The newest of the first `count` snapshots for each other searcher, where it goes on. */
export function othersOf(facts, snapshots, count) {
  const shown = snapshots.slice(0, count).filter(Boolean);
  const newest = shown.at(-1)?.searcher;
  return (facts.searchers ?? [])
    .filter(({ name }) => name !== newest)
    .map(({ name, colour }) => ({ colour, snapshot: shown.findLast(({ searcher }) => searcher === name) }))
    .filter(({ snapshot }) => snapshot?.next && snapshot.reading);
}

/** [m], where the estimate has its sources: one, or each of several. */
export function sourcePlacesOf(snapshot) {
  return snapshot.sources?.map((disc) => disc.centre) ?? [snapshot.estimate.mean.slice(0, 2)];
}
