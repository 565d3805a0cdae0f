"""A search problem from names or objects, and the pure functions that a Gymnasium shell is made of."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

from dowsax.envs.environment import Environment, auto_reset, build
from dowsax.envs.observations import OBSERVATIONS, Observe
from dowsax.envs.rewards import REWARDS, Reward
from dowsax.envs.scenarios import SCENARIOS, Scenario
from dowsax.envs.search import MAX_READINGS, SUCCESS, Search, SearchState, error
from dowsax.inference import (
    PRESETS,
    Contraction,
    Credible,
    EntropyBelow,
    FixedSteps,
    MaxWeight,
    Preset,
)
from dowsax.inference.stopping import StopRule
from dowsax.inference.summaries import location_spread, mass_within
from dowsax.inference.weights import ess
from dowsax.types import Key
from dowsax.world import MODALITIES, Model, benchmark_model

STOPS: dict[str, StopRule] = {
    "credible": Credible(),
    "contraction": Contraction(),
    "entropy": EntropyBelow(),
    "max-weight": MaxWeight(),
    "fixed": FixedSteps(),
}
Bits = UInt32[Array, "2"]


class Measures(NamedTuple):
    """What a shell tells besides the observation. All but the error can be known without the truth."""

    spread: Float[Array, ""]
    """[m], max(σx, σy); infinite when no particle is left."""
    mass: Float[Array, ""]
    """The probability that the source is within 1 m of the mean."""
    error: Float[Array, ""]
    """[m], from the mean to the true position."""
    path_length: Float[Array, ""]
    """[m]"""
    readings: Float[Array, ""]
    """A number, the one at the start included."""
    ess: Float[Array, ""]
    """Of the weights as they are carried, after any resampling."""


def measure(state: SearchState) -> Measures:
    """The measures of a search as it stands."""
    belief = state.belief
    return Measures(
        location_spread(belief),
        mass_within(belief, SUCCESS),
        error(state),
        state.path_length,
        belief.history.size.astype(jnp.float32),
        ess(belief.log_weights),
    )


class Problem(eqx.Module):
    """A search with its ending, its pay and what is seen of it. Equal problems share compiled programs."""

    search: Search
    stop: StopRule
    reward: Reward
    seen: Observe

    def observe(self, state: SearchState) -> Float[Array, " numbers"]:
        """What is seen, and then the measures: together they outlive the search when it begins anew."""
        return jnp.concatenate([self.seen(state), jnp.stack(measure(state))])

    @property
    def num_features(self) -> int:
        """The length of what is seen."""
        state = jax.eval_shape(self.search.prepare, jax.random.key(0))
        return jax.eval_shape(self.seen, state).shape[0]

    def environment(self) -> Environment:
        """The pure environment; its observations end in the measures."""
        return build(self.search, stop=self.stop, reward=self.reward, observe=self.observe)


def assemble(
    field: str | Model = "temperature",
    scenario: str | Scenario = "id",
    preset: str | Preset = "default",
    stop: str | StopRule = "credible",
    reward: str | Reward = "indicator",
    observation: str = "belief",
    particles: int | None = None,
    max_readings: int = MAX_READINGS,
) -> Problem:
    """The problem of these names or objects; `particles` instead of the preset's number of them."""
    if max_readings < 2:
        raise ValueError(f"`max_readings` counts the one at the start and is at least 2; got {max_readings}.")
    chosen = choose("preset", preset, PRESETS, Preset)
    if particles is not None:
        chosen = chosen.with_particles(particles)
    if isinstance(field, str):
        choose("field", field, MODALITIES, str)
    search = Search(
        benchmark_model(field) if isinstance(field, str) else field,
        chosen,
        choose("scenario", scenario, SCENARIOS, Scenario),
        max_readings=max_readings,
    )
    return Problem(
        search,
        choose("stop rule", stop, STOPS, StopRule),
        choose("reward", reward, REWARDS, Reward),
        choose("observation", observation, OBSERVATIONS, str)(search),
    )


def choose(kind: str, choice: Any, known: dict[str, Any], of: type) -> Any:
    """What a name stands for, or the object itself; a ValueError in one line for anything else."""
    if isinstance(choice, str):
        if choice not in known:
            raise ValueError(f"Unknown {kind} {choice!r}; known are {', '.join(known)}.")
        return known[choice]
    if not isinstance(choice, of):
        raise ValueError(f"Not a {kind}: {choice!r}; known by name are {', '.join(known)}.")
    return choice


@eqx.filter_jit
def begin(problem: Problem, bits: Bits) -> tuple[Key, SearchState, Array]:
    """A search from 64 random bits, and the key of all that is random in it from now on."""
    begin_key, walk_key = jax.random.split(_key(bits))
    state, numbers = problem.environment().reset(begin_key)
    return walk_key, state, numbers


@eqx.filter_jit
def proceed(problem: Problem, walk_key: Key, state: SearchState, action: Int[Array, ""]):
    """One move. Its randomness depends on the key of the search and the number of readings alone."""
    key = jax.random.fold_in(walk_key, state.belief.history.size)
    state, step = problem.environment().step(key, state, action)
    return state, (step.observation, step.reward, step.terminated, step.truncated)


@eqx.filter_jit
def begin_all(problem: Problem, bits: Bits, num_searches: int) -> tuple[Key, SearchState, Array]:
    """Many searches at once, and the key of all that is random in them from now on."""
    begin_key, walk_key = jax.random.split(_key(bits))
    states, numbers = jax.vmap(problem.environment().reset)(jax.random.split(begin_key, num_searches))
    return walk_key, states, numbers


@eqx.filter_jit
def proceed_all(
    problem: Problem,
    walk_key: Key,
    states: SearchState,
    actions: Int[Array, " batch"],
    number: Int[Array, ""],
):
    """One move of each, the `number`-th since the beginning; what ended begins anew."""
    keys = jax.random.split(jax.random.fold_in(walk_key, number), actions.shape[0])
    states, done = auto_reset(problem.environment())(keys, states, actions)
    step = done.step
    return states, (step.observation, step.reward, step.terminated, step.truncated, done.final_observation)


def _key(bits: Bits) -> Key:
    return jax.random.fold_in(jax.random.key(bits[0]), bits[1])
