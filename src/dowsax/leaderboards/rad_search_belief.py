r"""The belief of RAD-Search: where the source may be, on a grid, with intensity, background and visibility.

For each cell, intensity and background, a hidden Markov chain says whether a wall stands between the source
and the detector. With walls that are independent of each other, the source is visible from two places with
the probability that no wall cuts any of both lines,

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
from dowsax.leaderboards.rad_search_walls import Shadows, is_hidden

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

_COARSE = AREA[0] + 2 * CELL * (np.arange(CELLS // 2) + 0.5)
"""[cm], the middles of blocks of four cells, for the shadows of unseen walls."""
_PARENTS = (np.arange(CELLS)[:, None] // 2 * (CELLS // 2) + np.arange(CELLS) // 2).ravel()
"""The block of each cell."""

_OFFSETS = CELL * (np.arange(5) - 2) / 5
_PARTS = np.stack(np.meshgrid(_OFFSETS, _OFFSETS, indexing="ij"), axis=-1).reshape(-1, 2)
"""[cm], the parts of a cell, from its centre."""


def _steps(low: float, high: float, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles of logarithmic steps, and the share of each under a uniform distribution."""
    edges = np.geomspace(low, high, number + 1)
    return np.sqrt(edges[:-1] * edges[1:]), np.diff(edges) / (high - low)


