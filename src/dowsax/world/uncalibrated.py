"""Models of sensors without calibration, with their unknown numbers as columns of Θ."""

import math
from collections.abc import Mapping
from typing import Any

from dowsax.world.base import DirectionDependent, Distribution, Field, Location, Sensor
from dowsax.world.fields.wind import widened
from dowsax.world.kinds import Kind, KnownOrDistribution
from dowsax.world.layout import Layout, hint, nominal, override
from dowsax.world.model import Model
from dowsax.world.sensors.binary import Binary
from dowsax.world.sensors.persistent import Persistent
from dowsax.world.sensors.rank import Rank
from dowsax.world.sensors.swaying_wind import SwayingWind
from dowsax.world.sensors.unknown_noise import UnknownNoise
from dowsax.world.source import Parameter

_MEANINGS = {
    "threshold": "concentration from which on the sensor responds",
    "fluctuation": "standard deviation of the concentration over its mean, from gust to gust",
    "correlation_time": "time for which a gust lasts",
    "false_alarms": "rate of hits without a source",
}
_UNITS = {"fluctuation": "", "correlation_time": "s", "false_alarms": "1/s"}


def require_uncalibrated(kind: Kind, reading: str, given: Mapping[str, Any]) -> None:
    """Raise a ValueError where a kind has no such reading, or for settings that such a reading has not."""
    if reading not in kind.uncalibrated:
        known = ["value", *kind.uncalibrated]
        raise ValueError(f"unknown reading {reading!r} of {kind.name}{hint(reading, known)}")
    for name, value in given.items():
        if value:
            raise ValueError(f'`{name}` is for readings with a value, not for "{reading}": leave it out.')


def compose_uncalibrated(
    kind: Kind,
    reading: str,
    location: Location,
    layout: Layout,
    source: Field,
    noise: Mapping[str, KnownOrDistribution | str],
    sway: float,
    *,
    num_sensors: int,
) -> Model:
    """Return the model of readings without calibration; `source` is a field of the columns of the layout.

    `sway` [°] is the error of the direction of the wind at each reading. For the order of readings of which
    each has its own there is no closed form: their field is that on average.
    """
    numbers = _numbers(kind, reading, noise)
    source = widened(source, math.radians(sway)) if sway and reading == "rank" else source
    field = layout.arrange(source)
    columns = {
        name: layout.unknown(Parameter(name, _UNITS.get(name, kind.unit), _MEANINGS[name]), number)
        for name, number in numbers.items()
        if isinstance(number, Distribution)
    }
    known, unknown = nominal(numbers), tuple(columns.items())
    if reading == "rank":
        sensor: Sensor = Rank(
            field, known["threshold"], known["fluctuation"], unknown, has_sensors=num_sensors > 1
        )
    else:
        sensor = UnknownNoise(Binary(**known), unknown) if unknown else Binary(**known)
        if sway:
            assert isinstance(field, DirectionDependent)
            sensor = SwayingWind(sensor, field, sway)
        sensor = Persistent(sensor, field, known["correlation_time"], columns.get("correlation_time"))
    return Model(layout.prior(location), field, sensor)


def _numbers(
    kind: Kind, reading: str, noise: Mapping[str, KnownOrDistribution | str]
) -> dict[str, KnownOrDistribution]:
    """Return the numbers of the sensor, known or with their distributions."""
    usual = kind.uncalibrated[reading]
    numbers = override(usual, usual, noise, f"noise of {reading} readings")
    for name, number in numbers.items():
        may_be_zero = name == "false_alarms"
        if not isinstance(number, Distribution) and (number < 0 or (number == 0 and not may_be_zero)):
            raise ValueError(f"`{name}` must be {'>= 0' if may_be_zero else '> 0'}; got {number:g}.")
    return numbers
