"""Whole searches in batches, recorded so that any stop rule can be asked afterwards.

An accelerator takes the searches of a batch in step and drops those that have ended; on a CPU each member of
such a batch would wait for the slowest, so there they run one by one, as many at a time as there are cores.
Either way what happens in a search depends on its own key alone.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from jaxtyping import Key as KeyArray

from dowsax.envs import Search, SearchState
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode, Row, row
from dowsax.policies import Informed, Policy
from dowsax.types import Key, Position

Keys = KeyArray[Array, "*batch"]
Progress = Callable[[int], None]
# Batches shrink by this factor: every size is one more compilation, every larger step more idle places.
_SHRINK = 4
_SMALLEST = 8
# The number by which a search is drawn. No reading has it, and it is the same whatever the most readings are.
_PREPARED = 200


def prepare(search: Search, key: Key) -> SearchState:
    """The search with this key, before its first reading."""
    return search.prepare(jax.random.fold_in(key, _PREPARED))


def decide(search: Search, policy: Policy | Informed, key: Key, state: SearchState) -> Position:
    """Where the policy goes next; nowhere (NaN) with an action that does not exist.

    Randomness depends on the key and the number of readings alone.
    """
    policy_key, _ = _keys(key, state)
    acting = policy.told(state.theta) if isinstance(policy, Informed) else policy
    action = acting(policy_key, state.belief, state.station)
    exists = (action >= 0) & (action < search.motion.num_actions)
    return jnp.where(exists, search.motion(state.station.position, action), jnp.nan)


def take(search: Search, key: Key, state: SearchState, position: Position) -> tuple[SearchState, Row]:
    """One reading at a position."""
    _, take_key = _keys(key, state)
    state, info = search.take(take_key, state, position)
    return state, row(state, info)


def _keys(key: Key, state: SearchState) -> tuple[Key, Key]:
    size = state.belief.history.size
    policy_key, take_key = jax.random.split(jax.random.fold_in(key, size + (size >= _PREPARED)))
    return policy_key, take_key


class Programs(NamedTuple):
    """The three compiled parts of a search. The filter's, by far the largest, serves every policy."""

    prepare: Callable
    decide: Callable
    take: Callable


ONE = Programs(eqx.filter_jit(prepare), eqx.filter_jit(decide), eqx.filter_jit(take))
TOGETHER = Programs(
    eqx.filter_jit(eqx.filter_vmap(prepare, in_axes=(None, 0))),
    eqx.filter_jit(eqx.filter_vmap(decide, in_axes=(None, None, 0, 0))),
    eqx.filter_jit(eqx.filter_vmap(take, in_axes=(None, 0, 0, 0))),
)


def run_episodes(
    search: Search,
    policy: Policy | Informed,
    keys: Keys,
    until: Sequence[TraceRule],
    *,
    batch_size: int | None = None,
    threads: int | None = None,
    progress: Progress = lambda ended: None,
) -> list[Episode]:
    """One search for each key, until every rule of `until` has spoken, or the readings run out.

    `progress` is told how many more have ended. On an accelerator at most `batch_size` run at a time, and
    where a batch does not fit into the memory smaller ones are tried. On a CPU there is one for each of the
    `threads`, which are as many as there are cores unless given.
    """
    if keys.ndim != 1 or keys.shape[0] == 0:
        raise ValueError(
            f"`keys` has one key a search, as of `jax.random.split(key, 10)`; got shape {keys.shape}."
        )
    if not until:
        raise ValueError("`until` needs a rule: `(TraceRule('credible', 0.95),)`, or 'fixed' with a number.")
    if jax.default_backend() == "cpu":
        return one_by_one(search, policy, keys, until, progress, threads)
    size = min(batch_size or keys.shape[0], keys.shape[0])
    episodes: list[Episode] = []
    while len(episodes) < keys.shape[0]:
        try:
            batch = keys[len(episodes) : len(episodes) + size]
            episodes += in_step(search, policy, batch, until, progress)
        except jax.errors.JaxRuntimeError as failure:
            if "RESOURCE_EXHAUSTED" not in str(failure) or size == 1:
                raise
            size = size // 2
    return episodes


