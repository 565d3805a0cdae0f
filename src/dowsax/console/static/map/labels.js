/** Where the labels of the map go: none is cut at an edge, none lies on another or under the tools. */

/** [points] that a label keeps from the edge of the map, and from others. */
const EDGE = 4;
const GAP = 2;
/** [points] between the places that are tried where all places beside a mark are taken. */
const STEP = [24, 10];

export class Labels {
  /** `taken` are boxes [left, top, right, bottom] on the map that are no place for labels [points]. */
  constructor({ width, height }, taken = []) {
    this.width = width;
    this.height = height;
    this.taken = [...taken];
  }

  /** Have no label where this mark is, seen to this distance from it [points]. */
  avoid([x, y], distance) {
    this.taken.push(boxOf([x, y], [2 * distance, 2 * distance]));
  }

  /**
   * Take the first of these centres at which a box of this size is free and not cut; where none is, the free
   * one that is nearest to the first. The map may be too small for any: then the first, moved inside it.
   */
  take(size, centres) {
    const first = this._inside(centres[0], size);
    const free = centres.find((centre) => this._isWhole(centre, size));
    return this._keep(free ?? this._nearest(first, size) ?? first, size);
  }

  /** Take this centre if a box of this size is free there and not cut; else `null`. */
  takeOnly(size, centre) {
    return this._isWhole(centre, size) ? this._keep(centre, size) : null;
  }

  _isWhole(centre, size) {
    const [x, y] = this._inside(centre, size);
    return x === centre[0] && y === centre[1] && this._isFree(boxOf(centre, size));
  }

  _keep(centre, size) {
    this.taken.push(boxOf(centre, size));
    return centre;
  }

  _inside([x, y], [width, height]) {
    const within = (value, half, most) => Math.max(Math.min(value, most - EDGE - half), EDGE + half);
    return [within(x, width / 2, this.width), within(y, height / 2, this.height)];
  }

  _isFree([left, top, right, bottom]) {
    return this.taken.every(
      (box) =>
        right + GAP <= box[0] || box[2] + GAP <= left || bottom + GAP <= box[1] || box[3] + GAP <= top,
    );
  }

  _nearest([x, y], size) {
    let best = null;
    let least = Number.POSITIVE_INFINITY;
    for (let down = 0; down < this.height; down += STEP[1]) {
      for (let across = 0; across < this.width; across += STEP[0]) {
        const centre = this._inside([across, down], size);
        const distance = Math.hypot(centre[0] - x, centre[1] - y);
        if (distance < least && this._isFree(boxOf(centre, size))) [best, least] = [centre, distance];
      }
    }
    return best;
  }
}

function boxOf([x, y], [width, height]) {
  return [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
}
