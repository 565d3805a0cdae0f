"""The sensors of a site: the tables `[sensor]`, `[sensors]` and `[columns]` of a site file."""

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, FailFast, create_model, model_validator

from dowsax.site.measured import QUANTITIES, READING_UNIT, Quantity
from dowsax.site.section import (
    NonNegative,
    Number,
    Section,
    Whole,
    key,
    require_above_zero,
    require_different,
)
from dowsax.site.text import Fault

MIN_ALTITUDE_M, MAX_ALTITUDE_M = -500, 20_000
"""More than any sensor near the ground; a unit is probably wrong beyond."""


class SensorSetting(Section):
    """What the sensor is like, and what holds where a survey has no such column."""

    names: Annotated[tuple[str, ...], FailFast(), AfterValidator(require_different)] = key(
        (), example=["A", "B"]
    )
    """The sensors, where there are several. Default: those of [sensors], or of the survey."""
    reading: Literal["value", "binary", "rank"] = key("value", example="value")
    """What a reading is: "value", a number in the unit of the site; "binary", 1 for a hit and 0 for none,
    of a sensor that only detects; "rank", any number of which only the order counts, as of a metal-oxide
    sensor without calibration. The last two tell the strength of a source only relative to the threshold, and
    have keys of their own, which the reference of site files lists."""
    threshold: Annotated[NonNegative, AfterValidator(require_above_zero)] | None = key(example="unknown")
    """Concentration from which on such a sensor responds, in the unit of the field. Default: unknown."""
    false_alarms: NonNegative | None = key(example="unknown", unit="1/s")
    """Rate of hits without a source. Default: unknown, from one in three hours to one in 100 s."""
    lag: NonNegative | None = key(example=5.0, unit="s")
    """Time constant of a sensor that lags, a distribution written as in [prior]. Default: no lag."""
    dwell: Number | None = key(example=1.0, unit="s", active=True, gt=0)
    """How long each reading counts, where a survey does not say; of hits, the interval."""
    dead_time: Number | None = key(example=1e-6, unit="s", ge=0)
    """How long the sensor is blind after each count."""
    efficiency: Literal["measured"] | None = key(example="measured")
    """"measured": each reading comes with its efficiency, which multiplies what the source adds, and one
    background of all sensors. Default: that of [sensors]; of a survey, that of its column."""
    beam: Number | None = key(example=60.0, unit="°", gt=0, le=180)
    """Half-power beamwidth of an antenna, which points where the heading of each reading says. Default: it
    receives alike from everywhere."""
    front_to_back: Number = key(20.0, example=20.0, unit="dB", ge=3.1, le=100)
    """How much less an antenna with a beam receives from behind."""
    height: Number | None = key(example=1.0, unit="m", active=True, ge=0, le=MAX_ALTITUDE_M)
    """Height above ground, where a survey does not say."""
    ground: Number = key(0.0, example=0.0, unit="m", active=True, ge=MIN_ALTITUDE_M, le=MAX_ALTITUDE_M)
    """Height of the ground itself, taken off every altitude in a survey."""
    range_directions: Whole | None = key(example=8, ge=3, le=72)
    """In how many directions a range sensor measures how far it is to the next wall, evenly spaced, the first
    to the north and the next ones clockwise: as `ranges` of each live reading. Default: there is none."""
    range_limit: Number = key(10.0, example=10.0, unit="m", gt=0)
    """How far that sensor sees."""
    redundancy: Number | None = key(example=4, ge=1)
    """How many readings count as one. Readings close together in place or time share their errors: counted in
    full they make the region too small. Default: estimated, from a survey or as a mission goes."""

    @model_validator(mode="after")
    def _require_directions(self) -> "SensorSetting":
        if self.given("range_limit") and self.range_directions is None:
            raise Fault("needs `range_directions`; give it, or leave this out.", "range_limit")
        return self

    @model_validator(mode="after")
    def _require_a_beam(self) -> "SensorSetting":
        if self.given("front_to_back") and self.beam is None:
            raise Fault("needs the `beam` of the antenna; give it, or leave this out.", "front_to_back")
        return self


def _constant(quantity: Quantity) -> tuple[Any, Any]:
    """Return type and key of a quantity that is known of a sensor."""
    bounds = {"gt" if quantity.excludes_low else "ge": quantity.low, "le": quantity.high}
    limits: dict[str, Any] = {name: bound for name, bound in bounds.items() if math.isfinite(bound)}
    unit = "°" if quantity.unit == "deg" else ""
    form: Any = Number
    return form | None, key(example=quantity.example, unit=unit, description=_explain(quantity), **limits)


def _explain(quantity: Quantity) -> str:
    """Return a sentence about a quantity."""
    units = {READING_UNIT: ", in the unit of the readings; of counts, per second", "deg": " [°]"}
    return f"{quantity.meaning[0].upper()}{quantity.meaning[1:]}{units.get(quantity.unit, '')}."


_constants: dict[str, Any] = {name: _constant(quantity) for name, quantity in QUANTITIES.items()}
SensorConstants = create_model(
    "SensorConstants", __base__=Section, __doc__="What is known of one sensor.", **_constants
)
"""One entry of `[sensors]`: a key for each of `QUANTITIES`."""


class _UsualColumns(Section):
    """Which column of a survey holds what, where its name does not say so; "" leaves a column out."""

    x: str = key("", example="east_m")
    """Metres east."""
    y: str = key("", example="north_m")
    """Metres north."""
    latitude: str = key("", example="lat")
    """Degrees north."""
    longitude: str = key("", example="lon")
    """Degrees east."""
    x2: str = key("", example="reflector_x")
    """Metres east, of the far end of a path; its first end is x, y."""
    y2: str = key("", example="reflector_y")
    """Metres north, of the far end of a path."""
    latitude2: str = key("", example="reflector_lat")
    """Degrees north, of the far end of a path."""
    longitude2: str = key("", example="reflector_lon")
    """Degrees east, of the far end of a path."""
    value: str = key("", example="ch4")
    """The reading."""
    altitude: str = key("", example="alt")
    """Height of the sensor [m]."""
    time: str = key("", example="")
    """Seconds, or date and time."""
    date: str = key("", example="day")
    """The date, where it is not with the time."""
    wind_u: str = key("", example="u")
    """Wind velocity east [m/s]: where the air goes."""
    wind_v: str = key("", example="v")
    """Wind velocity north [m/s]: where the air goes."""
    wind_speed: str = key("", example="ws")
    """Wind speed [m/s]."""
    wind_from: str = key("", example="wd")
    """Direction the wind comes FROM, degrees clockwise from north."""
    dwell: str = key("", example="live_time")
    """How long the reading counts [s]."""
    sensor: str = key("", example="instrument")
    """Name of the sensor."""


_columns: dict[str, Any] = {
    name: (str, key("", example=quantity.aliases.split()[0], description=_explain(quantity)))
    for name, quantity in QUANTITIES.items()
}
ColumnsSetting = create_model(
    "ColumnsSetting", __base__=_UsualColumns, __doc__=_UsualColumns.__doc__, **_columns
)
"""A key for each role of a column, `QUANTITIES` included."""
