"""RAD-Search: a detector of counts looks for a source among walls (Proctor et al. 2021, RAD-A2C).

The detector moves 100 cm along an axis or (71, 71) cm diagonally. A reading at distance d [cm] of the source
is Poisson(I / d² + B), and Poisson(B) where a wall stands between. Besides it the detector has the ranges to
the nearest wall in its eight directions, when nearer than 110 cm. The search is solved when the shortest way
to the source is below 110 cm.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dowsax.leaderboards.rad_search_walls import MOVES, Rectangles, Ways, contains, is_hidden, ranges

SIZE = 2700.0
"""[cm], of the world's side."""
AREA = (200.0, 2200.0)
"""[cm], in both coordinates, where source and start are."""
INTENSITIES = (1e6, 1e7)
"""[cm²]"""
BACKGROUNDS = (10.0, 50.0)
MIN_START_DISTANCE = 1000.0
"""[cm], between source and start."""
MAX_DISTANCE = 2**0.5 * (AREA[1] - AREA[0])
REACH = 110.0
"""[cm], of ranges, and the way to the source at which the search is solved."""
MAX_READINGS = 120
WALL_CORNERS, WALL_SIDES = (200.0, 1980.0), (200.0, 500.0)
"""[cm], in both coordinates, where low corners of walls are and how long sides are."""
MAX_WALLS = 7
SIGNAL_TO_NOISE = {"low": (1.0, 1.2), "med": (1.2, 1.6), "high": (1.6, 2.0)}
"""Expected reading at the start, as if no wall stood between, over the background."""
_QUARTERS, _PAIRS = 4, 20_000
_RETRIES = 20
"""Sources that are drawn again because no wall hides them from the start."""


class World(NamedTuple):
    """One search problem; lengths in cm."""

    source: np.ndarray
    start: np.ndarray
    intensity: float
    background: float
    walls: Rectangles


class Observation(NamedTuple):
    """What the detector observes."""

    place: np.ndarray
    """[cm]"""
    reading: int
    ranges: np.ndarray
    """[cm] to the nearest wall in each direction; infinite from 110 cm on."""


class Search:
    """One search by the rules. The reading at the start is free; each move, made or not, costs one."""

    def __init__(self, world: World, random: np.random.Generator) -> None:
        self.world = world
        self.place = world.start.copy()
        self.readings = 0
        self._random = random
        self._ways = Ways(world.walls)
        self._from_corners = self._ways.from_corners(world.source[None])

    @property
    def way(self) -> float:
        """Return the length of the shortest way to the source [cm]."""
        return float(self._ways.lengths(self.place[None], self.world.source[None], self._from_corners)[0, 0])

    @property
    def is_solved(self) -> bool:
        return self.way < REACH

    @property
    def is_over(self) -> bool:
        return self.readings >= MAX_READINGS or self.is_solved

    def observe(self) -> Observation:
        """Read the count and the ranges."""
        world = self.world
        rate = world.background
        if not is_hidden(world.walls, self.place, world.source):
            rate += world.intensity / max(float(((self.place - world.source) ** 2).sum()), 1.0)
        count = int(self._random.poisson(rate))
        return Observation(self.place.copy(), count, ranges(world.walls, self.place, REACH))

    def step(self, move: int) -> Observation:
        """Move in one of the eight directions, unless into a wall or out of the world, and read."""
        target = self.place + MOVES[move]
        if (target >= 0).all() and (target <= SIZE).all() and not contains(self.world.walls, target):
            self.place = target
        self.readings += 1
        return self.observe()


def least_readings(world: World) -> float:
    """Return the number of moves of 100 cm on the shortest way until the source is nearer than 110 cm."""
    way = Ways(world.walls).lengths(world.start[None], world.source[None])[0, 0]
    return max(1.0, float(np.ceil((way - REACH) / 100.0)))


