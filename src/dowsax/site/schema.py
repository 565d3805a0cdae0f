"""The site file: every key with its type, range, default, unit and explanation.

Parsing, errors, the file that `dowsax site new` writes and the reference page all come from these classes.
The text below a key explains it to users.
"""

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, model_validator

from dowsax.site.area import AreaSetting, MapSetting, ObstacleSetting, PathSetting, PolygonSetting
from dowsax.site.flight import FlightSetting
from dowsax.site.kinds import KINDS
from dowsax.site.searcher import SearcherSetting
from dowsax.site.section import (
    Distribution,
    Flag,
    Heights,
    NonNegative,
    Number,
    Pair,
    Points,
    Section,
    Whole,
    ends,
    key,
    one_of,
    require_above_zero,
    require_positive,
)
from dowsax.site.sensor import ColumnsSetting, SensorConstants, SensorSetting
from dowsax.site.text import Fault
from dowsax.world.sensors.correlated import MAX_CORRELATION
from dowsax.world.several_columns import numbers_of_sources
from dowsax.world.units import MOLAR_MASSES

MAX_POLYGONS, MAX_POINTS, MAX_PATHS = 200, 2000, 500
"""Polygons of a geofence or of no-go areas, places to go, and open paths."""
MAX_WIND_M_S = 150
"""More than any wind near the ground; a unit is probably wrong beyond."""
MIN_INTERVAL_S = 0.01
"""Between two readings: shorter is probably a wrong unit."""
MAX_SENSORS = 1000
"""Of a site or a survey."""
MAX_PRIOR_KEYS = 100
"""More than any kind has parameters."""
DIRECTION_ERROR_DEG = 10.0
"""Of a measured wind: as it scatters within minutes in neutral air, Pasquill's class D."""


def _require_noise(floor: Any) -> Any:
    if ends(floor) == (0.0,):
        raise ValueError("must be > 0; got 0: no sensor is exact.")
    return floor


def _require_correlation(correlation: Any) -> Any:
    if max(ends(correlation), default=0.0) > MAX_CORRELATION:
        raise ValueError(f"must be at most {MAX_CORRELATION}: a reading has some noise of its own.")
    return correlation


def _require_number(sources: Any) -> Any:
    """Refuse what is no number of sources, before any type of the key is tried: the error names the range."""
    numbers_of_sources(sources)
    return sources


def _require_few(table: Any) -> Any:
    """Refuse many keys before any of them is looked at."""
    if isinstance(table, dict) and len(table) > MAX_PRIOR_KEYS:
        raise ValueError(f"must have at most {MAX_PRIOR_KEYS} keys; got {len(table):,}.")
    return table


class FieldSetting(Section):
    """What is measured."""

    kind: Annotated[str, one_of(KINDS)] = key(..., active=True)
    """Gas in the wind, counts, decibels that fall with distance, buried iron, or a field of the benchmark."""
    unit: str | None = key(active=True)
    """Unit of the readings. A survey whose header has another unit is converted where a factor is enough."""
    gas: Annotated[str | Number, one_of(MOLAR_MASSES), AfterValidator(require_positive)] | None = key(
        example="methane", active=True
    )
    """With it the release rate is in grams per second: methane, carbon dioxide, carbon monoxide, hydrogen
    sulfide, sulfur dioxide, ammonia, propane, hydrogen, or a molar mass [g/mol]."""
    growth: Literal["briggs", "unknown"] = key("briggs", example="unknown")
    """How the plume widens with distance: "briggs", by his formulas, or "unknown". Over hundreds of metres
    the formulas claim more than is known, and the region may be too small."""
    size: Number | None = key(example=0.2, unit="m")
    """Width of the source itself."""
    depth: Number | None = key(example=3.0, unit="m", gt=0)
    """Depth of the layer in which gas among buildings is mixed; release rates are in proportion to it.
    Default: 3."""
    standoff: Number | None = key(example=0.1, unit="m")
    """How near a sensor can come to the source."""
    inclination: Number | None = key(example=65.0, unit="°")
    """Inclination of the earth's magnetic field, downwards."""
    declination: Number | None = key(example=0.0, unit="°")
    """Declination of the earth's magnetic field, east of north."""


