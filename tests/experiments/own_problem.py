"""A problem file as users write them: a small area, places as candidates, and a budget of way."""

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.envs import SCENARIOS, Scenario, SearchProblem, from_prior
from dowsax.geo.polygons import Bounds
from dowsax.inference import Credible, FilterConfig, Preset
from dowsax.types import Station
from dowsax.world import (
    Budget,
    Fence,
    Gaussian,
    Identity,
    Model,
    Motion,
    NearAndFar,
    Parameter,
    UniformBox,
    compose,
)

LOW, HIGH = (0.0, 0.0), (60.0, 40.0)
WAY_M = 60.0
SIDES = jnp.array([200.0, 12.0, 12.0, 12.0])
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


class InSpace(eqx.Module):
    """A strength, then a position in a cube of 12 m."""

    coordinates = Identity()
    position_columns = (1, 2, 3)
    parameters = tuple(Parameter(name, "", "") for name in "qxyz")

    def sample(self, key):
        return jax.random.uniform(key, (4,)) * SIDES

    def log_prob(self, theta):
        return jnp.where(jnp.all((theta >= 0) & (theta <= SIDES)), 0.0, -jnp.inf)


def in_space() -> SearchProblem:
    """Return a search with the six moves of a drone."""
    moves = tuple(
        tuple(2.0 * sign * (at == axis) for at in range(3)) for axis in range(3) for sign in (1, -1)
    )
    model = Model(
        InSpace(),
        lambda theta, station: theta[0] / (1.0 + jnp.sum((station.position - theta[1:]) ** 2)),
        Gaussian(0.05, 0.05),
    )
    cube = Motion(moves, (0.0,) * 3, (12.0,) * 3)
    return SearchProblem(model, BOOTSTRAP, Scenario(from_prior), cube, max_readings=6)
