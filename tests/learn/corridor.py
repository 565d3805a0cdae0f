"""A corridor with a prize at its right end: a problem whose best policy and values are known."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.learn.rollout import Rollout, Transitions
from dowsax.policies.encoders import MomentObservation
from dowsax.policies.networks import ActorCriticOutput
from dowsax.types import Key

NUM_PLACES = 5
"""The prize is beyond the last one."""
MAX_AGE = 16
MOVES = 0.7
"""The probability that a search moves in a step; otherwise the step is not valid."""


class Table(eqx.Module):
    """A network that knows every place by itself."""

    logits: Float[Array, "places actions"]
    values: Float[Array, " places"]
    squash: Any = jnp.tanh
    """Not an array: learners have to carry such leaves along."""

    def __call__(self, observation: MomentObservation) -> ActorCriticOutput:
        return ActorCriticOutput(observation.numbers @ self.logits, observation.numbers @ self.values)


class Walks(eqx.Module):
    """The searches in progress."""

    place: Int[Array, " searches"]
    age: Int[Array, " searches"]


class Ends(NamedTuple):
    """Sums over a rollout."""

    ended: Int[Array, ""]
    stopped: Int[Array, ""]
    false_stops: Int[Array, ""]
    path_length: Float[Array, ""]


def table(key: Key) -> Table:
    """A table without any knowledge."""
    return Table(0.01 * jax.random.normal(key, (NUM_PLACES, 2)), jnp.zeros(NUM_PLACES))


def observe(place: Int[Array, ""]) -> MomentObservation:
    """Which place it is; every move fits."""
    return MomentObservation(jax.nn.one_hot(place, NUM_PLACES), jnp.ones(2, bool))


def best_values(discount: float) -> Float[Array, " places"]:
    """The value of each place if one goes right: γ to the number of moves before the last."""
    return discount ** jnp.arange(NUM_PLACES - 1.0, -1.0, -1.0)


def corridor(num_searches: int = 16, rollout_length: int = 16) -> Rollout:
    """Go left (0) or right (1); a step beyond the right end stops the search with reward 1."""

    def init(key: Key) -> Walks:
        place = jax.random.randint(key, (num_searches,), 0, NUM_PLACES)
        return Walks(place, jnp.zeros(num_searches, jnp.int32))

    def run(key: Key, network: Any, walks: Walks) -> tuple[Walks, Transitions, Ends]:
        keys = jax.random.split(key, rollout_length)
        walks, transitions = jax.lax.scan(lambda walks, key: _step(key, network, walks), walks, keys)
        stopped = transitions.terminated & transitions.valid
        ended = (transitions.terminated | transitions.truncated) & transitions.valid
        return (
            walks,
            transitions,
            Ends(jnp.sum(ended), jnp.sum(stopped), jnp.sum(stopped) // 4, 3.0 * jnp.sum(stopped)),
        )

    return Rollout(init, run)


def _step(key: Key, network: Any, walks: Walks) -> tuple[Walks, Transitions]:
    action_key, valid_key, fresh_key = jax.random.split(key, 3)
    evaluate = jax.vmap(network)
    observation = jax.vmap(observe)(walks.place)
    output = evaluate(observation)
    action = jax.random.categorical(action_key, output.logits).astype(jnp.int32)
    log_probs = jax.nn.log_softmax(output.logits)
    after = jnp.maximum(walks.place + 2 * action - 1, 0)
    terminated = after == NUM_PLACES
    truncated = ~terminated & (walks.age + 1 >= MAX_AGE)
    next_value = evaluate(jax.vmap(observe)(jnp.minimum(after, NUM_PLACES - 1))).value
    valid = jax.random.bernoulli(valid_key, MOVES, action.shape)
    start_search = jax.random.randint(fresh_key, action.shape, 0, NUM_PLACES)
    ended = terminated | truncated
    moved = Walks(jnp.where(ended, start_search, after), jnp.where(ended, 0, walks.age + 1))
    walks = jax.tree.map(lambda new, old: jnp.where(valid, new, old), moved, walks)
    return walks, Transitions(
        observation=observation,
        action=action,
        log_prob=jnp.take_along_axis(log_probs, action[:, None], axis=1)[:, 0],
        value=output.value,
        next_value=next_value,
        reward=jnp.where(terminated, 1.0, 0.0),
        terminated=terminated,
        truncated=truncated,
        valid=valid,
    )