class BackgroundSetting(Section):
    """What the sensor reads where there is no source."""

    mode: Literal["usual", "none", "known", "measured", "unknown", "per-sensor"] = key(
        "usual", example="usual", active=True
    )
    """"usual" for the kind, "none", "known" (then give value), "measured" (known with each reading, as its
    background, or of each sensor, in [sensors]), "unknown" (then a range may be given), or "per-sensor":
    unknown, and different for each sensor. With "usual" a survey that has such a column is "measured"."""
    value: Number | None = key(example=1.9)
    """The known background, in the unit of the readings; of counts, per second."""
    range: Distribution | None = key(example=[1.7, 2.5])
    """The distribution of an unknown background, in the same unit; of a measured one, for rehearsals."""

    variation: Number | None = key(example=0.05, ge=0, le=1)
    """Of counts: how much the background varies from place to place, as a share of it. Default: 0.05, as over
    one kind of ground."""

    @model_validator(mode="before")
    @classmethod
    def _imply_mode(cls, table: Any) -> Any:
        if isinstance(table, dict) and "mode" not in table and ("value" in table or "range" in table):
            return {**table, "mode": "known" if "value" in table else "unknown"}
        return table

    @model_validator(mode="after")
    def _require_what_the_mode_needs(self) -> "BackgroundSetting":
        if self.mode == "known":
            self.require("value")
        elif self.given("value"):
            raise Fault('is for mode = "known"; give a range where it is not known.', "value")
        if self.mode not in ("unknown", "per-sensor", "measured") and self.given("range"):
            raise Fault('is for an unknown background; leave it out, or set mode = "unknown".', "range")
        return self

    @property
    def distribution(self) -> Distribution | None:
        """The known value or the distribution; `None` for that of the kind."""
        return self.range if self.value is None else self.value


class NoiseSetting(Section):
    """How readings scatter around the truth; numbers may be distributions, written as in [prior]."""

    floor: Annotated[NonNegative, AfterValidator(_require_noise)] | None = key(example="unknown", active=True)
    """Standard deviation where there is nothing to read, in the unit of the readings."""
    ratio: NonNegative | None = key(example="unknown", active=True)
    """Standard deviation as a share of what the source adds to the background. Of counts it is the error of
    the inverse-square law, besides Poisson's noise; "unknown", the default, is 0.15 within a factor of 2."""
    uncertainty: Literal["measured"] | None = key(example="measured")
    """"measured": each reading comes with its uncertainty, a standard deviation that adds to the floor as the
    square root of the sum of squares. Default: that of [sensors]; of a survey, that of its column."""
    correlation: Annotated[NonNegative, AfterValidator(_require_correlation)] | None = key(
        example="unknown", active=True
    )
    """Correlation of the noise of two readings at one place, up to 0.95: what stands in the way of one
    stands in the way of its neighbours too. 0 where every reading errs on its own."""
    correlation_length: Annotated[NonNegative, AfterValidator(_require_noise)] | None = key(
        example="unknown", unit="m", active=True
    )
    """Distance over which that correlation falls to a third."""
    fluctuation: Annotated[NonNegative, AfterValidator(require_above_zero)] | None = key(example="unknown")
    """Of a reading without calibration: standard deviation of the concentration over its mean, from gust to
    gust. Default: unknown, 1 within a factor of 2."""
    correlation_time: Annotated[NonNegative, AfterValidator(require_above_zero)] | None = key(
        example="unknown", unit="s"
    )
    """How long a gust lasts, within which hits come in runs. Default: unknown, 5 within a factor of 3."""
    robust: Annotated[Flag | Number, AfterValidator(require_positive)] = key(False, example=True, active=True)
    """Whether a few readings may be far off; a number is the degrees of freedom of Student's t."""
    edge: Number = key(0.0, example=0.1, ge=0, le=0.9)
    """How far off the edges of the plume may be, as a share of its middle: for rows of samplers across it."""
    shielded: Number | None = key(example=0.1, ge=0, le=0.9)
    """Of counts: the share of readings with something dense between source and sensor, which see about a
    third of it. Default: 0.1."""


