"""A plume in a breeze, in a square: like the benchmark's, with an unknown wind, and cheap to compile."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.stats import norm
from made_missions import SIDE, hill_site

from dowsax.mission.advisor import Advisor
from dowsax.site.schema import Budget, SearchSetting
from dowsax.types import Station
from dowsax.world import Gaussian, Identity, Model, Parameter

STRONGEST = 0.8
"""Of the wind, in the units of the field, either way."""
LENGTH = 4.0
"""[m], in which the field falls to a third without wind."""
NAMES = ("x", "y", "log_q", "ux", "uy")


class Breeze(eqx.Module):
    """Anywhere in the square, with a log strength ~ N(1, 0.5²), in any wind up to the strongest."""

    coordinates: Identity = Identity()
    parameters: tuple[Parameter, ...] = eqx.field(
        static=True, default=tuple(Parameter(name, "", "") for name in NAMES)
    )

    def sample(self, key):
        place_key, strength_key, wind_key = jax.random.split(key, 3)
        place = jax.random.uniform(place_key, (2,), maxval=SIDE)
        strength = 1.0 + 0.5 * jax.random.normal(strength_key, (1,))
        wind = jax.random.uniform(wind_key, (2,), minval=-STRONGEST, maxval=STRONGEST)
        return jnp.concatenate([place, strength, wind])

    def log_prob(self, theta):
        inside = jnp.all((theta[:2] >= 0) & (theta[:2] <= SIDE)) & jnp.all(jnp.abs(theta[3:]) <= STRONGEST)
        log_volume = 2 * jnp.log(SIDE) + 2 * jnp.log(2 * STRONGEST)
        return jnp.where(inside, norm.logpdf(theta[2], 1.0, 0.5) - log_volume, -jnp.inf)


def plume(theta, station: Station):
    """Reaches further where the wind blows, and is sharp at the source."""
    offset = station.position - theta[:2]
    distance = jnp.sqrt(jnp.sum(offset**2) + 1e-6)
    return jnp.exp(theta[2] - (distance - jnp.sum(theta[3:] * offset)) / LENGTH)


MODEL = Model(Breeze(), plume, Gaussian(0.05, 0.05))
"""Noise of 5 % and of 0.05."""


def advisor(radius: float, readings: int = 40) -> Advisor:
    """For a source that may move and a wind that may turn; all of them share one compiled filter."""
    search = SearchSetting(preset="default", particles=512, radius=radius, may_jump=True)
    site = hill_site(search=search, budget=Budget(readings=readings), no_go=())
    return Advisor(site, "infotaxis", model=MODEL, warm_up=False)