def draw_world(random: np.random.Generator, num_walls: int, signal_to_noise: str | None = None) -> World:
    """Draw a world as those of the benchmark are drawn.

    Walls do not overlap. The source is drawn until a wall hides it from the start, up to 20 times. Quarters
    of the range of a signal-to-noise ratio are equally likely.
    """
    low, high = 1.0, np.inf
    if signal_to_noise is not None:
        low, high = SIGNAL_TO_NOISE[signal_to_noise]
        edges = np.linspace(low, high, _QUARTERS + 1)
        quarter = random.integers(_QUARTERS)
        low, high = edges[quarter], edges[quarter + 1]
    intensities = random.integers(int(INTENSITIES[0]), int(INTENSITIES[1]), _PAIRS)
    backgrounds = random.integers(int(BACKGROUNDS[0]), int(BACKGROUNDS[1]) + 1, _PAIRS)
    brightness = np.sort(intensities / backgrounds)

    def share(distance: float) -> float:
        """Return how often a pair gives such a ratio."""
        least, most = np.searchsorted(brightness, np.array([low - 1, high - 1]) * distance**2)
        return (most - least) / _PAIRS

    most = max(share(float(distance)) for distance in np.linspace(MIN_START_DISTANCE, MAX_DISTANCE, 100))
    while True:
        walls = _draw_walls(random, num_walls)
        start = _draw_outside(random, walls)
        source = _draw_source(random, walls, start)
        distance = float(np.linalg.norm(source - start))
        # Places are as likely as they let such ratios be.
        if random.random() * most < share(distance):
            ratios = 1 + intensities / distance**2 / backgrounds
            pair = random.choice(np.flatnonzero((ratios >= low) & (ratios < high)))
            return World(source, start, float(intensities[pair]), float(backgrounds[pair]), walls)


def _draw_walls(random: np.random.Generator, number: int) -> Rectangles:
    walls = np.zeros((0, 4))
    while len(walls) < number:
        corner, sides = _integers(random, WALL_CORNERS), _integers(random, WALL_SIDES)
        wall = np.concatenate([corner, corner + sides])
        if not overlaps(walls, wall).any():
            walls = np.concatenate([walls, wall[None]])
    return walls


def _integers(random: np.random.Generator, limits: tuple[float, float]) -> np.ndarray:
    """Return two whole numbers within limits, the upper one excluded."""
    return random.integers(int(limits[0]), int(limits[1]), 2).astype(float)


def overlaps(walls: np.ndarray, wall: np.ndarray) -> np.ndarray:
    """Return which of the walls (..., 4) meet another one."""
    return np.asarray(((walls[..., :2] <= wall[2:]) & (walls[..., 2:] >= wall[:2])).all(axis=-1))


def _draw_outside(random: np.random.Generator, walls: Rectangles) -> np.ndarray:
    while True:
        place = _integers(random, AREA)
        if not contains(walls, place):
            return place


def _draw_source(random: np.random.Generator, walls: Rectangles, start: np.ndarray) -> np.ndarray:
    retries = 0
    while True:
        source = _integers(random, AREA)
        if ((source - start) ** 2).sum() < MIN_START_DISTANCE**2:
            continue
        is_inside = bool(contains(walls, source))
        is_enough = not len(walls) or retries > _RETRIES or bool(is_hidden(walls, start, source))
        if is_enough and not is_inside:
            return source
        retries += 1


def read_worlds(path: Path) -> list[World]:
    """Return the worlds of a file."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: cannot be read as JSON: {error}. Give a file of worlds.") from None
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"{path}: must be a list of at least one world.")
    return [_parse(path, number, entry) for number, entry in enumerate(entries)]


def _parse(path: Path, number: int, entry: Any) -> World:
    try:
        source, start = (_place(entry[key]) for key in ("source", "start"))
        intensity, background = float(entry["intensity"]), float(entry["background"])
        walls = np.array([_rectangle(ring) for ring in entry["walls"]]).reshape(-1, 4)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(
            f"{path}: world {number}: {reason}; a world has source, start, intensity, background and walls."
        ) from None
    if not (intensity > 0 and background > 0 and np.isfinite([intensity, background]).all()):
        raise ValueError(f"{path}: world {number}: intensity and background must be finite and > 0.")
    if contains(walls, np.stack([source, start])).any():
        raise ValueError(f"{path}: world {number}: source and start must lie outside the walls.")
    return World(source, start, intensity, background, walls)


def _place(value: Any) -> np.ndarray:
    place = np.asarray(value, float)
    if place.shape != (2,) or not ((place >= 0) & (place <= SIZE)).all():
        raise ValueError(f"a place must be two numbers within 0 and {SIZE:g} cm; got {value!r}")
    return place


def _rectangle(ring: Sequence[Any]) -> np.ndarray:
    corners = np.asarray(ring, float)
    if corners.shape != (4, 2):
        raise ValueError("a wall must be a ring of four corners")
    low, high = corners.min(axis=0), corners.max(axis=0)
    is_at_low, is_at_high = corners == low, corners == high
    turns = (corners != np.roll(corners, 1, axis=0)).sum(axis=1)
    if not (is_at_low | is_at_high).all() or not (low < high).all() or not (turns == 1).all():
        raise ValueError("a wall must be a rectangle along the axes")
    return np.concatenate([low, high])
