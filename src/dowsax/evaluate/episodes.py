"""Whole searches, recorded so that any stop rule can be asked afterwards.

An accelerator takes many in groups (`pool`). On a CPU each member of a group would wait for the slowest, so
there they run one by one, as many at a time as there are cores. What happens in a search is the same.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np

from dowsax.envs import Search
from dowsax.evaluate.pool import in_groups
from dowsax.evaluate.search_steps import Keys, decide, over, prepare, somewhere, take, traced
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode, Row
from dowsax.policies import Informed, Policy
from dowsax.types import Key

Progress = Callable[[int], None]


class Programs(NamedTuple):
    """The three compiled parts of a search. The filter's, by far the largest, serves every policy."""

    prepare: Callable
    decide: Callable
    take: Callable


ONE = Programs(eqx.filter_jit(prepare), eqx.filter_jit(decide), eqx.filter_jit(take))


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
            episodes += in_groups(search, policy, batch, until, progress)
        except jax.errors.JaxRuntimeError as failure:
            if "RESOURCE_EXHAUSTED" not in str(failure) or size == 1:
                raise
            size = size // 2
    return episodes


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
        while not (rows and over(search, rows[-1], len(rows), spoken)):
            if rows:
                position = somewhere(search, ONE.decide(search, policy, key, state))
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
