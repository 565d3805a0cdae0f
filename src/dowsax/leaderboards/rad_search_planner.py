"""The next move of RAD-Search: the least way to the source that is expected, and to what is still open."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from dowsax.leaderboards.rad_search import AREA, REACH, SIZE, Observation
from dowsax.leaderboards.rad_search_belief import Cells
from dowsax.leaderboards.rad_search_map import WallMap
from dowsax.leaderboards.rad_search_walls import MOVES, Shadows, Ways, contains, is_hidden

_BLOCK, _LARGE_BLOCK = 100.0, 150.0
"""[cm], of the blocks of cells whose entropy counts, where few cells are left and where many are."""
_MANY_CELLS = 300
_EDGES = np.array([-1.5, -0.8, -0.3, 0.2, 0.8, 1.6, 3.0])
"""Between the classes of a simulated reading, in standard deviations of its square root."""
_MAX_STOPS, _MIN_STOP = 16, 0.01
"""Of a tour: how many, and the least probability of one."""
_LIGHT = 1e-4
"""Cells with less probability than that do not count."""

_HIDING_ANGLE = 0.5
"""[rad], by which a line to the source turns before what hides it may have ended."""
_FREE_PATH = 2500.0
"""[cm], of a line between walls that were not met."""
_COARSE = np.arange(AREA[0] + _BLOCK / 2, AREA[1], _BLOCK)
_LINES = np.arange(AREA[0], AREA[1] + 1, 200.0)
VIEWS = np.stack(np.meshgrid(_LINES, _LINES, indexing="ij"), axis=-1).reshape(-1, 2)
"""[cm], places to look from."""


@dataclass(frozen=True)
class PlannerConfig:
    """Weights of the cost of a move."""

    entropy_price: float = 0.12
    """[moves/m²] for the area that is still possible, by the entropy."""
    directness: float = 0.3
    """How much of the expected way is as if the source were known; the rest is a tour of what is possible."""
    radius: float = 130.0
    """[cm], around a stop of the tour, of what it covers."""
    power: float = 4.0
    """Standard deviations of a reading by which a signal has to exceed the background to be found at once."""
    max_views: int = 40
    """Readings after which a tour goes to all places instead of looking at them."""
    revisit_price: float = 0.1
    """[moves] for each earlier reading at the same place."""


class Planner:
    """Choose moves one step ahead, by the expected belief after the next reading."""

    def __init__(self, config: PlannerConfig | None = None) -> None:
        self._config = config or PlannerConfig()
        self._visited = np.zeros((0, 2))
        self._ways = Ways(np.zeros((0, 4)))
        self._hidden = _hidden(np.zeros((0, 4)))
        self._is_known = False

    def choose(self, wall_map: WallMap, cells: Cells, observation: Observation) -> int:
        """Return the number of the move."""
        here = observation.place
        self._visited = np.concatenate([self._visited, here[None]])
        walls = wall_map.likely
        self._is_known = wall_map.is_known
        if not np.array_equal(walls, self._ways.rectangles):
            self._ways = Ways(walls)
            self._hidden = _hidden(walls)
        targets = here + MOVES
        allowed = _allowed(targets, observation, walls)
        if not allowed.any():
            allowed = np.isinf(observation.ranges)
        moves = np.flatnonzero(allowed) if allowed.any() else np.arange(len(MOVES))
        costs = self._costs(cells, here, targets[moves])
        return int(moves[np.argmin(costs)])

    def _costs(self, cells: Cells, here: np.ndarray, targets: np.ndarray) -> np.ndarray:
        config = self._config
        cells = Cells(*(part[cells.weights > _LIGHT] for part in cells))
        block = _BLOCK if len(cells.weights) < _MANY_CELLS else _LARGE_BLOCK
        blocks, walls = _merge(cells, block), self._ways.rectangles
        lengths = np.minimum(self._ways.lengths(targets, blocks.places), 3 * SIZE)
        is_solved = lengths < REACH
        classes = self._classes(blocks, here, targets)
        joint = blocks.weights * ~is_solved[:, None] * classes
        chances = joint.sum(axis=2)
        posterior = joint / np.maximum(chances, 1e-12)[..., None]
        entropy = -(posterior * np.log(np.maximum(posterior, 1e-12))).sum(axis=2)
        direct = (blocks.weights * ~is_solved * lengths).sum(axis=1)
        # What would show itself from here is gone to directly; the rest is looked for.
        shown = self._views(blocks, here[None], is_hidden(walls, here, blocks.places)[None], here)[0]
        tour = self._tours(blocks, 1 - shown, here, targets)
        tour += (blocks.weights * shown * ~is_solved * lengths).sum(axis=1)
        remaining = ((1 - config.directness) * tour + config.directness * direct) / 100.0
        area = (chances * np.exp(entropy)).sum(axis=1) * (block / 100.0) ** 2
        visits = (np.abs(targets[:, None] - self._visited).max(axis=2) < _BLOCK / 2).sum(axis=1)
        return remaining + config.entropy_price * area + config.revisit_price * visits

    def _tours(self, blocks: Cells, open_to: np.ndarray, here: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the expected way [cm] until a tour from each target has found what is open.

        Stops are views from which most probability would be found, and the blocks themselves. After the first
        of them the tour goes on to where most is found for the way; the best first stop counts.
        """
        nearest = np.clip(((blocks.places - AREA[0]) / _BLOCK).astype(int), 0, len(_COARSE) - 1)
        hidden = self._hidden[:, nearest[:, 0], nearest[:, 1]]
        near = np.linalg.norm(blocks.places[:, None] - blocks.places, axis=2) < self._config.radius
        # A search that takes so long was misled by what it seemed to see.
        views = self._views(blocks, VIEWS, hidden, here) * (len(self._visited) <= self._config.max_views)
        found = np.concatenate([views, near], axis=0)
        left, stops, masses = blocks.weights * open_to, [], []
        for _ in range(_MAX_STOPS):
            covered = found @ left
            stop = int(covered.argmax())
            if covered[stop] < _MIN_STOP:
                break
            stops.append(stop)
            masses.append(covered[stop])
            left = left * (1 - found[stop])
        if not stops:
            return np.zeros(len(targets))
        places, mass = np.concatenate([VIEWS, blocks.places])[stops], np.array(masses)
        legs = np.minimum(self._ways.lengths(places, places), 3 * SIZE)
        first_legs = np.minimum(self._ways.lengths(targets, places), 3 * SIZE)
        return (first_legs * mass.sum() + _onward(mass, legs)).min(axis=1)

    def _views(self, blocks: Cells, views: np.ndarray, hidden: np.ndarray, here: np.ndarray) -> np.ndarray:
        """Return the probability (views, blocks) that a source there shows itself in a view."""
        offsets = views[:, None] - blocks.places
        squares = np.maximum((offsets**2).sum(axis=2), _BLOCK**2)
        signal = blocks.intensities / squares
        power = np.minimum(signal / np.sqrt(signal + blocks.backgrounds) / self._config.power, 1.0)
        if self._is_known:
            return power * ~hidden
        # Walls that were not met yet, and those that hide the source from here and are as unknown.
        back = here - blocks.places
        cosine = (offsets * back).sum(axis=2) / np.sqrt(squares * np.maximum((back**2).sum(axis=1), 1.0))
        angle = np.arccos(np.clip(cosine, -1, 1))
        turned = 1 - (1 - blocks.visible) * np.exp(-angle / _HIDING_ANGLE)
        return power * ~hidden * turned * np.exp(-np.sqrt(squares) / _FREE_PATH)

    def _classes(self, blocks: Cells, here: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the probability of each class of reading (targets, classes, blocks)."""
        walls = self._ways.rectangles
        squares = ((targets[:, None] - blocks.places) ** 2).sum(axis=2)
        squares = np.maximum(squares, (_BLOCK / 2) ** 2)
        background = 2 * np.sqrt(blocks.backgrounds)
        rate = blocks.intensities / squares + blocks.backgrounds
        root = 2 * np.sqrt(rate)
        spread = np.sqrt(1 + (blocks.intensity_spreads / squares) ** 2 / rate)
        visible = np.broadcast_to(blocks.visible, squares.shape)
        if len(walls):
            now = is_hidden(walls, here, blocks.places)
            then = np.stack([is_hidden(walls, target, blocks.places) for target in targets])
            visible = np.where(then, 0.02, np.where(now & ~then, 0.9, visible))
        weights = blocks.weights
        mean = (weights * (visible * root + (1 - visible) * background)).sum(axis=1)[:, None]
        scatter = visible * ((root - mean) ** 2 + spread**2) + (1 - visible) * ((background - mean) ** 2 + 1)
        edges = mean + np.sqrt((weights * scatter).sum(axis=1))[:, None] * _EDGES
        below = visible[:, None] * ndtr((edges[..., None] - root[:, None]) / spread[:, None])
        below = below + (1 - visible)[:, None] * ndtr(edges[..., None] - background)
        return np.diff(below, axis=1, prepend=0.0, append=1.0)


def _allowed(targets: np.ndarray, observation: Observation, walls: np.ndarray) -> np.ndarray:
    """Return which moves are possible as far as is known."""
    lengths = np.linalg.norm(MOVES, axis=1)
    is_inside = ((targets >= 0) & (targets <= SIZE)).all(axis=1)
    return is_inside & (observation.ranges >= lengths) & ~contains(walls, targets)


def _hidden(walls: np.ndarray) -> np.ndarray:
    """Return which blocks (views, x, y) walls hide from each view; all, where the view is in a wall."""
    shadows = Shadows(_COARSE, _COARSE)
    if not len(walls):
        return np.zeros((len(VIEWS), len(_COARSE), len(_COARSE)), bool)
    hidden = np.stack([shadows.cast(walls, view).any(axis=0) for view in VIEWS])
    return hidden | contains(walls, VIEWS)[:, None, None]


def _merge(cells: Cells, size: float) -> Cells:
    """Return blocks of cells, with the means of what they hold."""
    number = np.floor(cells.places / size).astype(int) @ np.array([1000, 1])
    _, owners = np.unique(number, return_inverse=True)
    weights = np.bincount(owners, cells.weights)

    def mean(values: np.ndarray) -> np.ndarray:
        return np.bincount(owners, cells.weights * values) / weights

    places = np.stack([mean(column) for column in cells.places.T], axis=1)
    rest = (mean(part) for part in cells[2:])
    return Cells(places, weights / weights.sum(), *rest)


def _onward(mass: np.ndarray, legs: np.ndarray) -> np.ndarray:
    """Return the way [cm] from each first stop until the source is covered, times its probability."""
    number = len(mass)
    rows = np.arange(number)
    left, here, total = np.tile(mass, (number, 1)), rows, np.zeros(number)
    left[rows, rows] = 0
    for _ in range(number - 1):
        following = (left / (legs[here] + 100.0)).argmax(axis=1)
        total += legs[here, following] * left.sum(axis=1)
        left[rows, following] = 0
        here = following
    return total
