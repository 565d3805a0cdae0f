"""Training of one network on several families of problems in turn, in stages, each with learners of its own.

A family is one compiled program. Network and optimiser go from one family to the next with each update; the
searches in progress stay with their family.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.learn.base import Learner, LearnerState, trainable
from dowsax.learn.checkpoint import Checkpointer, Row, restore
from dowsax.learn.imitation import Imitator
from dowsax.learn.ppo import PPOConfig, build_optimiser
from dowsax.learn.rollout import Rollout
from dowsax.learn.train import Diverged
from dowsax.types import Key

_TOTALS = ("ended", "stopped", "false_stops")


class Stage(NamedTuple):
    """A part of a run: learners by the name of the family, each of which is updated once in a round."""

    name: str
    learners: Mapping[str, Learner | Imitator]
    config: PPOConfig
    rounds: int
    held_out: Mapping[str, int] = MappingProxyType({})
    """How many problems of each family, the last ones, are held out, and counted by themselves."""

    @property
    def num_updates(self) -> int:
        """Of all families. Schedules of the learners count updates: it is their `total_steps`."""
        return self.rounds * len(self.learners)


class Turn(NamedTuple):
    """The state of a run after an update."""

    network: Any
    rows: list[Row]


OnTurn = Callable[[Turn], None]


def hold_out(rollout: Rollout, held_out: np.ndarray) -> Rollout:
    """Return the rollouts of which nothing is learned from the searches that are held out."""
    learns = jnp.asarray(~held_out)[None, :]

    def run(key: Key, network: Any, environments: Any) -> Any:
        environments, transitions, tally = rollout.run(key, network, environments)
        return environments, transitions._replace(valid=transitions.valid & learns), tally

    return Rollout(rollout.init, run)


def train_in_turn(
    stages: Sequence[Stage],
    network: Any,
    key: Key,
    *,
    checkpointer: Checkpointer | None = None,
    save_interval_s: float = 60.0,
    on_turn: OnTurn = lambda turn: None,
) -> Turn:
    """Train a network through all stages; return it with a row for each update.

    Resumes from the checkpoint, which is written at most every `save_interval_s` seconds; the searches in
    progress are not saved.
    """
    rows: list[Row] = []
    checkpoint = None if checkpointer is None else checkpointer.load()
    before, saved = 0, time.monotonic()
    for stage in stages:
        optimiser = build_optimiser(stage.config).init(trainable(network))
        if checkpoint is not None and before <= len(checkpoint.rows) <= before + stage.num_updates:
            state = restore(checkpoint, _bare(network, optimiser, checkpoint.rows))
            network, optimiser, rows = state.network, state.optimiser, checkpoint.rows
            checkpoint = None
        first, before = len(rows) - before, before + stage.num_updates
        if checkpoint is not None or first >= stage.num_updates:
            continue
        started = time.perf_counter() - (float(rows[-1]["seconds"]) if rows else 0.0)
        for updated, name, info in _run(stage, network, optimiser, key, first, before):
            network, optimiser = updated.network, updated.optimiser
            row = _row(info, rows, time.perf_counter() - started, stage.held_out.get(name, 0))
            rows.append(row | {"stage": stages.index(stage), "family": list(stage.learners).index(name)})
            if not info.healthy:
                raise Diverged(f"A loss or gradient was not finite at update {len(rows)}, family {name}.")
            is_last = len(rows) == before
            if checkpointer is not None and (is_last or time.monotonic() > saved + save_interval_s):
                checkpointer.save(_bare(network, optimiser, rows), rows)
                saved = time.monotonic()
            on_turn(Turn(network, rows))
    return Turn(network, rows)


def _bare(network: Any, optimiser: Any, rows: list[Row]) -> LearnerState:
    """Return what a checkpoint holds."""
    steps = int(rows[-1]["steps"]) if rows else 0
    return LearnerState(network, optimiser, (), jnp.int32(len(rows)), jnp.int32(steps))


def _run(
    stage: Stage, network: Any, optimiser: Any, key: Key, first: int, before: int
) -> Iterator[tuple[LearnerState, str, Any]]:
    """Yield the state after each update of a stage, from the update of this number on."""
    init_key, update_key = jax.random.split(jax.random.fold_in(key, before))
    names = list(stage.learners)
    states = {
        name: _separate(stage.learners[name].init(jax.random.fold_in(init_key, at + len(names) * first)))
        for at, name in enumerate(names)
    }
    updates = _compile(stage, states)
    for number in range(first, stage.num_updates):
        name = names[number % len(names)]
        state = LearnerState(
            network, optimiser, states[name].environments, jnp.int32(number), jnp.int32(number)
        )
        state, info = updates[name](jax.random.fold_in(update_key, number), state, stage.learners[name])
        states[name] = state
        network, optimiser = state.network, state.optimiser
        yield state, name, jax.device_get(info)


def _separate(state: LearnerState) -> LearnerState:
    """Return copies of all arrays: a state is donated, and no buffer can be donated twice."""
    return jax.tree.map(lambda leaf: jnp.copy(leaf) if eqx.is_array(leaf) else leaf, state)


@partial(eqx.filter_jit, donate="all-except-first")
def _update(key: Key, state: LearnerState, learner: Learner | Imitator) -> tuple[LearnerState, Any]:
    return learner.update(key, state)


def _compile(stage: Stage, states: Mapping[str, LearnerState]) -> dict[str, Any]:
    """Compile the updates of all families at once, each in a thread of its own."""
    key, program = jax.random.key(0), cast(Any, _update)

    def compile_one(name: str) -> Any:
        return program.lower(key, states[name], stage.learners[name]).compile()

    with ThreadPoolExecutor(len(states)) as pool:
        return dict(zip(states, pool.map(compile_one, states), strict=True))


def _row(info: Any, rows: list[Row], seconds: float, held_out: int) -> Row:
    """Return the measures of an update, with counts of ended searches: all, and those held out."""
    others = ("tally", "steps", "healthy")
    row = {name: float(value) for name, value in info._asdict().items() if name not in others}
    row |= {name: int(getattr(info.tally, name)) for name in _TOTALS}
    held = {"held_ended": "field_ended", "held_stopped": "field_stopped", "held_false": "field_false"}
    if held_out:
        row |= {name: int(np.sum(getattr(info.tally, of)[-held_out:])) for name, of in held.items()}
    steps = int(info.steps) + (int(rows[-1]["steps"]) if rows else 0)
    return {"updates": len(rows) + 1, "steps": steps, "seconds": seconds, **row}