class WindSetting(Section):
    """What carries the plume."""

    mode: Literal["measured", "constant", "unknown"] = key("measured", example="measured", active=True)
    """"measured" with each reading, "constant" (then give it below), or "unknown" and inferred, with ux and
    uy [m/s], where the air goes, as further keys of [prior]."""
    missing: Literal["leave-out", "interpolate", "refuse"] = key(
        "leave-out", example="leave-out", active=True
    )
    """What becomes of a reading without wind: "leave-out", "interpolate" in time, or "refuse"."""
    direction_error: Number = key(
        DIRECTION_ERROR_DEG, example=DIRECTION_ERROR_DEG, unit="°", active=True, ge=0, le=45
    )
    """Standard deviation of the measured direction from the wind that carries the plume, another error at
    each reading: gusts, and the anemometer. 10 is usual within minutes by day; 20 in light wind and sunshine;
    0 for one mean wind given with every reading. An error that all readings share is `turn` in [prior]."""
    speed: Number | None = key(example=3.0, unit="m/s", ge=0, le=MAX_WIND_M_S)
    """Speed of the constant wind."""
    from_: Number | None = key(example=270.0, unit="°", ge=-360, le=360, alias="from")
    """Direction the constant wind comes FROM, clockwise from north: 270 is a west wind."""
    velocity: Pair | None = key(example=[3.0, 0.0], unit="m/s")
    """Velocity of the constant wind east and north, where the air goes: instead of speed and from."""

    @model_validator(mode="before")
    @classmethod
    def _imply_mode(cls, table: Any) -> Any:
        constant = isinstance(table, dict) and any(name in table for name in ("velocity", "speed", "from"))
        return {**table, "mode": "constant"} if constant and "mode" not in table else table

    @model_validator(mode="after")
    def _require_what_the_mode_needs(self) -> "WindSetting":
        given = self.given("velocity", "speed", "from")
        if self.mode != "measured" and self.given("direction_error"):
            raise Fault(
                f'is for mode = "measured"; with mode = "{self.mode}" leave it out.', "direction_error"
            )
        if self.mode != "constant" and given:
            raise Fault(f'is for mode = "constant"; with mode = "{self.mode}" leave it out.', given[0])
        if self.velocity is not None and math.hypot(*self.velocity) > MAX_WIND_M_S:
            speed = math.hypot(*self.velocity)
            raise Fault(f"must be <= {MAX_WIND_M_S} m/s; got {speed:.4g}: check its unit.", "velocity")
        if self.velocity is not None and given[1:]:
            raise Fault("give velocity, or speed and from, not both.", given[1])
        if self.mode == "constant" and self.velocity is None:
            self.require("speed", "from")
        return self


class StartSetting(Section):
    """Where the search starts."""

    position: Pair | None = key(example=[10.0, 10.0], unit="m", active=True)
    """Where the search starts. Default: the middle of the area."""
    position_degrees: Pair | None = key(example=[52.1001, 5.1001], unit="°")
    """The position as latitude and longitude instead."""


_CHANGE_STEP = "change it, or leave length out."


class StepSetting(Section):
    """Where the next reading may be."""

    length: Number | None = key(example=10.0, unit="m", active=True, gt=0)
    """Length of a step of policies that go step by step. Default: a tenth of the shorter side of the area."""
    directions: Whole = key(8, example=8, active=True, ge=3)
    """In how many directions a step can go."""
    shortest: Number | None = key(example=5.0, unit="m", gt=0)
    """Shortest way between two readings. Default: no limit."""
    longest: Number | None = key(example=100.0, unit="m", gt=0)
    """Longest way between two readings. Default: no limit."""
    speed: Number = key(1.0, example=1.0, unit="m/s", gt=0, le=100)
    """How fast one goes from one reading to the next."""
    reading_time: Number | None = key(example=10.0, unit="s", ge=0)
    """How long one stays for a reading. Default: as long as it counts, or not at all."""
    reading_interval: Number | None = key(example=2.0, unit="s", ge=MIN_INTERVAL_S)
    """Time between two readings of a sensor that also reads while it moves. Default: it does not."""
    points: Points | None = key(example=[[10.0, 10.0], [50.0, 10.0], [50.0, 50.0]], unit="m")
    """The only places where a reading can be taken; with them leave length and directions out."""
    points_degrees: Points | None = key(example=[[52.1001, 5.1001], [52.1005, 5.1001]], unit="°")
    """These places as latitude and longitude instead."""
    heights: Heights | None = key(example=[1.0, 1.5, 5.0, 10.0], unit="m")
    """The heights above ground at which a reading can be taken, as by a drone: each place at each of them.
    Default: one, that of the sensor."""

    @model_validator(mode="after")
    def _require_steps_or_points(self) -> "StepSetting":
        points, steps = self.given("points", "points_degrees"), self.given("length", "directions")
        for name in points:
            count = len(getattr(self, name))
            if not 1 <= count <= MAX_POINTS:
                raise Fault(f"must have 1 to {MAX_POINTS:,} places; got {count:,}.", name)
        if points and steps:
            words = f"cannot be given with {points[0]}, which are the only places: comment"
            raise Fault(f"{words} {' and '.join(steps)} out with #.", steps[0])
        if self.shortest is not None and self.longest is not None and self.shortest > self.longest:
            raise Fault(f"must be <= longest = {self.longest:g}; got {self.shortest:g}.", "shortest")
        if self.length is not None and self.shortest is not None and self.shortest > self.length:
            words = f"must be <= length = {self.length:g}; got {self.shortest:g}: {_CHANGE_STEP}"
            raise Fault(words, "shortest")
        if self.length is not None and self.longest is not None and self.longest < self.length:
            words = f"must be >= length = {self.length:g}; got {self.longest:g}: {_CHANGE_STEP}"
            raise Fault(words, "longest")
        return self


