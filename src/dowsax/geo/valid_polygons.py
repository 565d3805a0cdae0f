"""Polygons with rounded corners that are valid: rings that cross neither themselves nor each other.

Rounding moves corners, so that thin parts of a polygon may cross over, and cutting polygons off at a line
leaves sides that lie on each other. Here corners are whole numbers of the last decimal and every decision is
exact: sides are cut wherever they meet, the cut being rounded, too, until none cross (iterated snap rounding:
Halperin and Packer, 2002); what has the region on one side alone is its border.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dowsax.geo.polygons import Polygon, inside, signed_area

_MAX_EXTENT = 5e8
"""Units, so that products of two offsets fit 64 bits; of larger polygons the last decimals are zeros."""

Rings = tuple[Polygon, tuple[Polygon, ...]]
"""The border of a polygon, leftward round, and its holes, rightward round."""
_Point = tuple[int, int]


def round_polygons(rings: Sequence[Polygon], decimals: int, min_width: float = 2.0) -> list[Rings]:
    """Return the valid polygons that cover what the rings go round leftward more often than rightward.

    Corners are rounded to the decimals. Pieces and holes that are not wider on average than `min_width` units
    of the last decimal are left out.
    """
    rings = [ring for ring in rings if len(ring) > 2]
    if not rings:
        return []
    every = np.concatenate(rings)
    extent = float(np.ptp(every, axis=0).max()) * 10.0**decimals
    coarser = 10 ** max(0, int(np.ceil(np.log10(max(extent, 1.0) / _MAX_EXTENT))))
    scale = 10.0**decimals / coarser
    offset = np.rint(every.min(axis=0) * scale).astype(np.int64)
    whole = [np.rint(ring * scale).astype(np.int64) - offset for ring in rings]
    return [
        ((border + offset) / scale, tuple((hole + offset) / scale for hole in holes))
        for border, holes in _wide_polygons(whole, min_width)
    ]


def _wide_polygons(
    rings: Sequence[np.ndarray], min_width: float
) -> list[tuple[np.ndarray, list[np.ndarray]]]:
    """Return the polygons of rings of whole numbers, without narrow ones."""
    while True:
        closed = [np.stack([ring, np.roll(ring, -1, axis=0)], axis=1) for ring in rings]
        loops = list(_loops(_border(*_cut(np.concatenate([np.zeros((0, 2, 2), np.int64), *closed])))))
        rings = [loop for loop in loops if _width(loop) > min_width]
        if len(rings) == len(loops):
            return list(_assemble(loops))


def _cut(sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sides (m, 2, 2) that meet only at their ends, and how often each is passed, < 0 for backwards.

    Every cut leaves two shorter sides, so the loop ends.
    """
    sides, passes = _merge(sides, np.ones(len(sides), np.int64))
    while True:
        first, second = _pairs(sides)
        which, where = _meetings(sides, first, second)
        if len(which) == 0:
            return sides, passes
        everyone = np.arange(len(sides))
        which = np.concatenate([everyone, everyone, which])
        where = np.concatenate([sides[:, 0], sides[:, 1], where])
        along = np.sum((where - sides[which, 0]) * (sides[which, 1] - sides[which, 0]), axis=1)
        order = np.lexsort([along, which])
        which, where = which[order], where[order]
        same = which[1:] == which[:-1]
        pieces = np.stack([where[:-1], where[1:]], axis=1)[same]
        sides, passes = _merge(pieces, passes[which[1:][same]])


