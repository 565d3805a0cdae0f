"""Pools of readings that were taken once and are chosen from again, and the orders that no belief decides.

Prairie Grass and Napa: any sampler not yet read may be next. METEC: every five minutes one of the sensors is
read, and what the others had to say then is lost.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import real_sets
from benchmarks.real_sets import Case
from dowsax.world import Model
from dowsax.world.sensors.redundant import Redundant

ANY_TURN = -1
_SAME_PLACE = 1e-6
"""[rad], directions this near to each other are the same one."""


class Pool(NamedTuple):
    """The readings of one survey, to choose from."""

    case: Case
    turns: np.ndarray
    """(k,): the turn at which each reading can be had, or `ANY_TURN`."""
    model: Model
    """Of the readings that are chosen; that of the case is for all of them together."""

    @property
    def num_turns(self) -> int:
        """How many readings can be chosen."""
        return len(self.turns) if self.turns[0] == ANY_TURN else int(self.turns.max()) + 1

    def available(self, read: np.ndarray, turn: int) -> np.ndarray:
        """Which readings (k,) can be had at this turn."""
        return ~read & ((self.turns == ANY_TURN) | (self.turns == turn))


def samplers(case: Case) -> Pool:
    """Each sampler can be read once, at any time."""
    return Pool(case, np.full(len(case.values), ANY_TURN, np.int32), case.model)


def prairie(data: Path) -> Iterator[Pool]:
    """The runs of which the wind was measured: without it a sampler to be read has no place in the plume."""
    return (samplers(case) for case in real_sets.prairie(data) if case.stations.wind is not None)


def napa(data: Path) -> Iterator[Pool]:
    return map(samplers, real_sets.napa(data))


def metec(data: Path) -> Iterator[Pool]:
    """One sensor every five minutes. So few readings of different sensors hardly err together."""
    blocks = _blocks(data)
    for case in real_sets.metec(data):
        assert isinstance(case.model.sensor, Redundant)
        alone = Model(case.model.prior, case.model.field, case.model.sensor.sensor)
        yield Pool(case, _turns(case, blocks[case.name]), alone)


def _blocks(data: Path) -> dict[str, dict[tuple, int]]:
    """The five minutes in which a sensor of an event had this wind: the cases themselves keep no time."""
    found: dict[str, dict[tuple, int]] = {}
    for name, rows in real_sets._groups(real_sets._rows(data, "metec_ch4"), "event").items():
        table = real_sets._columns(rows, "x_m", "y_m", "z_m", "value", "wind_u", "wind_v", "t_min")
        sensors = sorted({row["sensor"] for row in rows})
        numbers = np.array([sensors.index(row["sensor"]) for row in rows])
        kept = np.isfinite(table).all(axis=1)
        start = table[kept, -1].min()
        table, numbers = real_sets._block_means(table[kept], numbers[kept], 5.0)
        winds, blocks = table[:, 4:6].astype(np.float32), np.floor((table[:, -1] - start) / 5.0)
        found[name] = {
            _signature(*key): int(block) for *key, block in zip(numbers, winds, blocks, strict=True)
        }
    return found


def _turns(case: Case, blocks: dict[tuple, int]) -> np.ndarray:
    """The five minutes of each reading, numbered without gaps."""
    sensors, winds = np.asarray(case.stations.sensor), np.asarray(case.stations.wind)
    at = [blocks[_signature(number, wind)] for number, wind in zip(sensors, winds, strict=True)]
    _, turns = np.unique(at, return_inverse=True)
    return turns.astype(np.int32)


def _signature(sensor: int, wind: np.ndarray) -> tuple:
    return int(sensor), float(wind[0]), float(wind[1])


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
