"""Credible regions: the smallest areas that hold a given probability of where the source is.

The weighted positions are smoothed by kernels as wide as the neighbours are far, so that a narrow belief
beside a broad one keeps its shape, and the level is set so that the positions inside have the probability
asked for: the smoothing shapes a region but cannot change what it holds.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from dowsax.geo.polygons import Polygon, clip, inside, signed_area
from dowsax.geo.valid_polygons import round_polygons

_NUM_CELLS = 160
"""Grid cells along the longer side of a grid."""
_MARGIN_BANDWIDTHS = 4.0
"""How far a grid extends beyond the positions."""
_WIDTH_CLASS_FACTOR = 1.3
"""Kernels whose widths differ by less than this factor are applied together."""
_MIN_WIDTH_M = 1e-3
"""Of a kernel: positions that are all equal make a region of millimetres."""
_NUM_NEIGHBOURS = 2048
DECIMALS = 4
"""Of the corners of regions [m]: a tenth of a millimetre."""
_MIN_PIECE_WIDTH = 4.0
"""Units of the last decimal: pieces and holes that are narrower, on average, are left out."""
_MAX_HALVINGS = 20
MIN_PIECE_PROBABILITY = 0.05
"""A piece of a region with less probability is not reported as a place."""
_PIECE_SHARE = 0.95
"""Of a piece, that its disc holds."""

Box = tuple[np.ndarray, np.ndarray]
"""Lower left and upper right corner [m]."""


class Patch(NamedTuple):
    """One connected piece of a region [m]: its border, leftward round, and its holes, rightward round."""

    border: Polygon
    holes: tuple[Polygon, ...]

    @property
    def area(self) -> float:
        """[m²], without the holes."""
        return signed_area(self.border) + sum(signed_area(hole) for hole in self.holes)

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Return whether each of the points (k, 2) lies in it."""
        held = inside(self.border, points)
        for hole in self.holes:
            held &= ~inside(hole, points)
        return held


class Piece(NamedTuple):
    """One of several separate places where the source may be."""

    position: np.ndarray
    """(2,) [m], the mean of the positions in it."""
    std: np.ndarray
    """(2,) [m], east and north."""
    probability: float
    radius: float
    """[m], of the disc about it that holds 95 % of the piece."""


@dataclass(frozen=True)
class Region:
    """The highest-density region that holds this probability: its pieces, the largest first."""

    probability: float
    patches: tuple[Patch, ...]

    @property
    def area(self) -> float:
        """[m²]"""
        return sum(patch.area for patch in self.patches)

    def contains(self, points) -> np.ndarray:
        """Return whether each of the points (k, 2) lies in it."""
        points = np.asarray(points, np.float64).reshape(-1, 2)
        held = np.zeros(len(points), bool)
        for patch in self.patches:
            held |= patch.contains(points)
        return held

    def pieces(self, points: np.ndarray, weights: np.ndarray) -> tuple[Piece, ...]:
        """Return the separate places of the region, the likeliest first; none where there is only one.

        The weights (k,) of the points (k, 2) [m] sum to one. Pieces of little probability are left out.
        """
        found = []
        for patch in self.patches:
            held = weights * patch.contains(points)
            if held.sum() >= MIN_PIECE_PROBABILITY:
                centre = np.average(points, axis=0, weights=held)
                spread = np.sqrt(np.average((points - centre) ** 2, axis=0, weights=held))
                distances = np.linalg.norm(points - centre, axis=1)
                radius = _quantile(distances[held > 0], held[held > 0] / held.sum(), _PIECE_SHARE)
                found.append(Piece(centre, spread, float(held.sum()), radius))
        return tuple(sorted(found, key=lambda piece: -piece.probability)) if len(found) > 1 else ()


def credible_regions(
    positions, weights, probabilities: Sequence[float] = (0.5, 0.95), within: Box | None = None
) -> dict[float, Region]:
    """Return the region of each probability, in (0, 1), from weighted positions (n, 2) [m].

    `within` is a box (low, high) that the source cannot leave: density is reflected at its sides.
    """
    points, weights = _check(positions, weights, probabilities)
    reached = 0.5 * (1 + max(probabilities))
    grids = [_grid(points[part], weights[part], within) for part in _parts(points, weights, reached)]
    heights = np.max([grid.at(points) for grid in grids], axis=0)
    peak = float(heights.max())
    regions = {}
    for probability in probabilities:
        level = _quantile(heights, weights, 1 - probability)
        # Positions that are all equal are all on the peak: there the kernel itself is the region.
        level = peak * (1 - probability) if level > 0.999 * peak else max(level, 1e-9 * peak)
        # A region of less than the last decimal is drawn a little larger, so that there is one.
        lower = (level / 2**halvings for halvings in range(_MAX_HALVINGS))
        found = (_patches(grids, each, within) for each in lower)
        regions[probability] = Region(probability, next(filter(None, found), ()))
    return regions


