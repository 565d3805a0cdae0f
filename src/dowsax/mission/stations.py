"""From a reading to its station: everything the model needs, completed from the site."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dowsax.programs import stored_jit
from dowsax.site.area import ListedPath
from dowsax.site.measured import QUANTITIES
from dowsax.site.schema import SensorSetting
from dowsax.survey.reading import Reading, Refused
from dowsax.types import Station
from dowsax.world import Model
from dowsax.world.trails import with_trail

MEASURED = ("wind", "altitude", "dwell", "sensor", "time", "trail", *QUANTITIES)
"""What may be measured besides position and value."""
FAR_END = "far_end"
"""Among the names of `Stations` where readings may be along paths; those at points have none."""
SEARCHER = "searcher"
"""Among the names of `Stations` where there are several searchers."""
TRAIL_LENGTH = 8
"""Earlier stations that affect the reading of a lagging sensor."""
_SAME_END_M = 0.1
"""[m], within which the end of a reading's path is that of a listed one."""
_DEFAULTS = {"altitude": 1.0, "dwell": 1.0}
"""[m] and [s], where neither the reading, the site nor the field gives one."""
_HINTS = {
    "wind": "give wind_u and wind_v, or wind_speed and wind_from",
    "sensor": "give the name of the sensor",
    "time": "give time [s]",
}
_KNOWN_OF_SENSORS = "give it with the reading, or of its sensor in [sensors] of the site file"
_HOLD = ', or set missing = "interpolate" in [wind] of the site file to use the one before'


def required_measurements(model: Model) -> tuple[str, ...]:
    """Return the entries of `MEASURED` that the model needs or uses: found by calling the model.

    Most models need nothing or one; others what they fail without, while they have all the rest.
    """
    needed = next((names for names in ((), *((name,) for name in MEASURED)) if _traces(model, names)), None)
    if needed is None:
        needed = [name for name in MEASURED if not _traces(model, [one for one in MEASURED if one != name])]
        if not _traces(model, needed):
            raise ValueError("The model gives no likelihood for any station: check its field and sensor.")
    rest = [name for name in _DEFAULTS if name not in needed]
    used = [name for name in rest if _matters(model, [*needed, *rest], name)]
    return tuple(name for name in MEASURED if name in needed or name in used)


def _traces(model: Model, names: Sequence[str]) -> bool:
    theta = jax.eval_shape(model.prior.sample, jax.random.key(0))
    try:
        jax.eval_shape(model.log_likelihood, theta, example_station(names), jnp.zeros(()))
    except Exception:
        return False
    return True


def _matters(model: Model, names: Sequence[str], name: str) -> bool:
    """Whether the measurement of this name changes the likelihood of some reading.

    Both stations hold the same names, so that the model is compiled once. There is one reading before, as a
    first one may say nothing.
    """
    reading, usual = jnp.ones(()), example_station(names)
    before = jax.tree.map(lambda leaf: leaf[None], usual)
    terms, others = (
        prior_log_likelihoods(model, model.recall(station, before, jnp.zeros(1), 1), reading)
        for station in (usual, example_station(names, **{name: 3.0}))
    )
    return bool(jnp.any(terms != others))


@stored_jit
def prior_log_likelihoods(model: Model, station: Station, reading: jax.Array) -> jax.Array:
    """Return the log likelihoods of one reading for 64 sources from the prior."""
    thetas = jax.vmap(model.prior.sample)(jax.random.split(jax.random.key(0), 64))
    return jax.vmap(model.log_likelihood, in_axes=(0, None, None))(thetas, station, reading)


def example_station(names: Sequence[str], **numbers: float) -> Station:
    """Return a station with these measurements; `numbers` replace their made-up values."""
    return Stations(tuple(name for name in (*MEASURED, FAR_END, SEARCHER) if name in names)).station(
        example_reading(names, (0.0, 0.0), **numbers), []
    )


def example_reading(names: Sequence[str], position: tuple[float, float], **numbers: float) -> Reading:
    """Return a reading of 0 with these measurements; `numbers` replace their made-up values."""
    made: dict[str, Any] = {"wind": (1.0, 0.0), "altitude": 1.0, "dwell": 1.0, "time": 0.0, **numbers}
    known = {name: value for name, value in made.items() if name in names and name not in QUANTITIES}
    quantities = {
        name: numbers.get(name, quantity.example) for name, quantity in QUANTITIES.items() if name in names
    }
    return Reading(position, 0.0, **known, quantities=quantities)


