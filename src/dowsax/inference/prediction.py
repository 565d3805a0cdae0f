"""The prediction step: how the source may have changed before a reading."""

from dataclasses import replace
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.inference.belief import Belief
from dowsax.inference.jumps import give_birth
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Jump, Model, Transition


@runtime_checkable
class Importance(Protocol):
    r"""A proposal $q(\Theta_{k+1} \mid \Theta_k, o_{k+1})$ that may use the new reading."""

    def sample(self, key: Key, theta: Theta, station: Station, reading: Scalar) -> Theta: ...
    def log_prob(self, new: Theta, old: Theta, station: Station, reading: Scalar) -> Scalar: ...


def predict(
    key: Key,
    model: Model,
    belief: Belief,
    transition: Transition | Jump,
    importance: Importance | None,
    station: Station,
    reading: Scalar,
) -> Belief:
    r"""Draw $\Theta'$ and multiply the weights by $p(\Theta' \mid \Theta)/q(\Theta' \mid \Theta, o)$.

    The factor is one if the transition itself proposes. The weights are not normalised: their sum after
    multiplication by the likelihood of the reading is the evidence.
    """
    if isinstance(transition, Jump):
        return _jump(key, model, belief, transition)
    old = belief.particles
    keys = jax.random.split(key, old.shape[0])
    if importance is None:
        new = jax.vmap(transition.sample)(keys, old)
        log_factors = jnp.zeros_like(belief.log_weights)
    else:
        new = jax.vmap(importance.sample, in_axes=(0, 0, None, None))(keys, old, station, reading)
        log_factors = jax.vmap(transition.log_prob)(new, old)
        log_factors -= jax.vmap(importance.log_prob, in_axes=(0, 0, None, None))(new, old, station, reading)
    inside = jax.vmap(model.prior.log_prob)(new) > -jnp.inf
    log_weights = jnp.where(inside, belief.log_weights + log_factors, -jnp.inf)
    return eqx.tree_at(lambda at: (at.particles, at.log_weights), belief, (new, log_weights))


def _jump(key: Key, model: Model, belief: Belief, jump: Jump) -> Belief:
    """Let some particles jump, and correct their weights."""
    assert belief.earlier is not None
    particles, starts, earlier, log_factors = give_birth(
        key, model, jump, belief.particles, belief.starts, belief.earlier, belief.history.size
    )
    log_weights = belief.log_weights + log_factors
    return replace(belief, particles=particles, starts=starts, earlier=earlier, log_weights=log_weights)
