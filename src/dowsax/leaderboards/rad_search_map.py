"""What ranges tell of unknown walls: draws of every wall that was met, and of those that were not."""

from typing import NamedTuple

import numpy as np

from dowsax.leaderboards.rad_search import AREA, REACH, WALL_CORNERS, WALL_SIDES, Observation, overlaps
from dowsax.leaderboards.rad_search_walls import DIRECTIONS, RAYS, Rectangles, crossings

NUM_UNSEEN = 200
"""Draws of walls that were not met."""
NUM_DRAWS = 12
"""Of each wall that was met."""
_NUM_TRIALS, _NUM_TRIES = 400, 4
_TOLERANCE = 0.5
"""[cm], of ranges."""
_LOW, _HIGH = (0, 1), (2, 3)


class Rays(NamedTuple):
    """Lines of ranges so far."""

    starts: np.ndarray
    directions: np.ndarray
    """Their numbers (n,)."""
    lengths: np.ndarray
    """[cm], infinite where no wall was met."""

    def select(self, chosen: np.ndarray) -> "Rays":
        return Rays(*(part[chosen] for part in self))

    def join(self, other: "Rays") -> "Rays":
        return Rays(*(np.concatenate(parts) for parts in zip(self, other, strict=True)))

    @property
    def ends(self) -> np.ndarray:
        """Return where they end, [cm] (n, 2)."""
        return self.starts + np.minimum(self.lengths, REACH)[:, None] * RAYS[self.directions]


NO_RAYS = Rays(np.zeros((0, 2)), np.zeros(0, int), np.zeros(0))


class Wall(NamedTuple):
    """A wall that was met."""

    hits: Rays
    draws: Rectangles
    """That agree with all ranges."""


class WallMap:
    """The walls as far as ranges tell. Where walls are known, there is one draw each and none unseen."""

    def __init__(self, random: np.random.Generator, known: Rectangles | None = None) -> None:
        self._random = random
        self.is_known = known is not None
        self.walls: list[Wall] = []
        self.rays = NO_RAYS
        self.version = 0
        """Changes whenever draws of a wall that was met do."""
        corners = random.uniform(*WALL_CORNERS, (NUM_UNSEEN, 2))
        self.unseen: Rectangles = np.concatenate(
            [corners, corners + random.uniform(*WALL_SIDES, (NUM_UNSEEN, 2))], 1
        )
        self.is_possible = np.ones(NUM_UNSEEN, bool)
        """Which of the unseen agree with all ranges."""
        if known is not None:
            self.walls = [Wall(NO_RAYS, wall[None]) for wall in known]
            self.is_possible[:] = False

    @property
    def likely(self) -> Rectangles:
        """Return one rectangle for each wall that was met: the medians of its sides."""
        if not self.walls:
            return np.zeros((0, 4))
        return np.stack([np.median(wall.draws, axis=0) for wall in self.walls])

    def update(self, observation: Observation) -> None:
        """Assimilate the ranges of one place."""
        if self.is_known:
            return
        new = Rays(np.repeat(observation.place[None], 8, axis=0), np.arange(8), observation.ranges)
        self.rays = self.rays.join(new)
        self.is_possible &= _agrees(self.unseen, new)
        for number, wall in enumerate(self.walls):
            agrees = _agrees(wall.draws, new)
            if not agrees.all():
                self.version += 1
                self.walls[number] = self._refresh(Wall(wall.hits, wall.draws[agrees]), wall)
        # Of straight lines the side is plain, so that they come before diagonal ones.
        met = np.flatnonzero(np.isfinite(new.lengths))
        for number in sorted(met, key=lambda direction: direction % 2):
            self._attach(new.select(np.array([number])))
        for wall in self.walls:
            core = np.concatenate([wall.draws[:, :2].max(axis=0), wall.draws[:, 2:].min(axis=0)])
            self.is_possible &= ~overlaps(self.unseen, core)

    def _refresh(self, wall: Wall, before: Wall) -> Wall:
        """Draw again where few draws are left; keep those from before where there are none."""
        if len(wall.draws) >= NUM_DRAWS // 2:
            return wall
        draws = self._draw(wall.hits)
        return Wall(wall.hits, draws) if len(draws) else wall if len(wall.draws) else before

    def _attach(self, hit: Rays) -> None:
        """Add a hit to the wall it belongs to, or to a new one."""
        for number, wall in enumerate(self.walls):
            if _met_at(wall.draws, hit).all():
                # Already explained: nothing new.
                self.walls[number] = Wall(wall.hits.join(hit), wall.draws)
                return
        self.version += 1
        for number, wall in enumerate(self.walls):
            if not _may_belong(wall, hit):
                continue
            joined = wall.hits.join(hit)
            draws = self._draw(joined)
            if len(draws):
                self.walls[number] = Wall(joined, draws)
                return
        draws = self._draw(hit)
        if len(draws):
            self.walls.append(Wall(hit, draws))

    def _draw(self, hits: Rays) -> Rectangles:
        """Return draws of a wall that was met by these rays and by no others."""
        points = hits.ends
        near = (
            np.abs(self.rays.starts[:, None] - points[None]).max(axis=-1).min(axis=1) < WALL_SIDES[1] + REACH
        )
        rays, kept = self.rays.select(near), np.zeros((0, 4))
        for _ in range(_NUM_TRIES):
            draws = _propose(self._random, hits, points)
            draws = draws[_met_at(draws, hits)]
            draws = draws[_agrees(draws, rays)]
            kept = np.concatenate([kept, draws])
            if len(kept) >= NUM_DRAWS:
                break
        return kept[:NUM_DRAWS]


