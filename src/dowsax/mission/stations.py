"""From a reading to its station: what the model has to know of it, filled in where the site says how."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.site.schema import SensorSetting
from dowsax.survey.reading import Reading, Refused
from dowsax.types import Station
from dowsax.world import Model
from dowsax.world.trails import with_trail

MEASURED = ("wind", "altitude", "dwell", "sensor", "time", "trail")
"""What a station may hold besides its position."""
TRAIL_LENGTH = 8
"""Stations that a sensor which lags remembers."""
_DEFAULTS = {"altitude": 1.0, "dwell": 1.0}
"""[m] and [s], where neither the reading nor the site nor the field says otherwise."""
_HINTS = {
    "wind": "give wind_u and wind_v, or wind_speed and wind_from",
    "sensor": "give the name of the sensor",
    "time": "give time [s]",
}
_HOLD = ', or set missing = "interpolate" in [wind] of the site file to go on with the one before'


def needed(model: Model) -> tuple[str, ...]:
    """What of `MEASURED` the model has to know, or makes use of: found by asking it, not by a list."""
    for size in range(len(MEASURED) + 1):
        for names in combinations(MEASURED, size):
            if _traces(model, names):
                rest = [name for name in _DEFAULTS if name not in names]
                used = [name for name in rest if _matters(model, [*names, *rest], name)]
                return tuple(name for name in MEASURED if name in names or name in used)
    raise ValueError("The model gives no likelihood for any station: check its field and sensor.")


def _traces(model: Model, names: Sequence[str]) -> bool:
    theta = jax.eval_shape(model.prior.sample, jax.random.key(0))
    try:
        jax.eval_shape(model.log_likelihood, theta, example(names), jnp.zeros(()))
    except Exception:
        return False
    return True


def _matters(model: Model, names: Sequence[str], name: str) -> bool:
    """Whether what is measured under this name, one of the names, changes the likelihood of some reading.

    With the same names each time, as other ones would be compiled again.
    """
    station, reading = example(names), jnp.ones(())
    other = example(names, **{name: 3.0})
    return bool(jnp.any(likelihoods(model, station, reading) != likelihoods(model, other, reading)))


@eqx.filter_jit
def likelihoods(model: Model, station: Station, reading: jax.Array) -> jax.Array:
    """Log likelihoods of one reading from 64 sources that the prior has."""
    thetas = jax.vmap(model.prior.sample)(jax.random.split(jax.random.key(0), 64))
    return jax.vmap(model.log_likelihood, in_axes=(0, None, None))(thetas, station, reading)


def example(names: Sequence[str], **numbers: float) -> Station:
    """A station that holds these, with the numbers given or made up."""
    made: dict[str, Any] = {"wind": (1.0, 0.0), "altitude": 1.0, "dwell": 1.0, "time": 0.0, **numbers}
    reading = Reading((0.0, 0.0), 0.0, **{name: value for name, value in made.items() if name in names})
    return Stations(tuple(name for name in MEASURED if name in names)).station(reading, [])


def usual_altitude(model: Model) -> float:
    """[m], that of the sensors of this field where nothing else is said."""
    inner: Any = model.field
    while hasattr(inner, "field"):
        inner = inner.field
    return float(getattr(inner, "altitude", _DEFAULTS["altitude"]))


@dataclass(frozen=True)
class Stations:
    """Makes stations of readings."""

    names: tuple[str, ...]
    """What the model has to know: some of `MEASURED`."""
    sensor: SensorSetting = field(default_factory=SensorSetting)
    hold_wind: bool = False
    """Whether a reading without wind has the wind of the one before it."""
    altitude: float = _DEFAULTS["altitude"]
    """[m], of readings and sites that say none."""

    @property
    def ordered(self) -> bool:
        """Whether it matters in which order the readings were taken."""
        return "trail" in self.names

    def completed(self, reading: Reading, before: Sequence[Reading]) -> Reading:
        """The reading with what the site says of all of them, or `Refused`."""
        sensor, altitude, dwell, wind = reading.sensor, reading.altitude, reading.dwell, reading.wind
        altitude = self.sensor.height if altitude is None else altitude - self.sensor.ground
        if wind is None and self.hold_wind and before:
            wind = before[-1].wind
        if sensor is None and len(self.sensor.names) == 1:
            sensor = self.sensor.names[0]
        filled = {
            "wind": wind,
            "altitude": self.altitude if altitude is None else altitude,
            "dwell": dwell or self.sensor.dwell or _DEFAULTS["dwell"],
            "sensor": sensor,
            "time": reading.time,
        }
        for name in (*self.names, *(["time"] if self.ordered else [])):
            if name in filled and filled[name] is None:
                hold = name == "wind" and not self.hold_wind
                hint = _HINTS[name] + (_HOLD if hold else "")
                raise Refused(f"The {name} is missing, and the field depends on it: {hint}.")
        self._number_of(sensor)
        return replace(reading, **filled)

    def station(self, reading: Reading, before: Sequence[Reading]) -> Station:
        """The station of a completed reading, after those before it."""
        start = before[0].time if before else reading.time
        if not self.ordered:
            return self._bare(reading, start)
        own = [item for item in before if item.sensor == reading.sensor][-TRAIL_LENGTH:]
        rows = [self._bare(item, start) for item in (*own, reading)]
        # Together with their times, which a trail is made of, whether the model asks for them or not.
        times = jnp.asarray([(item.time or 0.0) - (start or 0.0) for item in (*own, reading)], jnp.float32)
        stacked = replace(jax.tree.map(lambda *leaves: jnp.stack(leaves), *rows), time=times)
        trailed = jax.tree.map(lambda leaf: leaf[-1], with_trail(stacked, TRAIL_LENGTH))
        return trailed if "time" in self.names else _untimed(trailed)

    def _bare(self, reading: Reading, start: float | None) -> Station:
        """The station without a trail."""

        def number(name: str, value) -> jax.Array | None:
            return single(value) if name in self.names else None

        sensor = jnp.asarray(np.int32(self._number_of(reading.sensor))) if "sensor" in self.names else None
        return Station(
            single(reading.position),
            wind=number("wind", reading.wind),
            dwell=number("dwell", reading.dwell),
            time=number("time", None if reading.time is None else reading.time - (start or 0.0)),
            altitude=number("altitude", reading.altitude),
            sensor=sensor,
        )

    def _number_of(self, name: str | None) -> int:
        names = self.sensor.names
        if name is None or not names:
            return 0
        if name not in names:
            raise Refused(f"Unknown sensor {name!r}: the site file names {', '.join(names)}.")
        return names.index(name)


def single(values) -> jax.Array:
    """Numbers in single precision. By way of numpy, which is ten times as fast."""
    return jnp.asarray(np.asarray(values, np.float32))


def _untimed(station: Station) -> Station:
    trail = station.trail
    assert trail is not None
    return replace(station, time=None, trail=replace(trail, stations=replace(trail.stations, time=None)))