def _check(positions, weights, probabilities: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions that have weight, and their weights, summing to one."""
    points, weights = np.asarray(positions, np.float64), np.asarray(weights, np.float64)
    if points.ndim != 2 or points.shape[1] < 2 or weights.shape != points.shape[:1]:
        raise ValueError(f"Expected positions (n, 2) and weights (n,); got {points.shape}, {weights.shape}.")
    if not all(0 < probability < 1 for probability in probabilities):
        raise ValueError(f"The probability of a region lies between 0 and 1; got {list(probabilities)}.")
    has_weight = weights > 0
    if not has_weight.any() or not np.isfinite(points[has_weight]).all():
        raise ValueError("A region needs finite positions, at least one of them with a weight above zero.")
    return points[has_weight, :2], weights[has_weight] / weights[has_weight].sum()


def _bandwidths(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Return for each position the distance within which its neighbours have a fixed share of all weight.

    The share is $2 / \sqrt n$ with the effective number n of positions; where the weights differ, it is that
    of as many neighbours as have it on average.
    """
    effective = np.sum(weights) ** 2 / np.sum(weights**2)
    # A few thousand neighbours give the width as well as all of them.
    others = points[:: max(1, len(points) // _NUM_NEIGHBOURS)]
    neighbours = min(int(np.ceil(2 * len(others) / np.sqrt(effective))), len(others) - 1)
    if neighbours < 1:
        return np.zeros(len(points))
    distances, _ = KDTree(others).query(points, k=neighbours + 1)
    return distances[:, -1]


def _parts(points: np.ndarray, weights: np.ndarray, probability: float) -> list[np.ndarray]:
    """Return the indices of positions in each cluster, without the most isolated beyond this probability.

    Clusters far from each other get grids of their own, so that each is resolved; isolated positions are
    outside every region.
    """
    widths = np.maximum(_bandwidths(points, weights), _MIN_WIDTH_M)
    near = np.flatnonzero(widths <= _quantile(widths, weights, probability))
    step = _MARGIN_BANDWIDTHS * float(np.median(widths[near]))
    squares, square_of = np.unique(np.floor(points[near] / step), axis=0, return_inverse=True)
    pairs = KDTree(squares).query_pairs(1.5, output_type="ndarray")
    links = coo_array((np.ones(len(pairs)), pairs.T), shape=(len(squares), len(squares)))
    count, labels = connected_components(links, directed=False)
    return [near[labels[square_of.ravel()] == part] for part in range(count)]


class _Grid(NamedTuple):
    """Density, indexed [y, x], on a grid in coordinates in which the positions spread alike every way.

    So a belief that is long and thin in any direction is resolved, too. The rim is zero.
    """

    centre: np.ndarray
    stretch: np.ndarray
    """(2, 2) [m]: position = centre + stretch @ coordinates."""
    x: np.ndarray
    y: np.ndarray
    density: np.ndarray
    """[1/m²]"""

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the density at points (k, 2) [m], linear between the points of the grid and zero outside."""
        places = np.linalg.solve(self.stretch, (points - self.centre).T)
        step = self.x[1] - self.x[0]
        rows, columns = (places[1] - self.y[0]) / step, (places[0] - self.x[0]) / step
        return map_coordinates(self.density, [rows, columns], order=1, mode="constant")

    def rings(self, level: float) -> list[Polygon]:
        """Return borders [m] of where the density is above the level, leftward round; holes, rightward."""
        # Contourpy comes with matplotlib; only regions need it.
        from contourpy import FillType, contour_generator

        generator = contour_generator(self.x, self.y, self.density, fill_type=FillType.OuterOffset)
        found = []
        for corners, offsets in zip(*generator.filled(level, np.inf), strict=True):
            corners = self.centre + corners @ self.stretch.T
            border, *holes = (corners[start : end - 1] for start, end in itertools.pairwise(offsets))
            found += [_orient(border, 1), *(_orient(hole, -1) for hole in holes)]
        return found


def _patches(grids: Sequence[_Grid], level: float, within: Box | None) -> tuple[Patch, ...]:
    """Return the pieces where a density is above the level, clipped to the box, the largest first."""
    rings = [ring for grid in grids for ring in grid.rings(level)]
    if within is not None:
        unit = 10.0**-DECIMALS
        low, high = np.ceil(within[0] / unit) * unit, np.floor(within[1] / unit) * unit
        rings = [clip(ring, low, high) for ring in rings]
    patches = [Patch(*polygon) for polygon in round_polygons(rings, DECIMALS, _MIN_PIECE_WIDTH)]
    return tuple(sorted(patches, key=lambda patch: -patch.area))


def _grid(points: np.ndarray, weights: np.ndarray, within: Box | None) -> _Grid:
    """Return the sum of Gaussian kernels on a grid, kernels of nearly the same width at once."""
    centre = np.average(points, axis=0, weights=weights)
    stretch = _stretch(points - centre, weights)
    straight = np.linalg.solve(stretch, (points - centre).T).T
    widths = np.maximum(_bandwidths(straight, weights), _MIN_WIDTH_M / np.linalg.norm(stretch, 2))
    room = _MARGIN_BANDWIDTHS * widths.max()
    low, high = straight.min(axis=0) - room, straight.max(axis=0) + room
    step = float((high - low).max()) / _NUM_CELLS
    counts = np.ceil((high - low) / step).astype(int) + 1
    edges = [low[axis] + step * (np.arange(counts[axis] + 1) - 0.5) for axis in (0, 1)]
    images, image_of = _images(points, widths * np.linalg.norm(stretch, 2), within)
    straight = np.linalg.solve(stretch, (images - centre).T).T
    widths, weights = np.clip(widths, step, _NUM_CELLS / 4 * step)[image_of], weights[image_of]
    classes = np.round(np.log(widths) / np.log(_WIDTH_CLASS_FACTOR)).astype(int)
    density = np.zeros(counts[::-1])
    for number in np.unique(classes):
        chosen = classes == number
        mass, *_ = np.histogram2d(*straight[chosen].T, bins=edges, weights=weights[chosen])
        density += gaussian_filter(mass.T, _WIDTH_CLASS_FACTOR**number / step, mode="constant")
    x, y = (low[axis] + step * np.arange(-1, counts[axis] + 1) for axis in (0, 1))
    density = np.pad(density / (step**2 * np.abs(np.linalg.det(stretch))), 1)
    return _Grid(centre, stretch, x, y, density)


def _stretch(offsets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the root of the covariance [m], at least a millimetre and a thousandth of its length wide."""
    covariance = np.cov(offsets.T, aweights=weights, ddof=0)
    squares, axes = np.linalg.eigh(covariance)
    lengths = np.sqrt(np.maximum(squares, 0))
    return axes * np.maximum(lengths, max(_MIN_WIDTH_M, 1e-3 * float(lengths.max())))


def _images(points: np.ndarray, widths: np.ndarray, within: Box | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions with their images in the sides of the box, and the index of each one's origin."""
    of = np.arange(len(points))
    if within is None:
        return points, of
    for axis in (0, 1):
        all_points, all_of = [points], [of]
        for side in (within[0][axis], within[1][axis]):
            near = np.abs(points[:, axis] - side) < _MARGIN_BANDWIDTHS * widths[of]
            image = points[near].copy()
            image[:, axis] = 2 * side - image[:, axis]
            all_points.append(image)
            all_of.append(of[near])
        points, of = np.concatenate(all_points), np.concatenate(all_of)
    return points, of


def _orient(ring: np.ndarray, sign: int) -> np.ndarray:
    """Return the ring leftward round for +1, rightward round for −1."""
    return ring if sign * signed_area(ring) >= 0 else ring[::-1]


def _quantile(values: np.ndarray, weights: np.ndarray, probability: float) -> float:
    """Return the least value such that those up to it have this share of the weight."""
    order = np.argsort(values)
    running = np.cumsum(weights[order])
    return float(values[order[min(int(np.searchsorted(running, probability)), len(values) - 1)]])