class Budget(Section):
    """When the search ends at the latest."""

    distance: Number | None = key(example=2000.0, unit="m", active=True, gt=0)
    """Length of the way. Default: no limit."""
    readings: Whole | None = key(example=100, active=True, ge=1)
    """Number of readings. Default: no limit."""
    time: Number | None = key(example=1800.0, unit="s", active=True, gt=0)
    """Time since the start. Default: no limit."""
    return_: Flag = key(False, example=True, alias="return")
    """Whether distance and time must suffice for the way back to the start, after every reading."""

    @model_validator(mode="after")
    def _require_something_to_return_within(self) -> "Budget":
        if self.return_ and self.distance is None and self.time is None:
            raise Fault("needs a distance or a time in [budget], within which one returns.", "return")
        return self


class SearchSetting(Section):
    """The filter, and when the source is found."""

    preset: Literal["survey", "default", "several", "paper"] | None = key(example="survey", active=True)
    """The filter: "survey", whose particles move as often as many unknowns need, "default", "several" or
    "paper". Default: "survey"; for benchmark fields "default", or "several" with several sources."""
    particles: Whole | None = key(example=2048, ge=16, le=1_000_000)
    """More are slower and more exact. Default: those of the filter, and 4096 in a search for a
    magnetic-dipole."""
    radius: Number | None = key(example=5.0, unit="m", active=True, gt=0)
    """The source is found when it lies within this radius with the probability below. Default: a hundredth of
    the diagonal of the area."""
    probability: Number = key(0.95, example=0.95, active=True, gt=0.5, le=0.999)
    """Probability that the source lies within the radius."""
    may_jump: Flag = key(False, example=False, active=True)
    """Whether the source may move, or the wind change, during the search."""


_FENCE = [[0.0, 0.0], [200.0, 0.0], [200.0, 150.0], [0.0, 150.0]]
_TANK = [[90.0, 60.0], [110.0, 60.0], [110.0, 80.0], [90.0, 80.0]]
_STORE = [[140.0, 60.0], [170.0, 60.0], [170.0, 90.0], [140.0, 90.0]]
_PATH = [[20.0, 20.0], [180.0, 20.0]]


class SiteFile(Section):
    """A whole site file, as it is written."""

    name: str = key("site", example="My site", active=True)
    """What the site is called."""
    sources: Annotated[Whole | str, BeforeValidator(_require_number)] = key(1, example="1-3")
    """How many sources there are: a number, or a range like "1-3" of numbers that are equally probable."""
    area: AreaSetting
    map: MapSetting = MapSetting()
    geofence: list[PolygonSetting] = key(
        [], example={"name": "fence", "corners": _FENCE}, max_length=MAX_POLYGONS
    )
    """Where the sensor may be, once for each polygon. Default: everywhere."""
    no_go: list[PolygonSetting] = key([], example={"name": "tank", "corners": _TANK}, max_length=MAX_POLYGONS)
    """Where the sensor may neither be nor pass, once for each polygon."""
    obstacle: list[ObstacleSetting] = key(
        [], example={"name": "store", "corners": _STORE}, max_length=MAX_POLYGONS
    )
    """What stands in the way of the sensor, and between source and sensor, once for each: ways go around."""
    paths: list[PathSetting] = key([], example={"name": "south", "ends": _PATH}, max_length=MAX_PATHS)
    """Open paths, once for each, along which instruments that stand there read the mean of a gas. With them a
    search chooses among these paths, and nothing else; going from one to another takes no way."""
    field: FieldSetting
    prior: Annotated[dict[str, Distribution], BeforeValidator(_require_few)] = key({})
    """What is believed of the source beforehand. A number is known; [low, high] is a range; {mean = 1, std =
    0.1} and {median = 1, factor = 2} are a normal and a log-normal distribution; {low = 1, high = 9, scale =
    "log"} is a range with its scale, "linear" or "log"; "unknown" is the usual distribution."""
    background: BackgroundSetting = BackgroundSetting()
    noise: NoiseSetting = NoiseSetting()
    wind: WindSetting = WindSetting()
    sensor: SensorSetting = SensorSetting()
    sensors: dict[str, SensorConstants] = key(
        {}, example={"A": {"efficiency": 1.0}, "B": {"efficiency": 1.2}}, max_length=MAX_SENSORS
    )
    """What is known of each sensor, by its name: its background, efficiency or uncertainty, or the heading of
    its antenna. It holds where a reading does not say so itself."""
    start: StartSetting = StartSetting()
    searcher: list[SearcherSetting] = key([], example={"name": "anna", "start": [10.0, 10.0]})
    """Several searchers that share one belief, once for each: each is given its own next place. Default: one
    without a name."""
    step: StepSetting = StepSetting()
    budget: Budget = Budget()
    search: SearchSetting = SearchSetting()
    flight: FlightSetting = FlightSetting()
    columns: ColumnsSetting = ColumnsSetting()
    rows: dict[str, str] = key({}, example={"event": "1"})
    """Which rows of a survey belong to this search, where a file holds several: the text in a column."""
