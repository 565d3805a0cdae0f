"""A small site with a fence, a no-go area and a smooth hill to find: cheap to compile, quick to search."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm

from dowsax.geo.local import LocalCoordinates
from dowsax.site.schema import Budget, SearchSetting, StepSetting
from dowsax.site.site import Site
from dowsax.types import Station
from dowsax.world import Gaussian, Identity, Model, Parameter

SIDE = 20.0
FENCE = np.array([[0.0, 0.0], [SIDE, 0.0], [SIDE, SIDE], [0.0, SIDE]])
POND = np.array([[7.0, 7.0], [11.0, 7.0], [11.0, 11.0], [7.0, 11.0]])
TRUTH = (14.0, 12.0, 1.0)


class Hill(eqx.Module):
    """Anywhere in the square, with a log height ~ N(1, 0.5²)."""

    coordinates: Identity = Identity()
    parameters: tuple[Parameter, ...] = eqx.field(
        static=True,
        default=(
            Parameter("x", "m", "east"),
            Parameter("y", "m", "north"),
            Parameter("log_q", "", "log height"),
        ),
    )

    def sample(self, key):
        place_key, height_key = jax.random.split(key)
        place = jax.random.uniform(place_key, (2,), maxval=SIDE)
        return jnp.append(place, 1.0 + 0.5 * jax.random.normal(height_key))

    def log_prob(self, theta):
        inside = jnp.all((theta[:2] >= 0) & (theta[:2] <= SIDE))
        return jnp.where(inside, norm.logpdf(theta[2], 1.0, 0.5) - 2 * jnp.log(SIDE), -jnp.inf)


def height(theta, station: Station):
    return jnp.exp(theta[2] - jnp.sum((station.position - theta[:2]) ** 2) / 50)


MODEL = Model(Hill(), height, Gaussian(0.05, 0.05))


def hill_site(preset="plain", particles=512, **changes) -> Site:
    """The site; `changes` are fields of `Site`."""
    fields = {
        "name": "hill",
        "coordinates": LocalCoordinates(),
        "area": ((0.0, 0.0), (SIDE, SIDE)),
        "kind": "temperature",
        "unit": "K",
        "geofence": (FENCE,),
        "no_go": (POND,),
        "start": (2.0, 2.0),
        "step": StepSetting(length=2.0, directions=8),
        "budget": Budget(readings=40),
        "search": SearchSetting.model_construct(preset=preset, particles=particles, radius=1.5),
    }
    return Site(**(fields | changes))


@jax.jit
def _read(key, theta, position):
    return MODEL.sample_reading(key, theta, Station(position))


def read(number: int, position, truth=TRUTH) -> float:
    """A reading of the hill, the same for the same number and place."""
    theta, place = (jnp.asarray(values, jnp.float32) for values in (truth, position))
    return float(_read(jax.random.fold_in(jax.random.key(11), number), theta, place))