def _merge(sides: np.ndarray, passes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each side once, going east or north, without those of no length or passed equally both ways."""
    (x0, y0), (x1, y1) = sides[:, 0].T, sides[:, 1].T
    backwards = (x0 > x1) | ((x0 == x1) & (y0 > y1))
    sides = np.where(backwards[:, None, None], sides[:, ::-1], sides)
    unique, which = np.unique(sides.reshape(-1, 4), axis=0, return_inverse=True)
    totals = np.zeros(len(unique), np.int64)
    np.add.at(totals, which.ravel(), np.where(backwards, -passes, passes))
    unique = unique.reshape(-1, 2, 2)
    is_side = (totals != 0) & (unique[:, 0] != unique[:, 1]).any(axis=1)
    return unique[is_side], totals[is_side]


def _pairs(sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of sides whose boxes overlap, each pair once."""
    low, high = sides.min(axis=1), sides.max(axis=1)
    orders = np.argsort(low, axis=0)
    # Candidates begin before a side ends along one axis; take the axis with fewer candidates.
    after = [
        np.searchsorted(low[order, axis], high[order, axis], side="right") - np.arange(len(sides)) - 1
        for axis, order in enumerate(orders.T)
    ]
    axis = int(after[1].sum() < after[0].sum())
    counts, order = after[axis], orders[:, axis]
    first = np.repeat(np.arange(len(sides)), counts)
    second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts) + first + 1
    first, second, other = order[first], order[second], 1 - axis
    overlap = (low[first, other] <= high[second, other]) & (low[second, other] <= high[first, other])
    return first[overlap], second[overlap]


