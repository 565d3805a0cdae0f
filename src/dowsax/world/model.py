"""The model: what is believed beforehand, what a source does to the world, and what a sensor makes of it."""

import equinox as eqx
import jax
from jaxtyping import Array, Float

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Field, Prior, Sensor, Unsettled
from dowsax.world.sensors import sketching


class Model(eqx.Module):
    r"""$p(\Theta)\, \prod_t p(z_t \mid \phi(p_t; \Theta))$; the noise may depend on Θ too (`Unsettled`)."""

    prior: Prior
    field: Field
    sensor: Sensor

    def intensity(self, theta: Theta, station: Station) -> Scalar:
        r"""$c = \phi(p; \Theta)$."""
        return self.field(theta, station)

    def log_likelihood(self, theta: Theta, station: Station, reading: Scalar) -> Scalar:
        r"""$\log p(z \mid \phi(p; \Theta))$ of one reading."""
        return self._sensor(theta).log_prob(reading, self.field(theta, station), station)

    def sample_reading(self, key: Key, theta: Theta, station: Station) -> Scalar:
        r"""$z \sim p(\cdot \mid \phi(p; \Theta))$, one reading."""
        return self._sensor(theta).sample(key, self.field(theta, station), station)

    def sketch_reading(self, key: Key, theta: Theta, station: Station) -> Scalar:
        """A reading that is cheap to draw and nearly of the law: for what is only imagined."""
        return sketching(self._sensor(theta))(key, self.field(theta, station), station)

    def simulate(self, key: Key, theta: Theta, stations: Station) -> Float[Array, " length"]:
        """One reading at every station of a path."""
        keys = jax.random.split(key, stations.position.shape[0])
        return jax.vmap(self.sample_reading, in_axes=(0, None, 0))(keys, theta, stations)

    def _sensor(self, theta: Theta) -> Sensor:
        return self.sensor.settled(theta) if isinstance(self.sensor, Unsettled) else self.sensor
