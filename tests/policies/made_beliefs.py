"""Beliefs made by hand, with a history, for tests of what is done with a belief."""

import jax.numpy as jnp
import numpy as np

from dowsax.inference.belief import Belief, History
from dowsax.inference.weights import normalise
from dowsax.types import Station

NUM_PARTICLES = 48
HORIZON = 8


def as_belief(particles, log_weights=None, stations=None, readings=None, size=0) -> Belief:
    """Particles, their log weights (normalised here, or uniform), and a history, which may be empty."""
    zeros = jnp.zeros(particles.shape[0], jnp.float32)
    stations = Station(jnp.zeros((HORIZON, 2))) if stations is None else stations
    readings = jnp.zeros(stations.position.shape[0]) if readings is None else readings
    return Belief(
        particles,
        normalise(zeros if log_weights is None else log_weights),
        zeros,
        jnp.zeros(particles.shape[0], jnp.int32),
        History(stations, readings, jnp.asarray(size, jnp.int32)),
        jnp.zeros(()),
        jnp.ones(()),
    )


def walk_belief(seed: int) -> Belief:
    """Sources all over the area with uneven weights, and five readings on a random walk through it."""
    random = np.random.default_rng(seed)
    low = [5.0, 5.0, 10.0, -2.0, -2.0, 1.0, 0.5]
    high = [20.0, 20.0, 3000.0, 2.0, 2.0, 5.0, 1.5]
    walk = 8 + np.cumsum(random.uniform(-1, 1, (HORIZON, 2)), axis=0)
    made = (
        random.uniform(low, high, (NUM_PARTICLES, 7)),
        random.normal(size=NUM_PARTICLES),
        walk,
        random.exponential(size=HORIZON),
    )
    particles, log_weights, walk, readings = (jnp.asarray(one, jnp.float32) for one in made)
    return as_belief(particles, log_weights, Station(walk), readings, size=5)
