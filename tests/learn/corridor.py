"""A corridor with a prize at its right end: a problem whose best policy and values are known."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.learn.rollout import Rollout, Transitions
from dowsax.policies.networks import Judgement
from dowsax.policies.sight import SeenMoments
from dowsax.types import Key

NUM_PLACES = 5
"""The prize is beyond the last one."""
MAX_AGE = 16
MOVES = 0.7
"""The probability that a search moves in a tick; otherwise it stands still and the tick is not valid."""


class Table(eqx.Module):
    """A network that knows every place by itself."""

    logits: Float[Array, "places actions"]
    values: Float[Array, " places"]
    squash: Any = jnp.tanh
    """Not an array: learners have to carry such leaves along."""

    def __call__(self, seen: SeenMoments) -> Judgement:
        return Judgement(seen.numbers @ self.logits, seen.numbers @ self.values)


class Walks(eqx.Module):
    """The searches under way."""

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


def see(place: Int[Array, ""]) -> SeenMoments:
    """Which place it is; every move fits."""
    return SeenMoments(jax.nn.one_hot(place, NUM_PLACES), jnp.ones(2, bool))


def best_values(discount: float) -> Float[Array, " places"]:
    """The value of each place if one goes right: γ to the number of moves before the last."""
    return discount ** jnp.arange(NUM_PLACES - 1.0, -1.0, -1.0)


def corridor(num_searches: int = 16, num_ticks: int = 16) -> Rollout:
    """Go left (0) or right (1); a step beyond the right end stops the search and pays 1."""

    def init(key: Key) -> Walks:
        place = jax.random.randint(key, (num_searches,), 0, NUM_PLACES)
        return Walks(place, jnp.zeros(num_searches, jnp.int32))

    def run(key: Key, network: Any, walks: Walks) -> tuple[Walks, Transitions, Ends]:
        keys = jax.random.split(key, num_ticks)
        walks, transitions = jax.lax.scan(lambda walks, key: _tick(key, network, walks), walks, keys)
        stopped = transitions.terminated & transitions.valid
        ended = (transitions.terminated | transitions.truncated) & transitions.valid
        return (
            walks,
            transitions,
            Ends(jnp.sum(ended), jnp.sum(stopped), jnp.sum(stopped) // 4, 3.0 * jnp.sum(stopped)),
        )

    return Rollout(init, run)


def _tick(key: Key, network: Any, walks: Walks) -> tuple[Walks, Transitions]:
    action_key, valid_key, fresh_key = jax.random.split(key, 3)
    judge = jax.vmap(network)
    seen = jax.vmap(see)(walks.place)
    judgement = judge(seen)
    action = jax.random.categorical(action_key, judgement.logits).astype(jnp.int32)
    log_probs = jax.nn.log_softmax(judgement.logits)
    after = jnp.maximum(walks.place + 2 * action - 1, 0)
    terminated = after == NUM_PLACES
    truncated = ~terminated & (walks.age + 1 >= MAX_AGE)
    next_value = judge(jax.vmap(see)(jnp.minimum(after, NUM_PLACES - 1))).value
    valid = jax.random.bernoulli(valid_key, MOVES, action.shape)
    fresh = jax.random.randint(fresh_key, action.shape, 0, NUM_PLACES)
    ended = terminated | truncated
    moved = Walks(jnp.where(ended, fresh, after), jnp.where(ended, 0, walks.age + 1))
    walks = jax.tree.map(lambda new, old: jnp.where(valid, new, old), moved, walks)
    return walks, Transitions(
        seen=seen,
        action=action,
        log_prob=jnp.take_along_axis(log_probs, action[:, None], axis=1)[:, 0],
        value=judgement.value,
        next_value=next_value,
        reward=jnp.where(terminated, 1.0, 0.0),
        terminated=terminated,
        truncated=truncated,
        valid=valid,
    )
