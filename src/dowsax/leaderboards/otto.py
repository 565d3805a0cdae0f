"""Olfactory search, a public task of Loisy and Heinonen (2023): its cases, worlds and beliefs on a grid.

A searcher on a grid of cells steps north, south, east or west, reads the number of hits there, and has found
the source when it stands in its cell. Searches run side by side. The source is not drawn: a search goes on
until it would have found the source wherever that is, and hits are drawn from what the belief predicts. So
the mean time to find is the sum of the probabilities of not having found it yet, the tail included.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy.special import k0
from scipy.stats import poisson

MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
DONE = 1e-6
"""A search ends when the source would have been found but for this probability."""
_TINY = 1e-10
_STUCK = 8
"""Steps to and fro in turn, more of which end a search in a case in which it may get stuck."""


@dataclass(frozen=True)
class Case:
    """One of the four worlds."""

    name: str
    shape: tuple[int, int]
    start: tuple[int, int]
    num_hits: int
    """The number of different readings: this many less one, and all above."""
    mean_hits: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """Of the offset of the searcher from the source, in cells."""
    max_steps: int
    may_get_stuck: bool
    """Whether a search ends, without success, that goes to and fro."""

    @cached_property
    def table(self) -> Float[np.ndarray, "hits columns rows"]:
        """The probability of each reading, by the offset of the source from the searcher."""
        east, north = (np.arange(1 - number, number) for number in self.shape)
        here = np.zeros((2 * self.shape[0] - 1, 2 * self.shape[1] - 1))
        away = (east[:, None] != 0) | (north[None, :] != 0)
        here[away] = self.mean_hits(
            -(east[:, None] + 0.0 * north)[away], -(north + 0.0 * east[:, None])[away]
        )
        table = np.stack([poisson.pmf(hits, here) for hits in range(self.num_hits - 1)])
        table = np.concatenate([table, 1 - table.sum(axis=0, keepdims=True)])
        # In the cell of the source nothing is read: the search is over.
        return np.where(away, table, 0.0)

    @cached_property
    def first_hits(self) -> Float[np.ndarray, " hits"]:
        """The probabilities of the reading before the first step, which is at least one hit.

        As if the source could be anywhere on an endless plane, in rings of a cell.
        """
        if self.num_hits == 2:
            return np.array([0.0, 1.0])
        radii = np.arange(1, 1000 * self.shape[0])
        means = self.mean_hits(radii.astype(float), np.zeros(len(radii)))
        hits = np.stack([poisson.pmf(number, means) for number in range(self.num_hits - 1)])
        hits = np.concatenate([hits, 1 - hits.sum(axis=0, keepdims=True)]) @ (2 * np.pi * radii)
        hits[0] = 0.0
        return hits / hits.sum()


def _isotropic(name: str, side: int, length: float, rate: float) -> Case:
    """Return a case without wind: hits at a mean rate of K₀ of the distance over a length [cells]."""

    def mean_hits(east: np.ndarray, north: np.ndarray) -> np.ndarray:
        return rate / math.log(2 * length) * k0(np.hypot(east, north) / length)

    nearest = float(mean_hits(np.ones(1), np.zeros(1))[0])
    num_hits = math.ceil(nearest + math.sqrt(nearest)) + 1
    at_length = rate / math.log(2 * length) * float(k0(1.0))
    max_steps = round(500 * length / min(1.0, math.sqrt(at_length)))
    return Case(name, (side, side), (side // 2, side // 2), num_hits, mean_hits, max_steps, True)


def _windy(name: str, rate: float, speed: float = 2.0, lifetime: float = 150.0) -> Case:
    """Return a case with wind along the first axis: at most one hit a step is counted."""
    length = math.sqrt(lifetime / speed**2 / (1 + lifetime / 4))

    def mean_hits(east: np.ndarray, north: np.ndarray) -> np.ndarray:
        distance = np.hypot(east, north)
        return rate / distance * np.exp(0.5 * speed * east - distance / length)

    return Case(name, (81, 41), (65, 20), 2, mean_hits, 10_000, False)


CASES = (
    _isotropic("isotropic 19x19", 19, 1.0, 1.0),
    _isotropic("isotropic 53x53", 53, 3.0, 2.0),
    _windy("windy, medium", 2.5),
    _windy("windy, low", 0.25),
)

Beliefs = Float[np.ndarray, "n nx ny"]
Places = Int[np.ndarray, "n 2"]


@dataclass(frozen=True)
class After:
    """What may come of each move, of every search."""

    possible: np.ndarray
    """(n, 4), whether the move stays on the grid."""
    places: np.ndarray
    """(n, 4, 2)"""
    found: np.ndarray
    """(n, 4), the probability that the source is there."""
    joint: np.ndarray
    """(n, 4, hits, nx, ny), of each reading and cell of the source, given that it is not there."""


Policy = Callable[[Case, Beliefs, Places, After], np.ndarray]
"""Returns (n, 4) what each move costs; the smallest is chosen, and of equal ones the first."""


def look_ahead(case: Case, beliefs: Beliefs, places: Places) -> After:
    """Return what may come of each move."""
    there = places[:, None] + MOVES
    possible = np.all((there >= 0) & (there < case.shape), axis=2)
    there = np.clip(there, 0, np.array(case.shape) - 1)
    numbers = np.arange(len(places))[:, None]
    found = beliefs[numbers, there[..., 0], there[..., 1]]
    joint = beliefs[:, None, None] * evidence(case, there)
    rest = np.maximum(1 - found, _TINY)
    return After(possible, there, found, joint / rest[:, :, None, None, None])


def evidence(case: Case, places: np.ndarray) -> np.ndarray:
    """Return (…, hits, nx, ny) the likelihoods of every reading at these places; 0 for a source there."""
    (width, height), flat = case.shape, places.reshape(-1, 2)
    columns = width - 1 - flat[:, :1] + np.arange(width)
    rows = height - 1 - flat[:, 1:] + np.arange(height)
    found = case.table[:, columns[:, :, None], rows[:, None, :]]
    return np.moveaxis(found, 0, 1).reshape(*places.shape[:-1], case.num_hits, width, height)


@dataclass(frozen=True)
class Searches:
    """What came of many searches."""

    means: Float[np.ndarray, " n"]
    """The mean steps to find the source, in each."""
    failed: np.ndarray
    """(n,), whether it did not end with the source found."""


def search(
    case: Case,
    policy: Policy,
    searches: int,
    generator: np.random.Generator,
    advance: Callable[[int], None] = lambda number: None,
) -> Searches:
    """Run searches side by side; `advance` is called with the number of those that have ended."""
    places = np.tile(case.start, (searches, 1))
    beliefs = np.full((searches, *case.shape), 1.0)
    hits = generator.choice(case.num_hits, size=searches, p=case.first_hits)
    beliefs *= evidence(case, places)[np.arange(searches), hits]
    beliefs /= beliefs.sum(axis=(1, 2), keepdims=True)
    means, open_, failed = np.zeros(searches), np.ones(searches), np.zeros(searches, bool)
    running, visits = np.arange(searches), np.zeros(searches, int)
    before, earlier = places - 1, places - 2
    for _ in range(case.max_steps):
        after = look_ahead(case, beliefs, places)
        costs = np.where(after.possible, policy(case, beliefs, places, after), np.inf)
        numbers, moves = np.arange(len(running)), np.argmin(costs, axis=1)
        earlier, before, places = before, places, after.places[numbers, moves]
        joint, found = after.joint[numbers, moves], after.found[numbers, moves]
        means[running] += open_[running]
        open_[running] *= 1 - found
        chances = joint.sum(axis=(2, 3))
        drawn = (generator.random(len(running))[:, None] * chances.sum(axis=1, keepdims=True)) > np.cumsum(
            chances, axis=1
        )
        hits = np.minimum(drawn.sum(axis=1), case.num_hits - 1)
        beliefs = joint[numbers, hits]
        totals = beliefs.sum(axis=(1, 2), keepdims=True)
        beliefs = beliefs / np.maximum(totals, 1e-300)
        visits = np.where((places == earlier).all(axis=1), visits + 1, 0)
        is_stuck = case.may_get_stuck & (visits > _STUCK)
        is_done = (open_[running] < DONE) | (found > 1 - _TINY) | (totals[:, 0, 0] < _TINY)
        failed[running[is_stuck & ~is_done]] = True
        goes_on = ~(is_done | is_stuck)
        advance(int((~goes_on).sum()))
        running, visits = running[goes_on], visits[goes_on]
        beliefs, places, before, earlier = (part[goes_on] for part in (beliefs, places, before, earlier))
        if len(running) == 0:
            break
    failed[running] = True
    advance(len(running))
    return Searches(means, failed)
