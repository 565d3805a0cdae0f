"""The nearest earlier readings of each reading, for sensors whose readings depend on them."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.types import Earlier, Station
from dowsax.world.base import Remembers, Sensor


def remembering(sensor: Sensor) -> Remembers | None:
    """Return the sensor, or the one inside of it, whose readings depend on earlier ones."""
    inner: Any = sensor
    while inner is not None and not isinstance(inner, Remembers):
        inner = getattr(inner, "sensor", None)
    return inner


def recall(
    sensor: Sensor,
    station: Station,
    stations: Station,
    readings: Float[Array, " horizon"],
    size: int | Int[Array, ""],
) -> Station:
    """Return the station with its nearest among the first `size` readings, where the sensor needs them."""
    memory = remembering(sensor)
    if memory is None:
        return station
    return _recall(memory, station, stations, readings, jnp.asarray(size, jnp.int32))


# Compiled as a whole where it is not part of a program: else some two hundred operations compile one by one.
@eqx.filter_jit
def _recall(
    memory: Remembers,
    station: Station,
    stations: Station,
    readings: Float[Array, " horizon"],
    size: Int[Array, ""],
) -> Station:
    bare = replace(station, earlier=None)
    earlier = _nearest(memory, bare, replace(stations, earlier=None), readings, size)
    return replace(bare, earlier=memory.condense(bare, earlier))


def recall_all(sensor: Sensor, stations: Station, readings: Float[Array, " k"]) -> Station:
    """Return the stations of one survey, each with its nearest among the readings before it."""
    if remembering(sensor) is None:
        return stations
    numbers = jnp.arange(readings.shape[0])
    return jax.vmap(lambda station, number: recall(sensor, station, stations, readings, number))(
        stations, numbers
    )


def _nearest(
    memory: Remembers,
    station: Station,
    stations: Station,
    readings: Float[Array, " horizon"],
    size: Int[Array, ""],
) -> Earlier:
    horizon, number = readings.shape[0], memory.num_earlier
    ages = (size - jnp.arange(horizon)).astype(jnp.float32)
    gaps = jnp.where(ages > 0, memory.gaps(station, stations, ages), jnp.inf)
    nearest, at = jax.lax.top_k(-gaps, min(number, horizon))
    at = jnp.pad(at, (0, number - at.shape[0]))
    is_taken = jnp.pad(nearest > -jnp.inf, (0, number - nearest.shape[0]))

    def choose(leaf: Array, own: Array) -> Array:
        chosen = leaf[at]
        return jnp.where(is_taken.reshape(-1, *[1] * (chosen.ndim - 1)), chosen, jnp.asarray(own)[None])

    found = jax.tree.map(choose, stations, station)
    return Earlier(found, jnp.where(is_taken, readings[at], 0.0), is_taken)
