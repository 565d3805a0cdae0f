"""Olfactory search, a public task of Loisy and Heinonen (2023): its four cases.

A searcher on a grid of cells steps west, east, south or north, reads the number of hits there, and has found
the source when it stands in its cell.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.special import k0
from scipy.stats import poisson


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

    @property
    def slug(self) -> str:
        """The name as a word for files and options."""
        return self.name.replace(", ", "-").replace(" ", "-")

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
