"""Many searches on an accelerator, each at its own pace.

Most readings are taken in at once, some need the particles refreshed several times, and a few searches go
on long after the others have stopped: in step, all would wait for the slowest. So they wait in a pool, and
groups are served that need the same thing next: a decision and a reading, or their particles refreshed.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from dowsax.envs import Search, Taking
from dowsax.evaluate.search_steps import Keys, decide, over, prepare, somewhere, step_keys, traced
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode, Row, row
from dowsax.policies import Informed, Policy
from dowsax.types import Key, Position, Theta

# Particles in a group. Half as many took 3 to 29 % longer for 1,000 searches on an H200; more were not tried.
_PARTICLES_A_GROUP = 2**20
_SMALLEST_GROUP = 8


class Served(NamedTuple):
    """What a group gets: readings under way, which of them are taken in, and the rows of those."""

    takings: Taking
    finished: Bool[Array, "*batch"]
    row: Row
    theta: Theta


def served(search: Search, taking: Taking) -> Served:
    """The row means something only once the reading has been taken in."""
    state, info = search.taken(taking)
    return Served(taking, ~taking.stage.is_degenerate, row(state, info), taking.theta)


def start(search: Search, key: Key) -> Served:
    """The reading at the start of a search."""
    state = prepare(search, key)
    _, take_key = step_keys(key, state)
    return served(search, search.begin_taking(take_key, state, state.station.position))


def choose(search: Search, policy: Policy | Informed, key: Key, taking: Taking) -> Position:
    """Where the policy goes after a reading."""
    return decide(search, policy, key, search.taken(taking)[0])


def read(search: Search, key: Key, taking: Taking, position: Position) -> Served:
    """The next reading."""
    state, _ = search.taken(taking)
    _, take_key = step_keys(key, state)
    return served(search, search.begin_taking(take_key, state, position))


def refresh(search: Search, taking: Taking) -> Served:
    """One more stage of a reading under way."""
    return served(search, search.refresh(taking))


START = eqx.filter_jit(eqx.filter_vmap(start, in_axes=(None, 0)))
CHOOSE = eqx.filter_jit(eqx.filter_vmap(choose, in_axes=(None, None, 0, 0)))
READ = eqx.filter_jit(eqx.filter_vmap(read, in_axes=(None, 0, 0, 0)))
REFRESH = eqx.filter_jit(eqx.filter_vmap(refresh, in_axes=(None, 0)))


@jax.jit
def gather(pool: Taking, members: Array) -> Taking:
    return jax.tree.map(lambda leaf: leaf[members], pool)


@jax.jit
def scatter(pool: Taking, members: Array, group: Taking) -> Taking:
    """Write a group back; members outside the pool are left out."""
    return jax.tree.map(lambda leaf, new: leaf.at[members].set(new, mode="drop"), pool, group)


def originals(members: np.ndarray) -> np.ndarray:
    """Which entries of a group are no copies of an earlier one."""
    itself = np.zeros(len(members), bool)
    itself[np.unique(members, return_index=True)[1]] = True
    return itself


def group_size(search: Search, total: int) -> int:
    """How many searches are served at a time."""
    return min(total, max(_SMALLEST_GROUP, _PARTICLES_A_GROUP // search.preset.config.num_particles))


class Pool:
    """Searches under way on the accelerator, and on the host what each of them needs next."""

    def __init__(
        self,
        search: Search,
        keys: Keys,
        until: Sequence[TraceRule],
        size: int,
        progress: Callable[[int], None] = lambda ended: None,
    ) -> None:
        """Takes the first reading of all."""
        total = keys.shape[0]
        self.search, self.keys, self.until, self.size, self.progress = search, keys, until, size, progress
        self.records: list[Record] = []
        self.spoken = np.zeros((total, len(until)), bool)
        self.numbers = np.zeros(total, int)
        self.active, self.finished = np.ones(total, bool), np.zeros(total, bool)
        parts: list[Taking] = []
        for first in range(0, total, size):
            members = self.filled(np.arange(first, min(first + size, total)))
            group = START(search, keys[members])
            parts.append(group.takings)
            self.keep(members, group)
        self.takings: Taking = jax.tree.map(lambda *leaves: jnp.concatenate(leaves)[:total], *parts)

    def serve(self, policy: Policy | Informed) -> None:
        """Serve a group of the longer queue, the fewest readings first."""
        ready, waiting = (np.flatnonzero(self.active & kind) for kind in (self.finished, ~self.finished))
        deciding = len(ready) >= len(waiting)
        queue = ready if deciding else waiting
        members = self.filled(queue[np.argsort(self.numbers[queue], kind="stable")][: self.size])
        takings = gather(self.takings, members)
        if deciding:
            positions = somewhere(self.search, CHOOSE(self.search, policy, self.keys[members], takings))
            group = READ(self.search, self.keys[members], takings, positions)
        else:
            group = REFRESH(self.search, takings)
        # Copies go nowhere, so that what is kept of a search is what is told of it.
        places = np.where(originals(members), members, len(self.active))
        self.takings = scatter(self.takings, places, group.takings)
        self.keep(members, group)

    def filled(self, members: np.ndarray) -> np.ndarray:
        """A full group: places that are left go to copies of the first."""
        return np.concatenate([members, np.full(self.size - len(members), members[0])])

    def keep(self, members: np.ndarray, group: Served) -> None:
        """Note what was read, and who has ended."""
        finished, newest, truths = jax.tree.map(np.asarray, (group.finished, group.row, group.theta))
        itself = originals(members)
        self.finished[members[itself]] = finished[itself]
        counted = itself & finished
        kept = members[counted]
        newest, truths = jax.tree.map(lambda leaf: leaf[counted], (newest, truths))
        self.numbers[kept] += 1
        numbers = self.numbers[kept]
        speaks = np.stack([rule.speaks(newest, numbers) for rule in self.until], axis=1)
        # No rule is asked at the start.
        self.spoken[kept] |= speaks & (numbers > 1)[:, None]
        ended = over(self.search, newest, numbers, self.spoken[kept])
        self.active[kept[ended]] = False
        self.records.append(Record(kept, (newest, truths)))
        self.progress(int(ended.sum()))


class Record(NamedTuple):
    """Readings of some searches: their numbers, rows and present sources."""

    numbers: np.ndarray
    taken: tuple[Row, np.ndarray]


def in_groups(
    search: Search,
    policy: Policy | Informed,
    keys: Keys,
    until: Sequence[TraceRule],
    progress: Callable[[int], None],
    size: int | None = None,
) -> list[Episode]:
    """All searches at once, served in groups of `size`."""
    search, policy = traced(search), traced(policy)
    size = size or group_size(search, keys.shape[0])
    # Every program runs once beforehand, so that no search is charged for compilation.
    rehearsal = Pool(search, keys[:size], until, size)
    positions = CHOOSE(search, policy, keys[:size], rehearsal.takings)
    group = READ(search, keys[:size], rehearsal.takings, positions)
    jax.block_until_ready(REFRESH(search, group.takings))
    begun = time.perf_counter()
    pool = Pool(search, keys, until, size, progress)
    thetas = np.asarray(pool.takings.theta)
    while pool.active.any():
        pool.serve(policy)
    return _untangled(pool.records, thetas, (time.perf_counter() - begun) / keys.shape[0])


def _untangled(records: list[Record], thetas: np.ndarray, seconds: float) -> list[Episode]:
    """The records search by search. Readings of a search are consecutive from the first."""
    numbers = np.concatenate([record.numbers for record in records])
    order = np.argsort(numbers, kind="stable")
    taken = jax.tree.map(lambda *leaves: np.concatenate(leaves)[order], *[record.taken for record in records])
    ends = np.cumsum(np.bincount(numbers, minlength=len(thetas)))
    pieces = zip(thetas, [0, *ends[:-1]], ends, strict=True)
    return [
        Episode(
            theta,
            taken[1][end - 1],
            jax.tree.map(lambda leaf, at=slice(start, end): leaf[at], taken[0]),
            seconds,
        )
        for theta, start, end in pieces
    ]
