"""Many searches on an accelerator, each at its own pace.

Most readings are assimilated at once, some need the particles refreshed several times, and a few searches go
on long after the others have stopped: in lockstep, all would wait for the slowest. So searches wait in a
pool, from which groups are taken that need the same next: a decision and a reading, or a refresh.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from dowsax.envs import PendingUpdate, SearchProblem, SearchState
from dowsax.evaluate.search_steps import (
    Keys,
    as_arrays,
    decide,
    has_ended,
    prepare,
    require_finite,
    stack_policies,
    step_keys,
    take_policy,
    with_presence,
)
from dowsax.evaluate.stops import EndRule
from dowsax.evaluate.trace import Episode, Recorder, row
from dowsax.policies import Oracle, Policy
from dowsax.types import Key, Target, Theta

# Particles in a group. Half as many took 3 to 29 % longer for 1,000 searches on an H200; more were not tried.
_PARTICLES_PER_GROUP = 2**20
_MIN_GROUP_SIZE = 8


class Outcome(NamedTuple):
    """What has become of the newest reading of a search."""

    finished: Bool[Array, "*batch"]
    row: Any
    """Valid only once the update is finished."""
    theta: Theta
    is_over: Bool[Array, "*batch"]
    """No reading can follow."""


def begin(
    search: SearchProblem,
    is_present: Bool[Array, ""] | None,
    key: Key,
    state: SearchState,
    target: Target,
) -> PendingUpdate:
    """Take the next reading."""
    _, read_key = step_keys(key, state)
    return with_presence(search, is_present).start_update(read_key, state, target)


def finish(search: SearchProblem, pending: PendingUpdate) -> SearchState:
    """Return the state after a reading."""
    return search.finish_update(pending)[0]


def choose(
    search: SearchProblem, policies: Any, turn: Int[Array, ""] | None, key: Key, state: SearchState
) -> Target:
    """Return where the policy whose turn it is goes after a reading."""
    return decide(search, take_policy(policies, turn), key, state)


def judge(search: SearchProblem, record: Recorder, pending: PendingUpdate) -> Outcome:
    """Record a reading."""
    state, info = search.finish_update(pending)
    recorded = record(search, state, info)
    return Outcome(~pending.stage.is_degenerate, recorded, pending.theta, search.is_over(state))


def refresh(search: SearchProblem, pending: PendingUpdate) -> PendingUpdate:
    """Run one more stage of a pending update."""
    return search.refresh(pending)


# One program for each part: to compile the filter or the record twice takes longer than to call one more.
PREPARE = eqx.filter_jit(eqx.filter_vmap(prepare, in_axes=(None, 0)))
BEGIN = eqx.filter_jit(eqx.filter_vmap(begin, in_axes=(None, 0, 0, 0, 0)))
FINISH = eqx.filter_jit(eqx.filter_vmap(finish, in_axes=(None, 0)))
CHOOSE = eqx.filter_jit(eqx.filter_vmap(choose, in_axes=(None, None, 0, 0, 0)))
JUDGE = eqx.filter_jit(eqx.filter_vmap(judge, in_axes=(None, None, 0)))
REFRESH = eqx.filter_jit(eqx.filter_vmap(refresh, in_axes=(None, 0)))


@jax.jit
def gather(pool: PendingUpdate, members: Array) -> PendingUpdate:
    return jax.tree.map(lambda leaf: leaf[members], pool)


@jax.jit
def scatter(pool: PendingUpdate, members: Array, group: PendingUpdate) -> PendingUpdate:
    """Write a group back; members outside the pool are left out."""
    return jax.tree.map(lambda leaf, new: leaf.at[members].set(new, mode="drop"), pool, group)


def first_occurrences(members: np.ndarray) -> np.ndarray:
    """Return which entries of a group are not copies of an earlier one."""
    is_original = np.zeros(len(members), bool)
    is_original[np.unique(members, return_index=True)[1]] = True
    return is_original


def group_size(search: SearchProblem, total: int) -> int:
    """Return how many searches are in a group.

    All of them if they fit, rounded up to a power of two: what was compiled for a few more or fewer serves.
    Up to half of such a group are copies, which take as much time as searches.
    """
    most = max(_MIN_GROUP_SIZE, _PARTICLES_PER_GROUP // search.preset.config.num_particles)
    return min(1 << (total - 1).bit_length(), most)


class Pool:
    """Searches in progress on the accelerator, and on the host what each of them needs next."""

    def __init__(
        self,
        search: SearchProblem,
        keys: Keys,
        until: Sequence[EndRule],
        size: int,
        on_progress: Callable[[int], None] = lambda ended: None,
        row: Recorder = row,
        present: Bool[np.ndarray, " searches"] | None = None,
    ) -> None:
        """Take the first reading of all searches."""
        total = keys.shape[0]
        self.search, self.keys, self.until = search, keys, until
        self.present = present
        # Only readings are of the true field: everything else is compiled once for all of them.
        self.believed = replace(search, truth=None)
        self.size, self.on_progress, self.row = size, on_progress, row
        self.records: list[Record] = []
        self.is_met = np.zeros((total, len(until)), bool)
        self.numbers, self.is_over = np.zeros(total, int), np.zeros(total, bool)
        self.active, self.finished = np.ones(total, bool), np.zeros(total, bool)
        parts: list[PendingUpdate] = []
        for first in range(0, total, size):
            members = self.pad(np.arange(first, min(first + size, total)))
            state = PREPARE(self.believed, keys[members])
            group = self.begin(members, state, state.station.target)
            parts.append(group)
            self.record(members, group)
        self.pending: PendingUpdate = jax.tree.map(lambda *leaves: jnp.concatenate(leaves)[:total], *parts)

    def serve(self, policies: Any, turns: np.ndarray | None) -> None:
        """Advance a group of the longer queue, the fewest readings first."""
        ready, waiting = (np.flatnonzero(self.active & kind) for kind in (self.finished, ~self.finished))
        deciding = len(ready) >= len(waiting)
        queue = ready if deciding else waiting
        members = self.pad(queue[np.argsort(self.numbers[queue], kind="stable")][: self.size])
        pending = gather(self.pending, members)
        if deciding:
            turn = None if turns is None else turns[members]
            state = FINISH(self.believed, pending)
            targets = CHOOSE(self.believed, policies, turn, self.keys[members], state)
            group = self.begin(members, state, require_finite(self.search, targets))
        else:
            group = REFRESH(self.believed, pending)
        # Copies are dropped, so that the pool holds what is recorded.
        places = np.where(first_occurrences(members), members, len(self.active))
        self.pending = scatter(self.pending, places, group)
        self.record(members, group)

    def begin(self, members: np.ndarray, state: SearchState, targets: Any) -> PendingUpdate:
        """Take the next reading of a group."""
        present = None if self.present is None else self.present[members]
        return BEGIN(self.search, present, self.keys[members], state, targets)

    def pad(self, members: np.ndarray) -> np.ndarray:
        """Fill up a group with copies of its first member."""
        return np.concatenate([members, np.full(self.size - len(members), members[0])])

    def record(self, members: np.ndarray, group: PendingUpdate) -> None:
        """Record the readings, and which searches have ended."""
        finished, newest, truths, is_over = jax.tree.map(np.asarray, JUDGE(self.believed, self.row, group))
        is_original = first_occurrences(members)
        self.finished[members[is_original]] = finished[is_original]
        counted = is_original & finished
        owners = members[counted]
        newest, truths, is_over = jax.tree.map(lambda leaf: leaf[counted], (newest, truths, is_over))
        self.numbers[owners] += 1
        numbers = self.numbers[owners]
        newly_met = np.stack([rule.is_met(newest, numbers) for rule in self.until], axis=1)
        # No rule is checked at the start.
        self.is_met[owners] |= newly_met & (numbers > 1)[:, None]
        ended = has_ended(newest, is_over, self.is_met[owners])
        self.active[owners[ended]] = False
        self.is_over[owners] = is_over
        self.records.append(Record(owners, (newest, truths)))
        self.on_progress(int(ended.sum()))


class Record(NamedTuple):
    """Readings of some searches: their numbers, rows and current sources."""

    numbers: np.ndarray
    columns: tuple[Any, np.ndarray]


def run_in_groups(
    search: SearchProblem,
    policies: Sequence[Policy | Oracle],
    keys: Keys,
    until: Sequence[EndRule],
    on_progress: Callable[[int], None],
    size: int | None = None,
    *,
    first: int = 0,
    record: Recorder = row,
    present: Bool[np.ndarray, " searches"] | None = None,
) -> list[Episode]:
    """Run all searches, in groups of `size`; `first` is the number of the first one."""
    radius = float(search.success_radius)
    search, policies = as_arrays(search), [as_arrays(policy) for policy in policies]
    # One policy for all multiplies matrices; several multiply a matrix for each search.
    stacked, turns = policies[0], None
    if len(policies) > 1:
        stacked, turns = stack_policies(policies), (first + np.arange(keys.shape[0])) % len(policies)
    size = size or group_size(search, keys.shape[0])
    compile_programs(search, stacked, turns, keys, size, record, present)
    on_progress(0)
    started = time.perf_counter()
    pool = Pool(search, keys, until, size, on_progress, record, present)
    thetas = np.asarray(pool.pending.theta)
    while pool.active.any():
        pool.serve(stacked, turns)
    seconds = (time.perf_counter() - started) / keys.shape[0]
    most = np.where(pool.is_over, pool.numbers, search.max_readings)
    return _split_by_search(pool.records, thetas, seconds, most, radius)


def compile_programs(
    search: SearchProblem,
    policies: Any,
    turns: np.ndarray | None,
    keys: Keys,
    size: int,
    record: Recorder,
    present: Bool[np.ndarray, " searches"] | None,
) -> None:
    """Run every program once, so that no search is charged for compilation; side by side to save time."""
    members, believed = np.arange(size) % keys.shape[0], replace(search, truth=None)
    keys, turn = keys[members], None if turns is None else turns[members]
    state = PREPARE(believed, keys)
    with ThreadPoolExecutor() as threads:
        chosen = threads.submit(CHOOSE, believed, policies, turn, keys, state)
        is_present = None if present is None else present[members]
        pending = BEGIN(search, is_present, keys, state, state.station.target)
        rest = [
            threads.submit(JUDGE, believed, record, pending),
            threads.submit(REFRESH, believed, pending),
            threads.submit(FINISH, believed, pending),
            chosen,
        ]
        jax.block_until_ready([one.result() for one in rest])


def _split_by_search(
    records: list[Record], thetas: np.ndarray, seconds: float, max_readings: np.ndarray, radius: float
) -> list[Episode]:
    """Split the records by search. Readings of a search are in order."""
    numbers = np.concatenate([record.numbers for record in records])
    order = np.argsort(numbers, kind="stable")
    columns = jax.tree.map(
        lambda *leaves: np.concatenate(leaves)[order], *[record.columns for record in records]
    )
    ends = np.cumsum(np.bincount(numbers, minlength=len(thetas)))
    pieces = zip(thetas, [0, *ends[:-1]], ends, max_readings, strict=True)
    return [
        Episode(
            theta,
            columns[1][end - 1],
            jax.tree.map(lambda leaf, at=slice(start, end): leaf[at], columns[0]),
            seconds,
            int(most),
            radius,
        )
        for theta, start, end, most in pieces
    ]
