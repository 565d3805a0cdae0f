"""A training run: chunks of updates, each one compiled loop, with a checkpoint after every chunk."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from dowsax.learn.base import Learner, LearnerState, UpdateInfo
from dowsax.learn.checkpoint import Keeper, Kept, Row, restore
from dowsax.types import Key


class Diverged(ValueError):
    """The numbers of a run were no longer finite."""


class Progress(NamedTuple):
    """Where a run stands after a chunk."""

    state: LearnerState
    rows: list[Row]
    """All of them, one an update."""
    steps_per_second: float
    """In the newest chunk."""


OnChunk = Callable[[Progress], None]


def train(
    learner: Learner,
    key: Key,
    *,
    steps: int,
    chunk: int = 8,
    keeper: Keeper | None = None,
    on_chunk: OnChunk | None = None,
) -> tuple[LearnerState, list[Row]]:
    """Update until at least so many moves have been made; the state, and a row for every update.

    With a keeper it goes on from the last checkpoint, and an interruption at any moment loses at most a
    chunk. The randomness of an update follows from the key and the number of the update, and that of the
    searches from the key and the number at which they began: interruptions leave no trace if the keeper keeps
    the searches as well. A finished run goes on if more steps are asked for. Where numbers are no longer
    finite it raises `Diverged` and leaves the last checkpoint as it is.
    """
    begin_key, update_key = jax.random.split(key)
    kept = None if keeper is None else keeper.load()
    if keeper is not None and kept is not None:
        keeper = replace(keeper, extended=kept.extended)
    state, rows = _begin(learner, begin_key, keeper, kept)
    while int(state.steps) < steps:
        started = time.perf_counter()
        state, infos = _update(update_key, state, learner, chunk)
        infos = jax.device_get(infos)
        seconds = time.perf_counter() - started
        new = _rows(infos, rows[-1] if rows else None, seconds)
        if not infos.healthy.all():
            raise Diverged(_obituary(infos, new, rows, keeper))
        rows = rows + new
        if keeper is not None:
            keeper.save(state, rows)
        if on_chunk is not None:
            on_chunk(Progress(state, rows, float(infos.steps.sum()) / seconds))
    return state, rows


def _begin(
    learner: Learner, key: Key, keeper: Keeper | None, kept: Kept | None
) -> tuple[LearnerState, list[Row]]:
    """The state of the last checkpoint, or a new one, which is kept at once so that there always is one."""
    if kept is not None:
        return restore(kept, _init(learner, jax.random.fold_in(key, kept.updates))), kept.rows
    state = _init(learner, jax.random.fold_in(key, 0))
    if keeper is not None:
        keeper.save(state, [])
    return state, []


# At the level of the module, so that a second run of the same learner compiles nothing.
@eqx.filter_jit
def _init(learner: Learner, key: Key) -> LearnerState:
    return learner.init(key)


@partial(eqx.filter_jit, donate="all-except-first")
def _update(key: Key, state: LearnerState, learner: Learner, chunk: int) -> tuple[LearnerState, UpdateInfo]:
    """So many updates in one loop. The state given to it is used up: its memory is that of the next."""
    arrays, rest = eqx.partition(state, eqx.is_array)

    def update(arrays: Any, _: None) -> tuple[Any, UpdateInfo]:
        state = eqx.combine(arrays, rest)
        state, info = learner.update(jax.random.fold_in(key, state.updates), state)
        return eqx.filter(state, eqx.is_array), info

    arrays, infos = jax.lax.scan(update, arrays, length=chunk)
    return eqx.combine(arrays, rest), infos


def _rows(infos: UpdateInfo, last: Row | None, seconds: float) -> list[Row]:
    """A row for every update of a chunk; the time of the chunk is shared out evenly."""
    number = len(infos.steps)
    updates, steps, time_before = (last[name] if last else 0 for name in ("updates", "steps", "seconds"))
    columns = {
        "updates": updates + 1 + np.arange(number),
        "steps": steps + np.cumsum(infos.steps, dtype=np.int64),
        "seconds": time_before + seconds * (1 + np.arange(number)) / number,
        **{name: getattr(infos, name) for name in _MEASURES},
    }
    # A tally may count moves as well; those since the beginning have the name.
    columns = columns | _columns(infos.tally) | columns
    return [{name: column[at].item() for name, column in columns.items()} for at in range(number)]


_MEASURES = ("actor_loss", "critic_loss", "entropy", "divergence", "clipped", "explained", "grad_norm")


def _columns(tally: Any) -> dict[str, np.ndarray]:
    """The sums of a tally by name, one number an update; what is a vector has its place in the name."""
    columns = {}
    for name, sums in tally._asdict().items():
        flat = sums.reshape(len(sums), -1)
        names = [name] if sums.ndim == 1 else [f"{name}_{place}" for place in range(flat.shape[1])]
        columns |= dict(zip(names, flat.T, strict=True))
    return columns


def _obituary(infos: UpdateInfo, new: list[Row], rows: list[Row], keeper: Keeper | None) -> str:
    """What went wrong when, and what is left."""
    at = int(np.argmin(infos.healthy))
    before = [*rows, *new[:at]]
    steps = before[-1]["steps"] if before else 0
    said = f"A loss or gradient was not finite at update {len(before) + 1}, after {steps:,} steps."
    if keeper is None:
        return said
    return f"{said} The last good checkpoint, of update {len(rows)}, is {keeper.path}."
