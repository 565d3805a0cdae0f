"""Beliefs made by hand, for tests of what is computed from a belief."""

import jax.numpy as jnp
import pytest


@pytest.fixture(scope="session")
def as_belief():
    """(particles, log weights, normalised here or uniform) -> a belief with an empty history."""
    # Imported late: the checks of shapes must be installed first.
    from dowsax.inference.belief import Belief, empty_history
    from dowsax.inference.weights import normalise
    from dowsax.types import Station

    def build(particles, log_weights=None):
        num_particles = particles.shape[0]
        zeros = jnp.zeros(num_particles, jnp.float32)
        log_weights = normalise(zeros if log_weights is None else log_weights)
        history = empty_history(Station(position=jnp.zeros(2)), 1)
        starts = jnp.zeros(num_particles, jnp.int32)
        return Belief(particles, log_weights, zeros, starts, history, jnp.zeros(()), jnp.ones(()))

    return build
