"""Whole searches, recorded so that any stop rule can be applied afterwards.

An accelerator runs searches in groups (`pool`). On a CPU each member of a group would wait for the slowest,
so searches run one by one, one per thread. The results are the same.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from dowsax.envs import SearchProblem
from dowsax.evaluate.pool import run_in_groups
from dowsax.evaluate.search_steps import (
    Keys,
    as_arrays,
    decide,
    has_ended,
    prepare,
    read,
    require_finite,
    with_presence,
)
from dowsax.evaluate.stops import EndRule
from dowsax.evaluate.trace import Episode, Recorder, row
from dowsax.policies import Oracle, Policy
from dowsax.types import Key

Progress = Callable[[int], None]


class Programs(NamedTuple):
    """The three compiled functions of a search. `read`, by far the largest, is the same for every policy."""

    prepare: Callable
    decide: Callable
    read: Callable


PROGRAMS = Programs(eqx.filter_jit(prepare), eqx.filter_jit(decide), eqx.filter_jit(read))


def run_episodes(
    search: SearchProblem,
    policy: Policy | Oracle | Sequence[Policy | Oracle],
    keys: Keys,
    until: Sequence[EndRule],
    *,
    first: int = 0,
    batch_size: int | None = None,
    threads: int | None = None,
    on_progress: Progress = lambda ended: None,
    record: Recorder = row,
    present: Bool[np.ndarray, " searches"] | None = None,
) -> list[Episode]:
    """Run one search per key, until every rule of `until` is met or the budget runs out.

    Parameters
    ----------
    policy
        A policy, or several that are equal except for their weights and search in turn.
    keys
        One PRNG key per search.
    first
        The number of the first search: search k is that of policy k modulo the number of policies.
    until
        Stop rules; the record goes on until the last of them is met.
    batch_size
        Searches at a time on an accelerator. Default: all. Halved while a batch does not fit into memory.
    threads
        Searches at a time on a CPU. Default: the number of cores.
    on_progress
        Called with the number of searches that have just ended; first with 0, when all is compiled.
    record
        What is recorded of each reading.
    present
        For each search, whether there is a source. Default: as the problem says.
    """
    if keys.ndim != 1 or keys.shape[0] == 0:
        raise ValueError(
            f"`keys` must be a vector of keys, as of `jax.random.split(key, 10)`; got shape {keys.shape}."
        )
    if not until:
        raise ValueError(
            "`until` must have a rule: `(TraceRule('credible', 0.95),)`, or 'fixed' with a number."
        )
    policies = list(policy) if isinstance(policy, Sequence) else [policy]
    if jax.default_backend() == "cpu":
        return run_one_by_one(
            search, policies, keys, until, on_progress, threads, first=first, record=record, present=present
        )
    size = min(batch_size or keys.shape[0], keys.shape[0])
    episodes: list[Episode] = []
    while len(episodes) < keys.shape[0]:
        try:
            done = len(episodes)
            part = slice(done, done + size)
            episodes += run_in_groups(
                search,
                policies,
                keys[part],
                until,
                on_progress,
                first=first + done,
                record=record,
                present=None if present is None else present[part],
            )
        except jax.errors.JaxRuntimeError as failure:
            if "RESOURCE_EXHAUSTED" not in str(failure) or size == 1:
                raise
            size = size // 2
    return episodes


def compile_programs(
    programs: Programs, search: SearchProblem, policy: Policy | Oracle, keys: Keys, record: Recorder = row
) -> float:
    """Run each program once, so that no search is charged for compilation; return the time [s]."""
    started = time.perf_counter()
    state = programs.prepare(search, keys)
    state, *_ = programs.read(search, record, keys, state, state.station.target)
    jax.block_until_ready(programs.decide(search, policy, keys, state))
    return time.perf_counter() - started


def run_one_by_one(
    search: SearchProblem,
    policies: Sequence[Policy | Oracle],
    keys: Keys,
    until: Sequence[EndRule],
    on_progress: Progress,
    threads: int | None = None,
    *,
    first: int = 0,
    record: Recorder = row,
    present: Bool[np.ndarray, " searches"] | None = None,
) -> list[Episode]:
    """Run the searches one after another, one per thread (default: one per core)."""
    radius = float(search.success_radius)
    search, policies = as_arrays(search), [as_arrays(policy) for policy in policies]

    def search_of(number: int) -> SearchProblem:
        return with_presence(search, None if present is None else jnp.asarray(present[number - first]))

    def one(number: int, key: Key) -> Episode:
        policy, search = policies[number % len(policies)], search_of(number)
        started = time.perf_counter()
        state = PROGRAMS.prepare(search, key)
        theta, target = np.asarray(state.theta), state.station.target
        rows: list[Any] = []
        is_met, is_over = np.zeros(len(until), bool), np.zeros((), bool)
        while not (rows and has_ended(rows[-1], is_over, is_met)):
            if rows:
                target = require_finite(search, PROGRAMS.decide(search, policy, key, state))
            state, newest, is_over = PROGRAMS.read(search, record, key, state, target)
            newest, is_over = jax.tree.map(np.asarray, (newest, is_over))
            rows.append(newest)
            # No rule is checked at the start.
            is_met |= [len(rows) > 1 and bool(rule.is_met(rows[-1], len(rows))) for rule in until]
        on_progress(1)
        columns = jax.tree.map(lambda *leaves: np.stack(leaves), *rows)
        seconds = time.perf_counter() - started
        most = len(rows) if is_over else search.max_readings
        return Episode(theta, np.asarray(state.theta), columns, seconds, most, radius)

    compile_programs(PROGRAMS, search_of(first), policies[0], keys[0], record)
    on_progress(0)
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return list(pool.map(one, range(first, first + keys.shape[0]), keys))
