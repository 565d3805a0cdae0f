"""Before a reading is taken in: the source may have changed. Without a transition nothing is done."""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.inference.belief import Belief
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Jump, Model, Transition


@runtime_checkable
class Importance(Protocol):
    r"""A proposal $q(\Theta_{k+1} \mid \Theta_k, o_{k+1})$ that may look at the newest reading."""

    def sample(self, key: Key, theta: Theta, station: Station, reading: Scalar) -> Theta: ...
    def log_prob(self, new: Theta, old: Theta, station: Station, reading: Scalar) -> Scalar: ...


def predict(
    key: Key,
    model: Model,
    belief: Belief,
    transition: Transition | Jump | None,
    importance: Importance | None,
    station: Station,
    reading: Scalar,
) -> Belief:
    r"""Draw $\Theta'$ and multiply the weights by $p(\Theta' \mid \Theta)/q(\Theta' \mid \Theta, o)$.

    The factor is one when the transition itself proposes. Weights are left as they are, not normalised: only
    together with the likelihood of the reading, which follows, is their sum the evidence.
    """
    if transition is None:
        return belief
    if isinstance(transition, Jump):
        return _renew(key, model, belief, transition) if transition.hazard > 0 else belief
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


def _renew(key: Key, model: Model, belief: Belief, jump: Jump) -> Belief:
    """Some particles become new sources that began with this reading; weights make up for their number."""
    at = jnp.array(jump.columns)
    choice_key, birth_key = jax.random.split(key)
    num_particles = belief.particles.shape[0]
    born = jax.random.uniform(choice_key, (num_particles,)) < jump.birth_share
    drawn = jax.vmap(model.prior.sample)(jax.random.split(birth_key, num_particles))
    fresh = belief.particles.at[:, at].set(drawn[:, at])
    log_birth = jnp.log(jump.hazard / jump.birth_share)
    log_survival = jnp.log1p(-jump.hazard) - jnp.log1p(-jump.birth_share)
    return eqx.tree_at(
        lambda at: (at.particles, at.log_weights, at.log_likelihoods, at.starts),
        belief,
        (
            jnp.where(born[:, None], fresh, belief.particles),
            belief.log_weights + jnp.where(born, log_birth, log_survival),
            jnp.where(born, 0.0, belief.log_likelihoods),
            jnp.where(born, belief.history.size, belief.starts),
        ),
    )
