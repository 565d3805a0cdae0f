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

/** [m], where the source may be: one place, each of several separate ones, or those of several sources. */
export function sourcePlacesOf(snapshot, full) {
  if (full?.pieces?.length) return full.pieces.map(({ centre }) => centre);
  return snapshot.sources?.map((disc) => disc.centre) ?? [snapshot.estimate.mean.slice(0, 2)];
}

/** Of the limit of a range sensor: the side of a piece of wall, as in `mission.seen_walls`. */
const WIDTH_SHARE = 0.1;

/** The walls that a range sensor saw in these snapshots: a square [m] behind the end of each ray that ended. */
export function seenWallsOf({ range_limit: limit }, snapshots) {
  if (!limit) return [];
  const width = WIDTH_SHARE * limit;
  const found = new Map();
  for (const { reading } of snapshots) {
    const { position, ranges } = reading;
    (ranges ?? []).forEach((length, number) => {
      if (length === null || length >= limit) return;
      const angle = (2 * Math.PI * number) / ranges.length;
      const [east, north] = [Math.sin(angle), Math.cos(angle)];
      const end = [position[0] + length * east, position[1] + length * north];
      const cell = end.map((value) => Math.round(value / (width / 2))).join();
      if (!found.has(cell)) found.set(cell, { end, east, north });
    });
  }
  // Where a sensor has been there is no wall.
  const visited = snapshots.map(({ reading }) => reading.position);
  return [...found.values()]
    .filter(({ end, east, north }) => !visited.some((place) => isBehind(place, end, east, north, width)))
    .map(({ end: [x, y], east, north }) => {
      const [across, up] = [(-width / 2) * north, (width / 2) * east];
      const [far, farther] = [x + width * east, y + width * north];
      return [
        [x - across, y - up],
        [far - across, farther - up],
        [far + across, farther + up],
        [x + across, y + up],
      ];
    });
}

/** Whether a place lies in the square of this width behind the end of a ray. */
function isBehind([x, y], end, east, north, width) {
  const along = (x - end[0]) * east + (y - end[1]) * north;
  const across = (y - end[1]) * east - (x - end[0]) * north;
  return along >= 0 && along <= width && Math.abs(across) <= width / 2;
}
