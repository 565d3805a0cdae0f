"""Populations of particles at their worst: a surprising reading is in the weights and nothing was done yet.

They are taken along simulated surveys, whose Θ is known, with the whole of the newest reading in the weights.
Under a part of it the belief is no posterior, and a score of Θ would reward running ahead of the readings.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.inference import Preset
from dowsax.inference.replay import newest_terms
from dowsax.inference.weights import ess, normalise
from dowsax.types import Key, Station, Theta
from dowsax.world import Model


class Reweighted(eqx.Module):
    """Particles reweighted by the newest reading, and the Θ that gave the reading; one, or a batch."""

    particles: Float[Array, "*batch n d"]
    log_likelihoods: Float[Array, "*batch n"]
    """Of the newest reading alone."""
    log_weights: Float[Array, "*batch n"]
    theta: Float[Array, "*batch d"]
    scale: Float[Array, "*batch d"]
    """The spread of the particles before the reading: the unit in which a score counts."""


def collect(
    key: Key,
    model: Model,
    preset: Preset,
    theta: Theta,
    positions: Float[Array, "k 2"],
    readings: Float[Array, " k"],
    floor: Theta,
) -> Reweighted:
    """The populations that a filter meets along one survey, (k, …), one a reading.

    `floor` is the least `scale`: a belief that has collapsed in the wrong place must not outweigh all others.
    """
    filter_ = preset.with_horizon(readings.shape[0]).build(model)
    init_key, step_key = jax.random.split(key)

    def step(belief, now):
        key, position, reading = now
        newest = newest_terms(model, belief.particles.T, Station(position), reading)
        log_weights = belief.log_weights + newest
        log_weights = normalise(jnp.where(jnp.isnan(log_weights), -jnp.inf, log_weights))
        scale = jnp.maximum(jnp.std(belief.particles, axis=0), floor)
        population = Reweighted(belief.particles, newest, log_weights, theta, scale)
        belief, _ = filter_.step(key, belief, Station(position), reading)
        return belief, population

    keys = jax.random.split(step_key, readings.shape[0])
    _, populations = jax.lax.scan(step, filter_.init(init_key), (keys, positions, readings))
    return populations


def degenerate(populations: Reweighted, ess_ratio: float) -> Reweighted:
    """Those of (surveys, k, …) that a filter would resample, as one batch: (p, …)."""
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), populations)
    sizes = np.asarray(jax.vmap(ess)(flat.log_weights))
    # A population that explains nothing at all has size 0, and nothing to learn from.
    decision = np.flatnonzero((sizes > 0) & (sizes < ess_ratio * flat.log_weights.shape[1]))
    return jax.tree.map(lambda leaf: leaf[decision], flat)


def join(parts: Sequence[Reweighted]) -> Reweighted:
    """Several batches as one."""
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)
