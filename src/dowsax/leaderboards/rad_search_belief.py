r"""The belief of RAD-Search: where the source may be, on a grid, with intensity, background and visibility.

For each cell, intensity and background, a hidden Markov chain says whether a wall stands between the source and
the detector. With walls that are independent of each other, the source is visible from two places with the
probability that no wall cuts any of both lines,

$$P(v_t, v_{t+1}) = e^{-\mu(A_t \cup A_{t+1})} \prod_j P_j(\text{wall } j \text{ cuts none}),$$

μ being the expected number of unseen walls that cut one of them; the chain's transitions follow.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from dowsax.leaderboards.rad_search import (
    AREA,
    BACKGROUNDS,
    INTENSITIES,
    MIN_START_DISTANCE,
    REACH,
    SIGNAL_TO_NOISE,
    Observation,
)
from dowsax.leaderboards.rad_search_map import NUM_UNSEEN, WallMap
from dowsax.leaderboards.rad_search_walls import Shadows, contains

CELLS = 40
"""In each coordinate."""
CELL = (AREA[1] - AREA[0]) / CELLS
"""[cm]"""
_NUM_INTENSITIES, _NUM_BACKGROUNDS = 8, 10
NUM_WALLS = np.array([0.0, 2.0, 5.5])
"""Classes of the number of walls: none, one to three, four to seven."""
_CLASS_PRIOR = np.array([1, 3, 4]) / 8
_HIDDEN_AT_START = np.array([0.0, 0.87, 0.99])
"""How often a wall hides the source from the start in generated worlds of each class."""
_MIN_CHANCE = 0.01
"""Of either visibility: lines to a cell's centre may differ from those to the source."""
_GRID_SPREAD = 0.08
"""Relative, of the intensity between two of its values."""
_MIN_LIKELIHOOD = 1e-6
"""Relative to the best of a reading."""
_MIN_MASS = 1e-9
"""Cells with less probability than that are given up."""

_CENTRES = AREA[0] + CELL * (np.arange(CELLS) + 0.5)
PLACES = np.stack(np.meshgrid(_CENTRES, _CENTRES, indexing="ij"), axis=-1).reshape(-1, 2)
"""[cm], the centres of all cells."""


