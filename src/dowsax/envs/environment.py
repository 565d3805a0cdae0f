"""The search as an environment: a pair of pure functions, written for one search and mapped over many."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.envs.observations import Observe, belief_features
from dowsax.envs.rewards import Reward, indicator
from dowsax.envs.search import Search, SearchState
from dowsax.inference import Credible, FilterInfo
from dowsax.inference.stopping import StopRule
from dowsax.inference.weights import alive
from dowsax.types import Key

CREDIBLE = Credible()


class Step(NamedTuple):
    """The result of one move. The two endings exclude each other."""

    observation: Float[Array, "*batch features"]
    reward: Float[Array, "*batch"]
    terminated: Bool[Array, "*batch"]
    """The stop rule is met, before the last reading."""
    truncated: Bool[Array, "*batch"]
    """The readings ran out, or the belief has no particle left."""
    info: FilterInfo


class Environment(NamedTuple):
    """An environment is a pair of pure functions."""

    reset: Callable[[Key], tuple[SearchState, Array]]
    step: Callable[[Key, SearchState, Int[Array, ""]], tuple[SearchState, Step]]


def build(
    search: Search, *, stop: StopRule = CREDIBLE, reward: Reward = indicator, observe: Observe | None = None
) -> Environment:
    """Build the environment of a search.

    Parameters
    ----------
    stop
        The stop rule, checked after every move but not at the start.
    reward
        The reward of each move.
    observe
        The observation of a state. Default: `belief_features`.
    """
    observe = belief_features(search) if observe is None else observe

    def reset(key: Key) -> tuple[SearchState, Array]:
        state, _ = search.reset(key)
        return state, observe(state)

    def step(key: Key, state: SearchState, action: Int[Array, ""]) -> tuple[SearchState, Step]:
        after, info = search.step(key, state, action)
        living = alive(after.belief.log_weights)
        is_spent = after.belief.history.size >= search.max_readings
        terminated = stop(after.belief) & ~is_spent
        truncated = ~terminated & (is_spent | ~living)
        # A belief without particles has no spread, entropy or mean to reward.
        value = jnp.where(living, reward(search, state, after, terminated), 0.0)
        return after, Step(observe(after), value, terminated, truncated, info)

    return Environment(reset, step)


class ResetStep(NamedTuple):
    """A step of a batch in which searches that ended were reset."""

    step: Step
    """Its observation is that of the new search where one was reset."""
    final_observation: Float[Array, "batch features"]
    """The last observation of the search that ended; the step's own elsewhere."""


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
            return jax.tree.map(pick, fresh, (states, done.observation))

        following = jax.lax.cond(jnp.any(ended), reset_ended, lambda: (states, done.observation))
        return following[0], ResetStep(done._replace(observation=following[1]), done.observation)

    return step
