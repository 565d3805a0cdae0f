"""The search as an environment: pure functions, written for one search and mapped over many."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.envs.observations import Observe, belief_features
from dowsax.envs.problem import SearchProblem, SearchState, error
from dowsax.envs.rewards import Reward, indicator
from dowsax.inference import FilterInfo
from dowsax.inference.summaries import location_spread, mass_within
from dowsax.inference.weights import alive, ess
from dowsax.types import Key


class Measures(NamedTuple):
    """The numbers in `info`. All but the error can be known without the true source."""

    spread: Float[Array, ""]
    """[m], max(σx, σy); infinite when no particle is left."""
    mass: Float[Array, ""]
    """The probability that the source is within the problem's `success_radius` of the mean."""
    error: Float[Array, ""]
    """[m], from the mean to the true position."""
    path_length: Float[Array, ""]
    """[m]"""
    readings: Float[Array, ""]
    """The number of readings, with the one at the start."""
    ess: Float[Array, ""]
    """Effective sample size of the weights, after any resampling."""


def measure(problem: SearchProblem, state: SearchState) -> Measures:
    """Return the measures of a state."""
    belief = state.belief
    return Measures(
        location_spread(belief),
        mass_within(belief, problem.success_radius),
        error(state),
        state.path_length,
        belief.history.size.astype(jnp.float32),
        ess(belief.log_weights),
    )


class Step(NamedTuple):
    """The result of one move. The two endings exclude each other."""

    observation: Float[Array, "*batch features"]
    reward: Float[Array, "*batch"]
    terminated: Bool[Array, "*batch"]
    """The stop rule is met, before the last reading."""
    truncated: Bool[Array, "*batch"]
    """The budget ran out, no candidate can be reached, or the belief has no particle left."""
    info: FilterInfo
    measures: Measures
    """Of the state after the move; of the new search where one was reset."""


class Environment(NamedTuple):
    """An environment is three pure functions; `measure` returns the measures of a state."""

    reset: Callable[[Key], tuple[SearchState, Array]]
    step: Callable[[Key, SearchState, Int[Array, ""]], tuple[SearchState, Step]]
    measure: Callable[[SearchState], Measures]


def build(
    problem: SearchProblem, *, reward: Reward = indicator, observe: Observe | None = None
) -> Environment:
    """Build the environment of a search problem. Its stop rule is checked after every move.

    Parameters
    ----------
    reward
        The reward of each move.
    observe
        The observation of a state. Default: `belief_features`.
    """
    observe = belief_features(problem) if observe is None else observe

    def reset(key: Key) -> tuple[SearchState, Array]:
        state, _ = problem.reset(key)
        return state, observe(state)

    def step(key: Key, state: SearchState, action: Int[Array, ""]) -> tuple[SearchState, Step]:
        after, info = problem.step(key, state, action)
        living = alive(after.belief.log_weights)
        is_over = problem.is_over(after)
        terminated = problem.stop(after.belief) & ~is_over
        truncated = ~terminated & (is_over | ~living)
        # A belief without particles has no spread, entropy or mean to reward.
        value = jnp.where(living, reward(problem, state, after, terminated), 0.0)
        return after, Step(observe(after), value, terminated, truncated, info, measure(problem, after))

    return Environment(reset, step, partial(measure, problem))


class ResetStep(NamedTuple):
    """A step of a batch in which searches that ended were reset."""

    step: Step
    """Its observation is that of the new search where one was reset."""
    final_observation: Float[Array, "batch features"]
    """The last observation of the search that ended; the step's own elsewhere."""
    final_measures: Measures


def auto_reset(
    environment: Environment,
) -> Callable[[Key, SearchState, Array], tuple[SearchState, ResetStep]]:
    """Return a step for batches that resets searches as soon as they end and returns their last observation.

    A reset costs a step of the filter, so it is skipped while no search has ended.
    """

    def step(keys, states: SearchState, actions) -> tuple[SearchState, ResetStep]:
        pairs = jax.vmap(jax.random.split)(keys)
        states, done = jax.vmap(environment.step)(pairs[:, 0], states, actions)
        ended = done.terminated | done.truncated

        def reset_ended():
            fresh = jax.vmap(environment.reset)(pairs[:, 1])
            pick = lambda new, old: jnp.where(ended.reshape(-1, *(1,) * (old.ndim - 1)), new, old)  # noqa: E731
            seen = (*fresh, jax.vmap(environment.measure)(fresh[0]))
            return jax.tree.map(pick, seen, (states, done.observation, done.measures))

        following, observation, measures = jax.lax.cond(
            jnp.any(ended), reset_ended, lambda: (states, done.observation, done.measures)
        )
        step = done._replace(observation=observation, measures=measures)
        return following, ResetStep(step, done.observation, done.measures)

    return step
