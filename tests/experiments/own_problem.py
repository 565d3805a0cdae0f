"""A problem file as users write them: a small area, places as candidates, and a budget of way."""

import jax.numpy as jnp

from dowsax.envs import SCENARIOS, SearchProblem
from dowsax.geo.polygons import Bounds
from dowsax.inference import Credible, FilterConfig, Preset
from dowsax.types import Station
from dowsax.world import Budget, Fence, NearAndFar, UniformBox, compose

LOW, HIGH = (0.0, 0.0), (60.0, 40.0)
WAY_M = 60.0
BOOTSTRAP = Preset(FilterConfig(num_particles=64, temper=False, num_moves=0, max_moves=0), ())


def leak() -> SearchProblem:
    """Return the search for a leak in a measured wind."""
    first = Station(jnp.array([5.0, 5.0]), wind=jnp.array([2.0, 1.0]), altitude=jnp.float32(1.5))
    return SearchProblem(
        compose("gas-plume", UniformBox(LOW, HIGH), wind="measured"),
        BOOTSTRAP,
        SCENARIOS["id"],
        NearAndFar(Fence.of(Bounds()), LOW, HIGH, lengths=(5.0, 20.0), directions=4, speed=2.0),
        max_readings=8,
        start=lambda key: first,
        budget=Budget(distance=WAY_M),
        stop=Credible(radius=5.0, probability=0.9),
    )


number = 3


def broken() -> SearchProblem:
    raise KeyError("leaks")
