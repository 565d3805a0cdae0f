"""The field as a sensor with a time lag reads it."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import DirectionDependent, DirectionProfile, Field
from dowsax.world.fields.nothing import remove_source

_MIN_LAG_S = 1e-6


class Lagged(eqx.Module):
    r"""The answer of $\tau \dot y = c - y$ to a field that is constant from station to station.

    $c$ is that of a station since the one before it. So $y_k = e^{-\Delta_k/\tau} y_{k-1} + (1 -
    e^{-\Delta_k/\tau}) c_k$ exactly, or along the trail, with ages $0 = a_0 \le a_1 \le \dots \le a_l$,

    $$y = \sum_{j<l} (e^{-a_j/\tau} - e^{-a_{j+1}/\tau})\, c_j + e^{-a_l/\tau} c_l :$$

    at the end of the trail the sensor is taken to be in equilibrium. The weights add up to one. τ [s] is a
    column of Θ.
    """

    field: Field
    column: int = eqx.field(static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        weights, before = self._trail(theta, station)
        values = jnp.append(
            self.field(theta, station), jax.vmap(self.field, in_axes=(None, 0))(theta, before)
        )
        return jnp.sum(weights * values)

    def direction_profile(self, theta: Theta, station: Station, spread: Number = 0.0) -> DirectionProfile:
        """Turn the winds of the trail with that of the station: they are nearly equal within the lag."""
        turnable = self.field
        assert isinstance(turnable, DirectionDependent)
        weights, before = self._trail(theta, station)
        now = turnable.direction_profile(theta, station, spread)

        def value(turn: Scalar) -> Scalar:
            then = jax.vmap(lambda at: turnable.direction_profile(theta, at, spread).value(turn))(before)
            return weights[0] * now.value(turn) + jnp.sum(weights[1:] * then)

        return now._replace(value=value)

    def _trail(self, theta: Theta, station: Station) -> tuple[Float[Array, " l"], Station]:
        """Return the weights of the station and of those before it, and the stations before it."""
        trail = station.trail
        if trail is None:
            raise ValueError("A sensor that lags needs the stations before each reading: see `with_trail`.")
        rate = 1.0 / jnp.maximum(theta[self.column], _MIN_LAG_S)
        left = jnp.exp(-rate * trail.ages)
        return jnp.append(1.0, left) - jnp.append(left, 0.0), trail.stations

    def without_source(self) -> Field:
        return Lagged(remove_source(self.field), self.column)