def _meetings(sides: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides to cut, and where: at ends of others, and at rounded crossings."""
    ends = sides[first], sides[second]
    turns = [_turn(ends[i][:, :1], ends[i][:, 1:], ends[1 - i]) for i in (0, 1)]
    crossing = np.prod(np.sign(turns[0]), axis=1) + np.prod(np.sign(turns[1]), axis=1) == -2
    which, where = [], []
    for one, other in ((0, 1), (1, 0)):
        low, high = ends[one].min(axis=1), ends[one].max(axis=1)
        for end in (0, 1):
            point = ends[other][:, end]
            touched = (turns[one][:, end] == 0) & ((low <= point) & (point <= high)).all(axis=1)
            which.append((first, second)[one][touched])
            where.append(point[touched])
    start, end = ends[0][crossing, 0], ends[0][crossing, 1]
    share = turns[1][crossing, 0] / (turns[1][crossing, 0] - turns[1][crossing, 1])
    boxes = np.sort(np.concatenate([ends[0][crossing], ends[1][crossing]], axis=1), axis=1)
    met = np.rint(start + share[:, None] * (end - start)).astype(np.int64)
    # The middle two of four coordinates bound what both boxes have in common.
    met = np.clip(met, boxes[:, 1], boxes[:, 2])
    which += [first[crossing], second[crossing]]
    where += [met, met]
    which, where = np.concatenate(which), np.concatenate(where)
    new = (where[:, None] != sides[which]).any(axis=2).all(axis=1)
    return which[new], where[new]


def _turn(start: np.ndarray, end: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return > 0 where a point lies left of the way from start to end, 0 on its line."""
    way, offset = end - start, points - start
    return way[..., 0] * offset[..., 1] - way[..., 1] * offset[..., 0]


def _border(sides: np.ndarray, passes: np.ndarray) -> np.ndarray:
    """Return the sides (m, 2, 2) with the region on one side only, directed to have it on the left.

    How often a place is gone round changes by the passes from one side of a way to the other, and is the same
    all along a chain of sides that meet no others.
    """
    chains = _chains(sides)
    _, first = np.unique(chains, return_index=True)
    left = _windings(sides, passes, first) - np.minimum(passes[first], 0)
    left, right = left[chains], left[chains] - np.abs(passes)
    directed = np.where((passes < 0)[:, None, None], sides[:, ::-1], sides)
    return directed[(left > 0) & (right <= 0)]


def _chains(sides: np.ndarray) -> np.ndarray:
    """Return the number of the chain of each side."""
    _, corners = np.unique(sides.reshape(-1, 2), axis=0, return_inverse=True)
    corners = corners.ravel()
    ends = np.argsort(corners, kind="stable")
    starts = np.flatnonzero(np.diff(corners[ends], prepend=-1))
    starts = starts[np.diff(starts, append=len(ends)) == 2]
    one, other = ends[starts] // 2, ends[starts + 1] // 2
    links = coo_array((np.ones(len(one)), (one, other)), shape=(len(sides), len(sides)))
    return connected_components(links, directed=False)[1]


def _windings(sides: np.ndarray, passes: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the winding number of the place just left of the middle of each chosen side.

    It counts the sides that a ray to the north meets; for upright sides, a ray to the west.
    """
    turned = np.stack([sides[..., 1], -sides[..., 0]], axis=-1)
    upright = sides[:, 0, 0] == sides[:, 1, 0]
    found = np.zeros(len(chosen), np.int64)
    for number, side in enumerate(chosen):
        start, end = np.moveaxis(turned if upright[side] else sides, 1, 0)
        way, doubled = end - start, start[side] + end[side]
        spans = (2 * start[:, 0] <= doubled[0]) != (2 * end[:, 0] <= doubled[0])
        height = way[:, 0] * (doubled[1] - 2 * start[:, 1]) - way[:, 1] * (doubled[0] - 2 * start[:, 0])
        eastward = np.sign(way[:, 0])
        found[number] = -np.sum((passes * eastward)[spans & (eastward * height < 0)])
    return found


def _loops(border: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the border as rings (k, 2) that pass no corner twice.

    Two pieces of the region that touch in a corner are two rings.
    """
    heads: dict[_Point, list[_Point]] = {}
    for tail, head in _points(border):
        heads.setdefault(tail, []).append(head)
    waiting = dict.fromkeys(_points(border))
    while waiting:
        side, walk = next(iter(waiting)), []
        while side in waiting:
            del waiting[side]
            walk.append(side[0])
            onward = heads[side[1]]
            side = side[1], onward[0] if len(onward) == 1 else _first_clockwise(*side, onward)
        yield from _split_walk(walk)


def _points(border: np.ndarray) -> list[tuple[_Point, _Point]]:
    return [((x0, y0), (x1, y1)) for (x0, y0), (x1, y1) in border.tolist()]


def _first_clockwise(before: _Point, here: _Point, heads: list[_Point]) -> _Point:
    """Return the first head clockwise from the direction of arrival."""

    def cross(one: _Point, other: _Point) -> int:
        return (one[0] - here[0]) * (other[1] - here[1]) - (one[1] - here[1]) * (other[0] - here[0])

    best = heads[0]
    for head in heads[1:]:
        halves = cross(before, head) > 0, cross(before, best) > 0
        if halves[0] < halves[1] or (halves[0] == halves[1] and cross(head, best) < 0):
            best = head
    return best


def _split_walk(walk: list[_Point]) -> Iterator[np.ndarray]:
    """Yield a closed way as rings, split where it returns to a corner."""
    path: list[_Point] = []
    places: dict[_Point, int] = {}
    for corner in walk:
        if corner in places:
            at = places[corner]
            yield np.array(path[at:], np.int64)
            for gone in path[at + 1 :]:
                del places[gone]
            del path[at + 1 :]
        else:
            places[corner] = len(path)
            path.append(corner)
    yield np.array(path, np.int64)


def _assemble(loops: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
    """Yield each border with its holes."""
    borders = sorted((loop for loop in loops if signed_area(loop) > 0), key=signed_area)
    holes: list[list[np.ndarray]] = [[] for _ in borders]
    for hole in (loop for loop in loops if signed_area(loop) < 0):
        middles = (hole + np.roll(hole, -1, axis=0)) / 2
        # The smallest that holds it; a corner of another ring may lie on a side.
        around = next(i for i, border in enumerate(borders) if inside(border, middles).mean() > 0.5)
        holes[around].append(hole)
    shared = _shared(loops)
    for border, inner in zip(borders, holes, strict=True):
        yield _straighten(border, shared), [_straighten(hole, shared) for hole in inner]


def _shared(loops: Sequence[np.ndarray]) -> set[_Point]:
    """Return the corners in which rings touch."""
    counts = Counter((x, y) for loop in loops for x, y in loop.tolist())
    return {corner for corner, count in counts.items() if count > 1}


def _width(loop: np.ndarray) -> float:
    """Return twice the area over the perimeter: the width of a long strip, half the diameter of a disc."""
    return 2 * abs(signed_area(loop)) / float(np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1).sum())


def _straighten(loop: np.ndarray, shared: set[_Point]) -> np.ndarray:
    """Return a ring without the corners at which it goes straight on, except those where rings touch."""
    turns = _turn(np.roll(loop, 1, axis=0), loop, np.roll(loop, -1, axis=0))
    return loop[(turns != 0) | [(x, y) in shared for x, y in loop.tolist()]]