def _propose(random: np.random.Generator, hits: Rays, points: np.ndarray) -> Rectangles:
    """Return rectangles around the points, with sides where straight hits, or some diagonal ones, say."""
    sides = np.full((_NUM_TRIALS, 4), np.nan)
    # Straight hits last, so that theirs count.
    for index in sorted(range(len(points)), key=lambda one: -(hits.directions[one] % 2)):
        step = DIRECTIONS[hits.directions[index]]
        if np.abs(step).sum() == 1:
            axis = int(np.argmax(np.abs(step)))
            sides[:, axis if step[axis] > 0 else 2 + axis] = points[index, axis]
            continue
        axes = random.integers(0, 2, _NUM_TRIALS)
        columns = np.where(step[axes] > 0, axes, 2 + axes)
        # A side that another hit gave already stays.
        rows = np.arange(_NUM_TRIALS)
        is_free = np.isnan(sides[rows, columns])
        sides[rows[is_free], columns[is_free]] = points[index, axes[is_free]]
    for axis in (0, 1):
        low, high = sides[:, axis], sides[:, 2 + axis]
        extents = random.uniform(*WALL_SIDES, _NUM_TRIALS)
        inner, outer = points[:, axis].min(), points[:, axis].max()
        first = random.uniform(size=_NUM_TRIALS) * (inner - outer + extents) + outer - extents
        is_low, is_high = ~np.isnan(low), ~np.isnan(high)
        sides[:, axis] = np.where(is_low, low, np.where(is_high, high - extents, first))
        sides[:, 2 + axis] = np.where(is_high, high, sides[:, axis] + extents)
    extents = sides[:, 2:] - sides[:, :2]
    is_size = (extents >= WALL_SIDES[0] - _TOLERANCE) & (extents <= WALL_SIDES[1] + _TOLERANCE)
    is_here = (sides[:, :2] >= AREA[0] - _TOLERANCE) & (sides[:, :2] <= WALL_CORNERS[1] + _TOLERANCE)
    return sides[(is_size & is_here).all(axis=1)]


def _entries(draws: Rectangles, rays: Rays) -> np.ndarray:
    """Return after how many cm rays of full length enter rectangles (n, rays); infinite where they do not."""
    enters, _, meets = crossings(draws[:, None], rays.starts, rays.starts + REACH * RAYS[rays.directions])
    return np.where(meets, REACH * enters, np.inf)


def _met_at(draws: Rectangles, hits: Rays) -> np.ndarray:
    """Return which rectangles all hits meet where they say."""
    return np.asarray((np.abs(_entries(draws, hits) - hits.lengths) < _TOLERANCE).all(axis=1))


def _agrees(draws: Rectangles, rays: Rays) -> np.ndarray:
    """Return which rectangles no ray enters before its end."""
    return np.asarray((_entries(draws, rays) > np.minimum(rays.lengths, REACH) - _TOLERANCE).all(axis=1))


def _may_belong(wall: Wall, hit: Rays) -> bool:
    """Return whether one wall is large enough for its hits and another one."""
    points = np.concatenate([wall.hits.ends, hit.ends])
    return bool((np.ptp(points, axis=0) <= WALL_SIDES[1] + _TOLERANCE).all())
