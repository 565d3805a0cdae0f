"""The model: a prior, the field of a source, and a sensor."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.types import Key, Position, Scalar, Station, Theta
from dowsax.world.base import Comparable, Field, NeedsTheta, Prior, Sensor
from dowsax.world.earlier import recall, remembering
from dowsax.world.positions import position_columns, source_columns, take_position
from dowsax.world.sensors import cheap_sampler


class Model(eqx.Module):
    r"""$p(\Theta)\, \prod_t p(z_t \mid \phi(p_t; \Theta))$.

    Attributes
    ----------
    prior
        Distribution of Θ, the parameters of the source. Its `position_columns` are the position [m]; default:
        the first two.
    field
        $\phi$: the noiseless reading of a source Θ at a station, in the unit of the readings.
    sensor
        Distribution of a reading given the noiseless one; the noise may depend on Θ too (`NeedsTheta`).
    by_number
        Where the number of sources is unknown: the model of each number.
    """

    prior: Prior
    field: Field
    sensor: Sensor
    by_number: tuple["Model", ...] = ()

    @property
    def position_columns(self) -> tuple[int, ...]:
        """The columns of Θ that are the position of the source."""
        return position_columns(self.prior)

    @property
    def other_columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns of Θ that are the positions of the sources after the first."""
        columns, axes = source_columns(self.prior), len(self.position_columns)
        return () if columns is None else tuple(block[:axes] for block in columns.blocks[1:])

    def position(self, theta: Theta) -> Position:
        """Return the position [m] of the source."""
        return take_position(theta, self.position_columns)

    def intensity(self, theta: Theta, station: Station) -> Scalar:
        r"""Return the noiseless reading $c = \phi(p; \Theta)$."""
        return self.field(theta, station)

    def log_likelihood(self, theta: Theta, station: Station, reading: Scalar) -> Scalar:
        r"""Return $\log p(z \mid \phi(p; \Theta))$ of one reading."""
        return self._sensor(theta).log_prob(reading, self.field(theta, station), station)

    def sample_reading(self, key: Key, theta: Theta, station: Station) -> Scalar:
        r"""Draw one reading $z \sim p(\cdot \mid \phi(p; \Theta))$."""
        return self._sensor(theta).sample(key, self.field(theta, station), station)

    def sketch_reading(self, key: Key, theta: Theta, station: Station) -> Scalar:
        """Draw one reading cheaply, approximately: for predictive readings of a planner."""
        return cheap_sampler(self._sensor(theta))(key, self.field(theta, station), station)

    def comparable(self, reading: Scalar, station: Station) -> Scalar:
        """Return the number by which a reading compares with others at a station: mostly itself."""
        sensor = remembering(self.sensor)
        return sensor.comparable(reading, station) if isinstance(sensor, Comparable) else reading

    def simulate(self, key: Key, theta: Theta, stations: Station) -> Float[Array, " length"]:
        """Draw one reading at every station of a path, one after the other."""
        number = stations.position.shape[0]
        keys = jax.random.split(key, number)
        if remembering(self.sensor) is None:
            return jax.vmap(self.sample_reading, in_axes=(0, None, 0))(keys, theta, stations)

        def read(at: Int[Array, ""], readings: Float[Array, " length"]) -> Float[Array, " length"]:
            station = jax.tree.map(lambda leaf: leaf[at], stations)
            station = self.recall(station, stations, readings, at)
            return readings.at[at].set(self.sample_reading(keys[at], theta, station))

        return jax.lax.fori_loop(0, number, read, jnp.zeros(number))

    def recall(
        self,
        station: Station,
        stations: Station,
        readings: Float[Array, " horizon"],
        size: int | Int[Array, ""],
    ) -> Station:
        """Return the station with its nearest among the first `size` readings, if the sensor needs them."""
        return recall(self.sensor, station, stations, readings, size)

    def _sensor(self, theta: Theta) -> Sensor:
        return self.sensor.bind(theta) if isinstance(self.sensor, NeedsTheta) else self.sensor