def traced(tree):
    """Its numbers as arrays, so that a field which differs by numbers alone is not compiled again."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(leaf, jnp.float32) if isinstance(leaf, float) else leaf, tree
    )


def compiled(programs: Programs, search: Search, policy: Policy | Informed, keys: Keys) -> float:
    """Run each program once on fresh searches, so that no search is charged for compilation. Returns [s]."""
    begun = time.perf_counter()
    state = programs.prepare(search, keys)
    state, _ = programs.take(search, keys, state, state.station.position)
    jax.block_until_ready(programs.decide(search, policy, keys, state))
    return time.perf_counter() - begun


def one_by_one(
    search: Search,
    policy: Policy | Informed,
    keys: Keys,
    until: Sequence[TraceRule],
    progress: Progress,
    threads: int | None = None,
) -> list[Episode]:
    """The searches one after another, as many at a time as there are threads, or cores."""
    search, policy = traced(search), traced(policy)

    def one(key: Key) -> Episode:
        begun = time.perf_counter()
        state = ONE.prepare(search, key)
        theta, position = np.asarray(state.theta), state.station.position
        rows: list[Row] = []
        spoken = np.zeros(len(until), bool)
        while not (rows and _over(search, rows[-1], len(rows), spoken)):
            if rows:
                position = _somewhere(search, ONE.decide(search, policy, key, state))
            state, newest = ONE.take(search, key, state, position)
            rows.append(jax.tree.map(np.asarray, newest))
            # No rule is asked at the start.
            spoken |= [len(rows) > 1 and bool(rule.speaks(rows[-1], len(rows))) for rule in until]
        progress(1)
        taken = jax.tree.map(lambda *leaves: np.stack(leaves), *rows)
        return Episode(theta, np.asarray(state.theta), taken, time.perf_counter() - begun)

    compiled(ONE, search, policy, keys[0])
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return list(pool.map(one, keys))


def in_step(
    search: Search, policy: Policy | Informed, keys: Keys, until: Sequence[TraceRule], progress: Progress
) -> list[Episode]:
    """The searches side by side, reading by reading. Once most have ended, the rest form a smaller batch."""
    search, policy = traced(search), traced(policy)
    compiled(TOGETHER, search, policy, keys)
    begun, compiling = time.perf_counter(), 0.0
    states = TOGETHER.prepare(search, keys)
    positions, thetas = states.station.position, np.asarray(states.theta)
    total = keys.shape[0]
    records: list[Record] = []
    spoken = np.zeros((total, len(until)), bool)
    # The searches in the batch, by their number; those that have ended keep their place until it shrinks.
    members, active = np.arange(total), np.ones(total, bool)
    while active.any():
        kept = _kept(active)
        if kept.size < active.size:
            states = jax.tree.map(lambda leaf, at=kept: leaf[at], states)
            members, active = members[kept], _first_times(kept)
            compiling += compiled(TOGETHER, search, policy, keys[members])
        if records:
            positions = _somewhere(search, TOGETHER.decide(search, policy, keys[members], states))
        states, newest = TOGETHER.take(search, keys[members], states, positions)
        newest, truths = jax.tree.map(np.asarray, (newest, states.theta))
        records.append(
            Record(members[active], jax.tree.map(lambda leaf, at=active: leaf[at], (newest, truths)))
        )
        if len(records) > 1:
            spoken[members] |= np.stack([rule.speaks(newest, len(records)) for rule in until], axis=1)
        over = _over(search, newest, len(records), spoken[members])
        progress(int(np.sum(active & over)))
        active = active & ~over
    seconds = (time.perf_counter() - begun - compiling) / total
    return _untangled(records, thetas, seconds)


class Record(NamedTuple):
    """One reading of the searches that went on: their numbers, rows and present sources."""

    numbers: np.ndarray
    taken: tuple[Row, np.ndarray]


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


def _somewhere(search: Search, positions: Array) -> Array:
    if not np.isfinite(positions).all():
        raise ValueError(
            f"The policy gave an action that does not exist: they are 0 to {search.motion.num_actions - 1}."
        )
    return positions


def _over(search: Search, newest: Row, number: int, spoken: np.ndarray):
    """Whether a search ends: all rules have spoken, no reading is left, or no particle, which never mends."""
    return spoken.all(axis=-1) | (number >= search.max_readings) | ~np.isfinite(newest.spread)


def _kept(active: np.ndarray) -> np.ndarray:
    """The places that go on: those active, filled up with copies to a size that has to be compiled anyway."""
    size = active.size
    while size > _SMALLEST and active.sum() <= size // _SHRINK:
        size //= _SHRINK
    if size == active.size:
        return np.arange(size)
    places = np.flatnonzero(active)
    return places[np.arange(size) % places.size]


def _first_times(places: np.ndarray) -> np.ndarray:
    """False for copies."""
    first = np.zeros(places.size, bool)
    first[np.unique(places, return_index=True)[1]] = True
    return first