def _steps(low: float, high: float, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles of logarithmic steps, and the share of each under a uniform distribution."""
    edges = np.geomspace(low, high, number + 1)
    return np.sqrt(edges[:-1] * edges[1:]), np.diff(edges) / (high - low)


_INTENSITY, _INTENSITY_PRIOR = _steps(*INTENSITIES, _NUM_INTENSITIES)
_BACKGROUND, _BACKGROUND_PRIOR = _steps(BACKGROUNDS[0] - 0.5, BACKGROUNDS[1] + 0.5, _NUM_BACKGROUNDS)


class Cells(NamedTuple):
    """The belief, cell by cell."""

    places: Float[np.ndarray, "n 2"]
    """[cm]"""
    weights: Float[np.ndarray, " n"]
    intensities: Float[np.ndarray, " n"]
    """Means given the cell."""
    intensity_spreads: Float[np.ndarray, " n"]
    backgrounds: Float[np.ndarray, " n"]
    visible: Float[np.ndarray, " n"]
    """Probability that no wall stands between, given the cell."""


class Belief:
    """The posterior of source, intensity, background, class of the number of walls, and visibility.

    Weights are (cells, intensities, backgrounds, classes, visible or hidden), of cells that are not given up.
    """

    def __init__(self, walls: WallMap) -> None:
        self.walls = walls
        self._shadows = Shadows(_CENTRES, _CENTRES)
        self._active = np.arange(len(PLACES))
        self._weights = np.zeros(0)
        self._place: np.ndarray | None = None
        self._past: list[Observation] = []
        self._cast: dict[tuple[float, float], np.ndarray] = {}
        self._covers = ~_outside(walls.unseen)

    def update(self, observation: Observation) -> None:
        """Assimilate one reading and the ranges that came with it."""
        self.walls.update(observation)
        self._past.append(observation)
        if self._assimilate(observation):
            return
        # Where walls were taken for others no cell is left: start again with the walls as they are now.
        self._active, self._place = np.arange(len(PLACES)), None
        for past in self._past:
            if not self._assimilate(past):
                self._active, self._place = np.arange(len(PLACES)), None
                self._assimilate(past)

    def _assimilate(self, observation: Observation) -> bool:
        """Return whether any cell is left."""
        if self._place is None:
            self._begin(observation.place)
        elif not np.array_equal(self._place, observation.place):
            self._move(self._place, observation.place)
        self._place = observation.place
        self._weights *= self._likelihood(observation)[..., None, :]
        return self._exclude(observation.place)

    def _begin(self, start: np.ndarray) -> None:
        distances = np.linalg.norm(PLACES - start, axis=1)
        ratio = _INTENSITY[:, None] / _BACKGROUND / (distances**2)[:, None, None]
        prior = _INTENSITY_PRIOR[:, None] * _BACKGROUND_PRIOR * np.ones_like(ratio)
        prior *= (distances > MIN_START_DISTANCE - CELL / 4)[:, None, None]
        groups = [(ratio > low - 1) & (ratio <= high - 1) for low, high in SIGNAL_TO_NOISE.values()]
        # Each group of signal-to-noise ratios is as likely as the others.
        prior *= sum(group / max((prior * group).sum(), 1e-12) for group in groups)
        visible, _ = self._visibility(start, start)
        classes = _CLASS_PRIOR * np.array([not self.walls.walls, 1, 1])
        if self.walls.is_known:
            classes = np.array([0, 1, 0]) if self.walls.walls else np.array([1, 0, 0])
        chances = np.stack([visible, 1 - visible], axis=-1)
        hidden = _HIDDEN_AT_START
        if self.walls.is_known:
            hidden = np.where(NUM_WALLS > 0, 1 - visible.mean(axis=0) ** 20, 0.0)
        chances /= np.maximum((prior.sum(axis=(1, 2))[:, None, None] * chances).sum(axis=0), 1e-12)
        chances *= np.stack([1 - hidden, hidden], axis=-1)
        self._weights = (prior[..., None, None] * (classes[:, None] * chances)[:, None, None]).astype(
            np.float32
        )
        self._normalise()

    def _move(self, before: np.ndarray, after: np.ndarray) -> None:
        """Let visibility change as the detector moves."""
        first, both = self._visibility(before, after)
        second, _ = self._visibility(after, after)
        stays = np.clip(both / np.maximum(first, 1e-6), _MIN_CHANCE, 1 - _MIN_CHANCE)
        appears = np.clip((second - both) / np.maximum(1 - first, 1e-6), _MIN_CHANCE, 1 - _MIN_CHANCE)
        stays[:, 0] = 1.0
        stays, appears = (part.astype(np.float32)[:, None, None] for part in (stays, appears))
        visible, hidden = self._weights[..., 0], self._weights[..., 1]
        now = visible * stays + hidden * appears
        self._weights = np.stack([now, visible + hidden - now], axis=-1)
        if self.walls.walls:
            self._weights[..., 0, :] = 0

    def _visibility(self, one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities (cells, classes) that cells are visible from one place, and from both."""
        possible = self.walls.is_possible
        open_to = ~self._covers[np.ix_(possible, self._active)]
        first, second = (self._unseen_cuts(place)[np.ix_(possible, self._active)] for place in (one, other))
        both = (first | second) & open_to
        rates = [_count(cuts) / NUM_UNSEEN for cuts in (first & open_to, both)]
        chances = [np.exp(-np.outer(rate, NUM_WALLS)) for rate in rates]
        draws = [wall.draws for wall in self.walls.walls]
        if draws:
            stacked = np.concatenate(draws)
            first = self._cuts(stacked, one)
            both = first | self._cuts(stacked, other)
            ends = np.cumsum([len(part) for part in draws])[:-1]
            for chance, cuts in zip(chances, (first, both), strict=True):
                for part in np.split(cuts, ends):
                    chance *= 1 - (_count(part) / len(part))[:, None]
        return chances[0], chances[1]

    def _unseen_cuts(self, place: np.ndarray) -> np.ndarray:
        """Return which unseen walls hide which cells of the whole grid; the last two places are kept."""
        key = (float(place[0]), float(place[1]))
        if key not in self._cast:
            cuts = self._shadows.cast(self.walls.unseen, place).reshape(NUM_UNSEEN, -1)
            self._cast = dict([*self._cast.items()][-1:]) | {key: cuts}
        return self._cast[key]

    def _cuts(self, rectangles: np.ndarray, place: np.ndarray) -> np.ndarray:
        return self._shadows.cast(rectangles, place).reshape(len(rectangles), -1)[:, self._active]

    def _likelihood(self, observation: Observation) -> np.ndarray:
        """Return the likelihoods (cells, intensities, backgrounds, 2) of a count, relative to their greatest.

        The variance of Poisson is made wider by what a cell and a step of the intensity leave open.
        """
        squares = np.maximum(((PLACES[self._active] - observation.place) ** 2).sum(axis=1), (CELL / 2) ** 2)
        signal = _INTENSITY / squares[:, None]
        spread = _GRID_SPREAD**2 + CELL**2 / 3 / squares
        rate = signal[:, :, None] + _BACKGROUND
        temper = rate / (rate + (spread[:, None] * signal**2)[..., None])
        visible = temper * _log_poisson(observation.count, rate) + 0.5 * np.log(temper)
        hidden = np.broadcast_to(_log_poisson(observation.count, _BACKGROUND), visible.shape)
        log = np.stack([visible, hidden], axis=-1)
        return np.maximum(np.exp(log - log.max()), _MIN_LIKELIHOOD).astype(np.float32)

    def _exclude(self, place: np.ndarray) -> bool:
        """Remove cells at which the search would have been solved; return whether any is left."""
        offsets = np.abs(PLACES[self._active] - place)
        # The share of a cell nearer than the reach, by its four quarters.
        near = [
            np.hypot(offsets[:, 0] + x, offsets[:, 1] + y) < REACH
            for x in (-12.5, 12.5)
            for y in (-12.5, 12.5)
        ]
        left = 1 - np.mean(near, axis=0)
        cuts = self.walls.likely
        if len(cuts):
            hidden = self._cuts(cuts, place).any(axis=0)
            left = np.where(hidden, 1.0, left)
        self._weights *= left.astype(np.float32)[:, None, None, None, None]
        return self._normalise()

    def _normalise(self) -> bool:
        total = self._weights.sum()
        if not total > 1e-20:
            return False
        self._weights /= total
        mass = _sums(self._weights, 1)
        keep = mass > _MIN_MASS
        if keep.mean() < 0.9:
            self._active, self._weights = self._active[keep], self._weights[keep]
        return True

    def cells(self) -> Cells:
        """Return the weights of all cells that are left, and means of the rest given them."""
        weights = self._weights
        of_intensity = _sums(weights, 2)
        mass = of_intensity.sum(axis=1) + 1e-30
        intensity = of_intensity / mass[:, None]
        mean = intensity @ _INTENSITY
        spread = np.sqrt(np.maximum(intensity @ _INTENSITY**2 - mean**2, 0))
        rest = weights.reshape(len(weights), _NUM_INTENSITIES, -1).sum(axis=1)
        rest = rest.reshape(len(weights), _NUM_BACKGROUNDS, -1, 2) / mass[:, None, None, None]
        places = PLACES[self._active]
        free = mass * _free(places, self.walls)
        return Cells(
            places,
            free / free.sum() if free.sum() > 0 else mass / mass.sum(),
            mean,
            spread,
            rest.sum(axis=(2, 3)) @ _BACKGROUND,
            rest[..., 0].sum(axis=(1, 2)),
        )


def _outside(rectangles: np.ndarray) -> np.ndarray:
    """Return which cells lie outside each rectangle (n, cells)."""
    inside = (rectangles[:, None, :2] < PLACES) & (rectangles[:, None, 2:] > PLACES)
    return ~inside.all(axis=-1)


def _sums(weights: np.ndarray, num_axes: int) -> np.ndarray:
    """Return the sums over all axes but the first ones, by a product: far faster than a sum."""
    shape = weights.shape[:num_axes]
    flat = weights.reshape(*shape, -1)
    return flat @ np.ones(flat.shape[-1], weights.dtype)


def _count(cuts: np.ndarray) -> np.ndarray:
    """Return how many of the rows are true in each column."""
    return np.ones(len(cuts), np.float32) @ cuts.astype(np.float32)


def _free(places: np.ndarray, walls: WallMap) -> np.ndarray:
    """Return the probability that no wall that was met covers a place."""
    free = np.ones(len(places))
    for wall in walls.walls:
        covers = (places[:, None] > wall.draws[:, :2]) & (places[:, None] < wall.draws[:, 2:])
        free *= 1 - covers.all(axis=2).mean(axis=1)
    return free


def _log_poisson(count: int, rates: np.ndarray) -> np.ndarray:
    """Return half the deviance of a count, negative: its log likelihood, greatest at the count itself."""
    return count * np.log(rates / max(count, 1)) - rates + count