_INTENSITY, _INTENSITY_PRIOR = _steps(*INTENSITIES, _NUM_INTENSITIES)
_BACKGROUND, _BACKGROUND_PRIOR = _steps(BACKGROUNDS[0] - 0.5, BACKGROUNDS[1] + 0.5, _NUM_BACKGROUNDS)
_NUM_RATES = _NUM_INTENSITIES * _NUM_BACKGROUNDS
_RATE_INTENSITY = np.repeat(_INTENSITY, _NUM_BACKGROUNDS).astype(np.float32)
_RATE_BACKGROUND = np.tile(_BACKGROUND, _NUM_INTENSITIES).astype(np.float32)
_RATE_PRIOR = np.outer(_INTENSITY_PRIOR, _BACKGROUND_PRIOR).ravel()
"""Of all pairs of intensity and background."""
_MILLIONS = _RATE_INTENSITY / np.float32(1e6)
_MOMENTS = np.stack([np.ones_like(_MILLIONS), _MILLIONS, _MILLIONS**2, _RATE_BACKGROUND], axis=1)


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

    Weights are (visible or hidden, classes, cells, intensities × backgrounds), of cells not given up.
    """

    def __init__(self, walls: WallMap) -> None:
        self.walls = walls
        self._shadows, self._coarse = Shadows(_CENTRES, _CENTRES), Shadows(_COARSE, _COARSE)
        self._active = np.arange(len(PLACES))
        self._weights = np.zeros((2, 1, 0, _NUM_RATES), np.float32)
        self._place: np.ndarray | None = None
        self._past: list[Observation] = []
        self._open_to = ~_covers(
            walls.unseen, np.stack(np.meshgrid(_COARSE, _COARSE, indexing="ij"), axis=-1)
        )

    def update(self, observation: Observation) -> None:
        """Assimilate one reading and the ranges that came with it."""
        self.walls.update(observation)
        self._past.append(observation)
        if self._assimilate(observation):
            return
        # Where walls were taken for others no cell is left: start again with the walls as they are now.
        self._restart()
        for past in self._past:
            if not self._assimilate(past):
                self._restart()
                self._assimilate(past)

    def _restart(self) -> None:
        """Go back to the belief at the start, without its reading."""
        self._active, self._place = np.arange(len(PLACES)), self._past[0].place
        self._begin(self._place)

    def _assimilate(self, observation: Observation) -> bool:
        """Return whether any cell is left."""
        if self._place is None:
            self._begin(observation.place)
        elif not np.array_equal(self._place, observation.place):
            self._move(self._place, observation.place)
        self._place = observation.place
        visible, hidden = self._likelihoods(observation)
        self._weights[0] *= visible
        self._weights[1] *= hidden
        return self._exclude(observation.place)

    def _begin(self, start: np.ndarray) -> None:
        distances = np.linalg.norm(PLACES - start, axis=1)
        ratio = _RATE_INTENSITY / _RATE_BACKGROUND / (distances**2)[:, None]
        within = (np.linalg.norm(PLACES[:, None] + _PARTS - start, axis=2) > MIN_START_DISTANCE).mean(axis=1)
        prior = _RATE_PRIOR * within[:, None]
        groups = [(ratio > low - 1) & (ratio <= high - 1) for low, high in SIGNAL_TO_NOISE.values()]
        # Each group of signal-to-noise ratios is as likely as the others.
        prior = prior * sum(group / max((prior * group).sum(), 1e-12) for group in groups)
        visible, _, _ = self._visibility(start, start)
        numbers, classes, hidden = NUM_WALLS, _CLASS_PRIOR, _HIDDEN_AT_START
        if self.walls.is_known:
            is_any = len(self.walls.walls) > 0
            numbers, classes = np.array([float(is_any)]), np.ones(1)
            hidden = is_any * (1 - visible.mean(axis=1) ** 20)
            visible = visible[:1]
        chances = np.stack([visible, 1 - visible])
        chances /= np.maximum((chances * prior.sum(axis=1)).sum(axis=2, keepdims=True), 1e-12)
        chances *= (np.stack([1 - hidden, hidden])[:, : len(numbers)] * classes)[..., None]
        self._weights = chances[..., None].astype(np.float32) * prior.astype(np.float32)

    def _move(self, before: np.ndarray, after: np.ndarray) -> None:
        """Let visibility change as the detector moves."""
        first, second, both = self._visibility(before, after)
        stays = np.clip(both / np.maximum(first, 1e-6), _MIN_CHANCE, 1 - _MIN_CHANCE)
        appears = np.clip((second - both) / np.maximum(1 - first, 1e-6), _MIN_CHANCE, 1 - _MIN_CHANCE)
        if self.walls.walls and not self.walls.is_known:
            self._weights[:, 0] = 0
        elif not self.walls.walls:
            stays[0] = 1.0
        visible, hidden = self._weights
        classes = slice(len(visible))
        stays, appears = (part[classes, :, None].astype(np.float32) for part in (stays, appears))
        lost, won = visible * (1 - stays), hidden * appears
        change = won - lost
        visible += change
        hidden -= change
        np.maximum(self._weights, 0, out=self._weights)

    def _visibility(self, one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the probabilities (classes, cells) that cells are visible from each place, and from both."""
        possible = self.walls.is_possible
        unseen, open_to = self.walls.unseen[possible], self._open_to[possible]
        cuts = [
            self._coarse.cast(unseen, place).reshape(len(unseen), len(_COARSE) ** 2) & open_to
            for place in (one, other)
        ]
        rates = [_count(part)[_PARENTS[self._active]] / NUM_UNSEEN for part in (*cuts, cuts[0] | cuts[1])]
        chances = [np.exp(-np.outer(NUM_WALLS, rate)) for rate in rates]
        draws = [wall.draws for wall in self.walls.walls]
        if draws:
            stacked = np.concatenate(draws)
            cuts = [self._cuts(stacked, place) for place in (one, other)]
            ends = np.cumsum([len(part) for part in draws])[:-1]
            for chance, cut in zip(chances, (*cuts, cuts[0] | cuts[1]), strict=True):
                for part in np.split(cut, ends):
                    chance *= 1 - _count(part) / len(part)
        return chances[0], chances[1], chances[2]

    def _cuts(self, rectangles: np.ndarray, place: np.ndarray) -> np.ndarray:
        return self._shadows.cast(rectangles, place).reshape(len(rectangles), -1)[:, self._active]

    def _likelihoods(self, observation: Observation) -> tuple[np.ndarray, np.ndarray]:
        """Return the likelihoods of a count where visible (cells, rates) and hidden (rates).

        They are relative to the greatest of all. The variance of Poisson is made wider by what a cell and a
        step of the intensity leave open.
        """
        squares = np.maximum(((PLACES[self._active] - observation.place) ** 2).sum(axis=1), (CELL / 2) ** 2)
        squares = squares[:, None].astype(np.float32)
        signal = _RATE_INTENSITY / squares
        rate = signal + _RATE_BACKGROUND
        temper = rate / (rate + (_GRID_SPREAD**2 + CELL**2 / 3 / squares) * signal**2)
        visible = temper * _log_poisson(observation.reading, rate) + np.float32(0.5) * np.log(temper)
        hidden = _log_poisson(observation.reading, _RATE_BACKGROUND)
        most = max(visible.max(), hidden.max())
        return np.maximum(np.exp(visible - most), _MIN_LIKELIHOOD), np.maximum(
            np.exp(hidden - most), _MIN_LIKELIHOOD
        )

    def _exclude(self, place: np.ndarray) -> bool:
        """Remove cells at which the search would have been solved; return whether any is left."""
        close = np.abs(PLACES[self._active] - place).max(axis=1) < REACH + CELL
        near = np.linalg.norm(PLACES[self._active[close], None] + _PARTS - place, axis=2) < REACH
        left = np.ones(len(close), np.float32)
        hidden = is_hidden(self.walls.likely, place, PLACES[self._active[close]])
        left[close] = np.where(hidden, 1.0, 1 - near.mean(axis=1))
        self._weights *= left[:, None]
        return self._normalise()

    def _normalise(self) -> bool:
        mass = self._masses()
        total = mass.sum()
        if not total > 1e-20:
            return False
        self._weights *= 1 / total
        keep = mass > _MIN_MASS * total
        if keep.mean() < 0.9:
            self._active, self._weights = self._active[keep], self._weights[:, :, keep]
        return True

    def _masses(self) -> np.ndarray:
        return (self._weights @ np.ones(_NUM_RATES, np.float32)).sum(axis=(0, 1))

    def cells(self) -> Cells:
        """Return the weights of all cells that are left, and means of the rest given them."""
        either = self._weights.sum(axis=(0, 1))
        moments = either @ _MOMENTS
        mass = moments[:, 0] + 1e-30
        intensity = moments[:, 1] / mass
        spread = np.sqrt(np.maximum(moments[:, 2] / mass - intensity**2, 0))
        visible = (self._weights[0] @ np.ones(_NUM_RATES, np.float32)).sum(axis=0) / mass
        places = PLACES[self._active]
        free = mass * _free(places, self.walls)
        free = free / free.sum() if free.sum() > 0 else mass / mass.sum()
        return Cells(places, free, 1e6 * intensity, 1e6 * spread, moments[:, 3] / mass, visible)


def _covers(rectangles: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return which places each rectangle covers (n, places)."""
    places = places.reshape(-1, 2)
    inside = (places > rectangles[:, None, :2]) & (places < rectangles[:, None, 2:])
    return np.asarray(inside.all(axis=-1))


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
    return np.float32(count) * np.log(rates / np.float32(max(count, 1))) - rates + np.float32(count)
