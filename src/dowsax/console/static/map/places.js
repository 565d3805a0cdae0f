/** Where readings are on the map: at a place, or along a path, whose middle stands for it. */

export const middleOf = ([[x1, y1], [x2, y2]]) => [(x1 + x2) / 2, (y1 + y2) / 2];

/** [m], of a reading. */
export function placeOf({ position, far_end: farEnd }) {
  return farEnd ? middleOf([position, farEnd]) : position;
}

/** [m], of the next reading of a snapshot, or `null` where there is none. */
export function nextPlaceOf({ next, next_far_end: farEnd }) {
  if (!next) return null;
  return farEnd ? middleOf([next, farEnd]) : next;
}
