"""A bump in the air to find, 6 m above ground, by readings at several heights."""

import jax
import jax.numpy as jnp
from made_missions import Hill, hill_site

from dowsax.mission.advisor import Advisor
from dowsax.site.schema import StepSetting
from dowsax.types import Station
from dowsax.world import Gaussian, Model

HEIGHTS = (1.0, 6.0, 11.0)
TRUTH = (14.0, 12.0, 1.0)


def bump(theta, station: Station):
    """It is as wide as the hill, and half as high as it is wide."""
    aside = jnp.sum((station.position - theta[:2]) ** 2) + 4 * (station.altitude - 6.0) ** 2
    return jnp.exp(theta[2] - aside / 50)


MODEL = Model(Hill(), bump, Gaussian(0.05, 0.05))


def tall_site(heights=HEIGHTS, **changes):
    step = {} if heights is None else {"heights": list(heights)}
    return hill_site(**({"step": StepSetting(length=2.0, directions=8, **step)} | changes))


def tall_advisor(heights=HEIGHTS, **changes):
    log, policy = changes.pop("log", None), changes.pop("policy", "location-gain")
    ahead = changes.pop("ahead", 1)
    return Advisor(
        tall_site(heights, **changes), policy, seed=4, log=log, model=MODEL, ahead=ahead, warm_up=False
    )


@jax.jit
def _read(key, theta, position, altitude):
    return MODEL.sample_reading(key, theta, Station(position, altitude=altitude))


def read_at(number: int, position, height, truth=TRUTH) -> float:
    """A reading of the bump, the same for the same number, place and height."""
    theta, place, altitude = (jnp.asarray(values, jnp.float32) for values in (truth, position, height))
    return float(_read(jax.random.fold_in(jax.random.key(11), number), theta, place, altitude))
