"""A search problem from names or objects, and the compiled functions behind the Gymnasium environments."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

from dowsax.envs.environment import Environment, auto_reset, build
from dowsax.envs.observations import OBSERVATIONS, Observe
from dowsax.envs.rewards import REWARDS, Reward
from dowsax.envs.scenarios import SCENARIOS, Scenario
from dowsax.envs.search import MAX_READINGS, SUCCESS_RADIUS_M, Search, SearchState, error
from dowsax.inference import PRESETS, Contraction, Credible, EntropyBelow, FixedSteps, MaxWeight, Preset
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
    """The numbers in `info`. All but the error can be known without the true source."""

    spread: Float[Array, ""]
    """[m], max(σx, σy); infinite when no particle is left."""
    mass: Float[Array, ""]
    """The probability that the source is within 1 m of the mean."""
    error: Float[Array, ""]
    """[m], from the mean to the true position."""
    path_length: Float[Array, ""]
    """[m]"""
    readings: Float[Array, ""]
    """The number of readings, with the one at the start."""
    ess: Float[Array, ""]
    """Effective sample size of the weights, after any resampling."""


def measure(state: SearchState) -> Measures:
    """Return the measures of a state."""
    belief = state.belief
    return Measures(
        location_spread(belief),
        mass_within(belief, SUCCESS_RADIUS_M),
        error(state),
        state.path_length,
        belief.history.size.astype(jnp.float32),
        ess(belief.log_weights),
    )


class Problem(eqx.Module):
    """A search with stop rule, reward and observation. Equal problems share compiled programs."""

    search: Search
    stop: StopRule
    reward: Reward
    features: Observe

    def observe(self, state: SearchState) -> Float[Array, " numbers"]:
        """Return the features, and after them the measures, so that both survive a reset of the search."""
        return jnp.concatenate([self.features(state), jnp.stack(measure(state))])

    @property
    def num_features(self) -> int:
        """The number of features."""
        state = jax.eval_shape(self.search.prepare, jax.random.key(0))
        return jax.eval_shape(self.features, state).shape[0]

    def environment(self) -> Environment:
        """Build the pure environment; its observations end in the measures."""
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
    """Assemble a problem from names or objects; `particles` replaces the preset's number of particles."""
    if max_readings < 2:
        raise ValueError(f"`max_readings` must be at least 2, with the one at the start; got {max_readings}.")
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
    """Return the object of a name, or the object itself; raise a ValueError in one line otherwise."""
    if isinstance(choice, str):
        if choice not in known:
            raise ValueError(f"Unknown {kind} {choice!r}; known are {', '.join(known)}.")
        return known[choice]
    if not isinstance(choice, of):
        raise ValueError(f"Not a {kind}: {choice!r}; known by name are {', '.join(known)}.")
    return choice


@eqx.filter_jit
def reset_search(problem: Problem, bits: Bits) -> tuple[Key, SearchState, Array]:
    """Start a search from 64 random bits; return the key of its steps, its state and its observation."""
    reset_key, step_key = jax.random.split(_key(bits))
    state, numbers = problem.environment().reset(reset_key)
    return step_key, state, numbers


@eqx.filter_jit
def step_search(problem: Problem, step_key: Key, state: SearchState, action: Int[Array, ""]):
    """Make one move. Its randomness depends only on the key of the search and the number of readings."""
    key = jax.random.fold_in(step_key, state.belief.history.size)
    state, step = problem.environment().step(key, state, action)
    return state, (step.observation, step.reward, step.terminated, step.truncated)


@eqx.filter_jit
def reset_searches(problem: Problem, bits: Bits, num_searches: int) -> tuple[Key, SearchState, Array]:
    """Start many searches; return the key of their steps, their states and their observations."""
    reset_key, step_key = jax.random.split(_key(bits))
    states, numbers = jax.vmap(problem.environment().reset)(jax.random.split(reset_key, num_searches))
    return step_key, states, numbers


@eqx.filter_jit
def step_searches(
    problem: Problem,
    step_key: Key,
    states: SearchState,
    actions: Int[Array, " batch"],
    number: Int[Array, ""],
):
    """Make the `number`-th move of each search, and reset the searches that end."""
    keys = jax.random.split(jax.random.fold_in(step_key, number), actions.shape[0])
    states, done = auto_reset(problem.environment())(keys, states, actions)
    step = done.step
    return states, (step.observation, step.reward, step.terminated, step.truncated, done.final_observation)


def _key(bits: Bits) -> Key:
    return jax.random.fold_in(jax.random.key(bits[0]), bits[1])
