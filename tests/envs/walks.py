"""Searches with a filter that compiles fast, and walks through them for many tests to look at.

Compiling costs far more here than running: all tests of this folder share a handful of programs.
"""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.envs import SCENARIOS, SearchProblem, SearchState, Step, belief_features, build
from dowsax.envs.rewards import indicator
from dowsax.envs.task import Task, reset_search
from dowsax.inference import (
    Contraction,
    Credible,
    EntropyBelow,
    FilterConfig,
    FixedSteps,
    MaxWeight,
    Preset,
)
from dowsax.world import benchmark_model

MAX_READINGS = 18
NUM_WALKS = 12
BOOTSTRAP = Preset(
    FilterConfig(num_particles=64, temper=False, num_moves=0, max_moves=0), proposals=(), follows_jumps=False
)


class AnyRule(eqx.Module):
    """Every rule at once, with traced numbers; with the defaults it is never met."""

    contraction: jax.Array = eqx.field(default=0.0, converter=jnp.float32)
    credible: jax.Array = eqx.field(default=2.0, converter=jnp.float32)
    entropy: jax.Array = eqx.field(default=-1.0, converter=jnp.float32)
    max_weight: jax.Array = eqx.field(default=2.0, converter=jnp.float32)
    fixed: jax.Array = eqx.field(default=1000, converter=jnp.int32)

    def __call__(self, belief):
        return (
            Contraction(self.contraction)(belief)
            | Credible(probability=self.credible)(belief)
            | EntropyBelow(self.entropy)(belief)
            | MaxWeight(self.max_weight)(belief)
            | FixedSteps(self.fixed)(belief)
        )


NEVER = AnyRule()
SETTINGS = {"preset": BOOTSTRAP, "max_readings": MAX_READINGS}


class Walk(NamedTuple):
    """A search: its states from the first reading on, and what each move brought."""

    states: SearchState
    steps: Step


def search_for(scenario="id", field="temperature") -> SearchProblem:
    return SearchProblem(benchmark_model(field), BOOTSTRAP, SCENARIOS[scenario], max_readings=MAX_READINGS)


# Run so often that it pays to optimise it, where the tests' other programs are compiled without.
@eqx.filter_jit(compiler_options={"xla_backend_optimization_level": 1})
def step_once(
    search: SearchProblem, rule: AnyRule, key, state: SearchState, action
) -> tuple[SearchState, Step]:
    return build(replace(search, stop=rule)).step(key, state, action)


def first_state(search: SearchProblem, number: int) -> SearchState:
    task = Task(replace(search, stop=NEVER), indicator, belief_features(search))
    return reset_search(task, jnp.array([16, number], jnp.uint32))[1]


def walk(search: SearchProblem, rule: AnyRule, number: int, state: SearchState) -> Walk:
    """Random moves until the readings run out, whatever the stop rule says."""
    keys = jax.random.split(jax.random.key(number), MAX_READINGS)
    actions = jax.random.randint(keys[0], (MAX_READINGS - 1,), 0, 4)
    states, steps = [state], []
    for key, action in zip(keys[1:], actions, strict=True):
        state, step = step_once(search, rule, key, state, action)
        states.append(state)
        steps.append(step)
    return Walk(stacked(states), stacked(steps))


def walks(search: SearchProblem, rule: AnyRule, first_states: list[SearchState]) -> Walk:
    """A walk from each state."""
    return stacked([walk(search, rule, number, state) for number, state in enumerate(first_states)])


def stacked(trees):
    """In NumPy, like everything that is only looked at: nothing has to compile."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


def at(tree, *places):
    """One member of a batch, or some of them."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[places], tree)