def default_altitude(model: Model) -> float:
    """Return the altitude [m] of the sensor that the field assumes."""
    inner: Any = model.field
    while hasattr(inner, "field"):
        inner = inner.field
    return float(getattr(inner, "altitude", _DEFAULTS["altitude"]))


@dataclass(frozen=True)
class Stations:
    """Converts readings to stations."""

    names: tuple[str, ...]
    """The entries of `MEASURED` that the model needs, and `FAR_END` where the site has paths."""
    sensor: SensorSetting = field(default_factory=SensorSetting)
    sensors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What the site knows of each sensor: some of `QUANTITIES`."""
    hold_wind: bool = False
    """Whether a reading without wind takes the wind of the reading before it."""
    altitude: float = _DEFAULTS["altitude"]
    """[m], where neither the reading nor the site gives one."""
    interval: float | None = None
    """[s], between two readings on the way, where the sensor takes any."""
    paths: tuple[ListedPath, ...] = ()
    """Of the site, each with its height."""
    searchers: tuple[str, ...] = ()
    """The names of the searchers; none where there is one without a name."""

    @property
    def depends_on_order(self) -> bool:
        """Whether the order of the readings matters."""
        return "trail" in self.names

    def usual_dwell(self, *, moving: bool) -> float | None:
        """Return how long [s] a reading counts that does not say so; on the way at most the interval."""
        if not moving or self.interval is None:
            return self.sensor.dwell
        return min(self.sensor.dwell or _DEFAULTS["dwell"], self.interval)

    @property
    def usual_height(self) -> float:
        """[m] above ground, of the sensor where nothing else is known."""
        return self.altitude if self.sensor.height is None else self.sensor.height

    def complete(self, reading: Reading, before: Sequence[Reading], height: float | None = None) -> Reading:
        """Return the reading with missing values from the site filled in, or `Refused`.

        `height` [m] above ground is that of a reading which does not say it. Default: that of the site.
        """
        sensor, altitude, dwell, wind = reading.sensor, reading.altitude, reading.dwell, reading.wind
        if altitude is not None:
            altitude -= self.sensor.ground
        else:
            altitude = self._known_height(reading) if height is None else height
        if reading.far_end is not None and FAR_END not in self.names:
            raise Refused(
                "This site is read at points: leave the far end of the path out, or list the paths of a "
                "gas-plume as [[paths]] in the site file."
            )
        self._require_ranges(reading)
        if wind is None and self.hold_wind and before:
            wind = before[-1].wind
        if sensor is None and len(self.sensor.names) == 1:
            sensor = self.sensor.names[0]
        filled = {
            "wind": wind,
            "altitude": self.altitude if altitude is None else altitude,
            "dwell": dwell or self.usual_dwell(moving=reading.moving) or _DEFAULTS["dwell"],
            "sensor": sensor,
            "time": reading.time,
        }
        for name in (*self.names, *(["time"] if self.depends_on_order else [])):
            if name in filled and filled[name] is None:
                hold = name == "wind" and not self.hold_wind
                hint = _HINTS[name] + (_HOLD if hold else "")
                raise Refused(f"The {name} is missing, and the field depends on it: {hint}.")
        self._number_of(sensor)
        return replace(reading, **filled, quantities=self._complete_quantities(reading, sensor))

    def _require_ranges(self, reading: Reading) -> None:
        """Refuse ranges that are not those of the site's sensor."""
        wanted = self.sensor.range_directions
        if reading.ranges is None:
            return
        if wanted is None:
            raise Refused(
                "This site has no range sensor: leave `ranges` out, or give `range_directions` and "
                "`range_limit` in [sensor] of the site file."
            )
        if len(reading.ranges) != wanted:
            raise Refused(
                f"`ranges` must be {wanted} lengths, clockwise from north; got {len(reading.ranges)}."
            )

    def _known_height(self, reading: Reading) -> float | None:
        """Return the height [m] of the listed path of a reading, else that of the sensor."""
        if reading.far_end is None:
            return self.sensor.height
        heights = {
            path.height: path.name
            for path in self.paths
            for first, second in (path.ends, path.ends[::-1])
            if math.dist(reading.position, first) <= _SAME_END_M
            and math.dist(reading.far_end, second) <= _SAME_END_M
        }
        if len(heights) > 1:
            raise Refused(
                f"The paths {', '.join(heights.values())} have these ends, at different heights: give the "
                "`altitude` of the one that was read."
            )
        return next(iter(heights), self.sensor.height)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Those of `QUANTITIES` that the model needs."""
        return tuple(name for name in QUANTITIES if name in self.names)

    def _complete_quantities(self, reading: Reading, sensor: str | None) -> dict[str, float]:
        """Return the quantities of a reading, or of its sensor; or `Refused`."""
        for name in reading.quantities:
            if name not in self.names:
                raise Refused(f"`{name}` is not used here: leave it out, or ask for it in the site file.")
        known = {**self.known_of(sensor), **reading.quantities}
        for name in self.quantities:
            is_of_sensor = sensor is None and any(name in constants for constants in self.sensors.values())
            if name not in known or (is_of_sensor and name not in reading.quantities):
                hint = "give the name of the sensor" if is_of_sensor else _KNOWN_OF_SENSORS
                raise Refused(f"The {name} is missing, and the field depends on it: {hint}.")
        return {name: known[name] for name in self.quantities}

    def known_of(self, sensor: str | None) -> dict[str, float]:
        """Return what is known of a sensor where a reading does not say it."""
        defaults = {name: one.default for name, one in QUANTITIES.items() if one.default is not None}
        return defaults | ({} if sensor is None else dict(self.sensors.get(sensor, {})))

    def station(self, reading: Reading, before: Sequence[Reading]) -> Station:
        """Return the station of a completed reading, given the readings before it."""
        start = before[0].time if before else reading.time
        if not self.depends_on_order:
            return self._bare(reading, start)
        own = [item for item in before if is_of_same_sensor(item, reading)][-TRAIL_LENGTH:]
        rows = [self._bare(item, start) for item in (*own, reading)]
        # A trail needs the times, even where the model does not.
        times = jnp.asarray([(item.time or 0.0) - (start or 0.0) for item in (*own, reading)], jnp.float32)
        stacked = replace(jax.tree.map(lambda *leaves: jnp.stack(leaves), *rows), time=times)
        trailed = jax.tree.map(lambda leaf: leaf[-1], with_trail(stacked, TRAIL_LENGTH))
        return trailed if "time" in self.names else _drop_time(trailed)

    def _bare(self, reading: Reading, start: float | None) -> Station:
        """Return the station without a trail."""

        def number(name: str, value) -> jax.Array | None:
            return to_float32(value) if name in self.names else None

        sensor = jnp.asarray(np.int32(self._number_of(reading.sensor))) if "sensor" in self.names else None
        quantities: dict[str, Any] = {name: to_float32(reading.quantities[name]) for name in self.quantities}
        searcher = jnp.asarray(np.int32(self._searcher_number(reading))) if SEARCHER in self.names else None
        return Station(
            to_float32(reading.position),
            wind=number("wind", reading.wind),
            dwell=number("dwell", reading.dwell),
            time=number("time", None if reading.time is None else reading.time - (start or 0.0)),
            altitude=number("altitude", reading.altitude),
            sensor=sensor,
            searcher=searcher,
            far_end=number(FAR_END, reading.far_end or reading.position),
            **quantities,
        )

    def _searcher_number(self, reading: Reading) -> int:
        return self.searchers.index(reading.searcher) if reading.searcher in self.searchers else 0

    def _number_of(self, name: str | None) -> int:
        names = self.sensor.names
        if name is None or not names:
            return 0
        if name not in names:
            raise Refused(f"Unknown sensor {name!r}: the site file names {', '.join(names)}.")
        return names.index(name)


def is_of_same_sensor(one: Reading, other: Reading) -> bool:
    """Return whether two readings are of one sensor that one searcher carries."""
    return (one.sensor, one.searcher) == (other.sensor, other.searcher)


def to_float32(values) -> jax.Array:
    """Convert numbers to float32. Through numpy, which is ten times as fast."""
    return jnp.asarray(np.asarray(values, np.float32))


def _drop_time(station: Station) -> Station:
    trail = station.trail
    assert trail is not None
    return replace(station, time=None, trail=replace(trail, stations=replace(trail.stations, time=None)))
