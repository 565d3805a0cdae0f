"""Pools of readings that were taken once and are chosen from again, and the orders that no belief decides.

Prairie Grass and Napa: any sampler not yet read may be next. METEC: every five minutes one of the sensors is
read, and what the others had to say then is lost.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from benchmarks import real_sets
from benchmarks.real_sets import Case
from dowsax.inference.redundancy import with_redundancy
from dowsax.world import Model

ANY_TURN = -1
MAX_READINGS = 512
"""At each turn all that are left are looked at."""
REDUNDANCY = 4.0
"""How many samplers side by side count as one."""
_SAME_PLACE = 1e-6
"""[rad], directions this near to each other are the same one."""


class Pool(NamedTuple):
    """The readings of one survey, to choose from."""

    case: Case
    turns: np.ndarray
    """(k,): the turn at which each reading can be had, or `ANY_TURN`."""
    model: Model
    """Of the readings that are chosen."""
    whole: Model
    """Of all of them together."""

    @property
    def num_turns(self) -> int:
        """How many readings can be chosen."""
        return len(self.turns) if self.turns[0] == ANY_TURN else int(self.turns.max()) + 1

    def available(self, read: np.ndarray, turn: int) -> np.ndarray:
        """Which readings (k,) can be had at this turn."""
        return ~read & ((self.turns == ANY_TURN) | (self.turns == turn))


def samplers(case: Case) -> Pool:
    """Each sampler can be read once, at any time. Neighbours err together."""
    turns, model = np.full(len(case.values), ANY_TURN, np.int32), with_redundancy(case.model, REDUNDANCY)
    return Pool(case, turns, model, model)


def prairie(data: Path) -> Iterator[Pool]:
    """The runs of which the wind was measured: without it a sampler to be read has no place in the plume.

    Of few samplers, those at the edge do not outweigh the others: it is taken as the model has it.
    """
    cases = real_sets.prairie(data, edge=0.0)
    return (samplers(case) for case in cases if case.stations.wind is not None)


def napa(data: Path) -> Iterator[Pool]:
    return map(samplers, real_sets.napa(data))


def metec(data: Path) -> Iterator[Pool]:
    """One sensor every five minutes. So few readings of different sensors hardly err together."""
    for case in real_sets.metec(data):
        fewer = _fewer(case)
        # The fewer are chosen, the fewer err together.
        count = float(max(1, round(REDUNDANCY * len(fewer.values) / len(case.values))))
        yield Pool(fewer, _turns(fewer), case.model, with_redundancy(case.model, count))


def _fewer(case: Case) -> Case:
    """The case with at most so many of its readings, which are in random order."""
    return case._replace(
        stations=jax.tree.map(lambda leaf: leaf[:MAX_READINGS], case.stations),
        values=case.values[:MAX_READINGS],
    )


def _turns(case: Case) -> np.ndarray:
    """The five minutes of each reading, numbered without gaps."""
    assert case.stations.time is not None
    # Times of a block lie about its middle, where some minutes are missing.
    blocks = np.rint(np.asarray(case.stations.time) / real_sets.BLOCK)
    _, turns = np.unique(blocks, return_inverse=True)
    return turns.astype(np.int32)


SETS: dict[str, Callable[[Path], Iterator[Pool]]] = {"prairie": prairie, "metec": metec, "napa": napa}


def random_picks(pool: Pool, generator: np.random.Generator) -> np.ndarray:
    """(turns,): any reading that can be had, each as likely as the others."""
    return _walk(pool, generator.choice)


def going_round(pool: Pool, generator: np.random.Generator) -> np.ndarray:
    """(turns,): always the next one by its direction from the middle of all places; the start is random."""
    places = np.asarray(pool.case.stations.position, np.float64)
    offsets = places - (places.min(axis=0) + places.max(axis=0)) / 2
    angles = np.arctan2(offsets[:, 1], offsets[:, 0])
    facing = generator.uniform(-math.pi, math.pi)

    def next_one(there: np.ndarray) -> int:
        nonlocal facing
        turned = (angles[there] - facing) % (2 * math.pi)
        # Whoever is just here has had its turn: it comes last.
        chosen = int(there[np.where(turned < _SAME_PLACE, 2 * math.pi, turned).argmin()])
        facing = angles[chosen]
        return chosen

    return _walk(pool, next_one)


def _walk(pool: Pool, choose: Callable[[np.ndarray], int]) -> np.ndarray:
    read = np.zeros(len(pool.turns), bool)
    order = np.zeros(pool.num_turns, np.int32)
    for turn in range(pool.num_turns):
        order[turn] = choose(np.flatnonzero(pool.available(read, turn)))
        read[order[turn]] = True
    return order
