"""The training loop: chunks of updates, each one compiled loop, with a checkpoint after every chunk."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from dowsax.envs import SearchProblem
from dowsax.learn.base import Learner, LearnerState, UpdateInfo
from dowsax.learn.checkpoint import Checkpoint, Checkpointer, Row, restore
from dowsax.learn.curves import thin_rows
from dowsax.learn.methods import METHODS, PROBLEM_METHOD, TrainConfig, encoder_for
from dowsax.policies.neural import Neural
from dowsax.policies.stored import Card
from dowsax.types import Key


class Diverged(ValueError):
    """A loss or gradient of a run was not finite."""


class Progress(NamedTuple):
    """The progress of a run after a chunk."""

    state: LearnerState
    rows: list[Row]
    """One per update, from the first."""
    steps_per_second: float
    """In the newest chunk."""


OnChunk = Callable[[Progress], None]


class Trained(NamedTuple):
    """A policy trained on a problem of your own."""

    policy: Neural
    """As `dowsax.policies` are: `policy(key, belief, station, candidates, budget)`."""
    card: Card
    """What it was trained for; `dowsax.policies.save(path, policy.network, card)` stores both."""
    rows: list[Row]
    """One per update: how searches ended, and the losses."""


def train_policy(
    problem: SearchProblem,
    name: str = "problem",
    *,
    method: str = PROBLEM_METHOD,
    steps: int = 1_000_000,
    searches: int | None = None,
    rollout_length: int | None = None,
    seed: int = 0,
    on_chunk: "OnChunk | None" = None,
) -> Trained:
    """Train a policy on a problem of your own: any model, filter, actions, start, budget and stop rule.

    Parameters
    ----------
    name
        A name for the problem, for the card of the policy.
    method
        One of `METHODS`. The default scores the candidates of any problem; the others need the parameters
        or the moves of the benchmark.
    steps
        Moves, over all searches.
    searches
        Searches that run in parallel. Default: that of the method, mostly 8,192: give fewer on a CPU.
    rollout_length
        Steps of each search between two updates. Default: that of the method, mostly 16.
    seed
        The same seed gives the same policy on the same device.
    on_chunk
        Called with the `Progress` after every eight updates.
    """
    config = TrainConfig.for_problem(
        problem,
        name,
        method,
        steps=steps,
        num_searches=searches,
        rollout_length=rollout_length,
        seed=seed,
    )
    state, rows = train(config.learner(), jax.random.key(seed), steps=steps, on_chunk=on_chunk)
    chosen = METHODS[method]
    card = Card(
        encoder=chosen.encoder,
        sample=chosen.sample,
        method=method,
        fields=config.fields,
        problem=config.fingerprint,
        settings=config.settings(),
        seeds=(seed,),
        steps=int(rows[-1]["steps"]),
        curves=thin_rows(rows),
    )
    return Trained(Neural(encoder_for(chosen)(problem), state.network, chosen.sample), card, rows)


def train(
    learner: Learner,
    key: Key,
    *,
    steps: int,
    chunk: int = 8,
    checkpointer: Checkpointer | None = None,
    on_chunk: OnChunk | None = None,
) -> tuple[LearnerState, list[Row]]:
    """Train for at least `steps` moves; return the state, and a row for every update.

    With a checkpointer the run resumes from the last checkpoint, and an interruption loses at most a chunk.
    The randomness of an update depends on the key and the number of the update, that of the searches on the
    key and the update at which they started: a resumed run is the same bit for bit if the checkpointer is
    `exact`. A finished run is extended if `steps` is larger. Raise `Diverged` where a number is not finite,
    and leave the last checkpoint unchanged.
    """
    init_key, update_key = jax.random.split(key)
    checkpoint = None if checkpointer is None else checkpointer.load()
    if checkpointer is not None and checkpoint is not None:
        checkpointer = replace(checkpointer, extended=checkpoint.extended)
    state, rows = _load_or_init(learner, init_key, checkpointer, checkpoint)
    while int(state.steps) < steps:
        started = time.perf_counter()
        state, infos = _update(update_key, state, learner, chunk)
        infos = jax.device_get(infos)
        seconds = time.perf_counter() - started
        new = _rows(infos, rows[-1] if rows else None, seconds)
        if not infos.healthy.all():
            raise Diverged(_divergence_message(infos, new, rows, checkpointer))
        rows = rows + new
        if checkpointer is not None:
            checkpointer.save(state, rows)
        if on_chunk is not None:
            on_chunk(Progress(state, rows, float(infos.steps.sum()) / seconds))
    return state, rows


def _load_or_init(
    learner: Learner, key: Key, checkpointer: Checkpointer | None, checkpoint: Checkpoint | None
) -> tuple[LearnerState, list[Row]]:
    """Return the state of the last checkpoint, or a new one, which is saved at once."""
    if checkpoint is not None:
        return restore(
            checkpoint, _init(learner, jax.random.fold_in(key, checkpoint.updates))
        ), checkpoint.rows
    state = _init(learner, jax.random.fold_in(key, 0))
    if checkpointer is not None:
        checkpointer.save(state, [])
    return state, []


# At module level, so that a second run of the same learner does not compile again.
@eqx.filter_jit
def _init(learner: Learner, key: Key) -> LearnerState:
    return learner.init(key)


@partial(eqx.filter_jit, donate="all-except-first")
def _update(key: Key, state: LearnerState, learner: Learner, chunk: int) -> tuple[LearnerState, UpdateInfo]:
    """Run `chunk` updates in one loop. The given state is donated: its memory is reused."""
    arrays, rest = eqx.partition(state, eqx.is_array)

    def update(arrays: Any, _: None) -> tuple[Any, UpdateInfo]:
        state = eqx.combine(arrays, rest)
        state, info = learner.update(jax.random.fold_in(key, state.updates), state)
        return eqx.filter(state, eqx.is_array), info

    arrays, infos = jax.lax.scan(update, arrays, length=chunk)
    return eqx.combine(arrays, rest), infos


def _rows(infos: UpdateInfo, last: Row | None, seconds: float) -> list[Row]:
    """Return a row for every update of a chunk; the time of the chunk is divided evenly."""
    number = len(infos.steps)
    updates, steps, time_before = (last[name] if last else 0 for name in ("updates", "steps", "seconds"))
    columns = {
        "updates": updates + 1 + np.arange(number),
        "steps": steps + np.cumsum(infos.steps, dtype=np.int64),
        "seconds": time_before + seconds * (1 + np.arange(number)) / number,
        **{name: getattr(infos, name) for name in _MEASURES},
    }
    # A tally may count steps too; the total has precedence.
    columns = columns | _columns(infos.tally) | columns
    return [{name: column[at].item() for name, column in columns.items()} for at in range(number)]


_MEASURES = ("actor_loss", "critic_loss", "entropy", "divergence", "clipped", "explained", "grad_norm")


def _columns(tally: Any) -> dict[str, np.ndarray]:
    """Return the sums of a tally by name, one number per update; entries of vectors are numbered."""
    columns = {}
    for name, sums in tally._asdict().items():
        flat = sums.reshape(len(sums), -1)
        names = [name] if sums.ndim == 1 else [f"{name}_{place}" for place in range(flat.shape[1])]
        columns |= dict(zip(names, flat.T, strict=True))
    return columns


def _divergence_message(
    infos: UpdateInfo, new: list[Row], rows: list[Row], checkpointer: Checkpointer | None
) -> str:
    """Say at which update a number was not finite, and which checkpoint is left."""
    at = int(np.argmin(infos.healthy))
    before = [*rows, *new[:at]]
    steps = before[-1]["steps"] if before else 0
    message = f"A loss or gradient was not finite at update {len(before) + 1}, after {steps:,} steps."
    if checkpointer is None:
        return message
    return f"{message} The last good checkpoint, of update {len(rows)}, is {checkpointer.path}."
