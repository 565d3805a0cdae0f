"""Bodies of requests, which are validated, and of answers, which only describe the API in OpenAPI."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
)

from dowsax.site.measured import QUANTITIES

MAX_NUMBER = 1e15
MIN_SPEED, MAX_SPEED = 0.05, 50.0
"""Readings per second."""


def _plain(text: str) -> str:
    """Refuse control characters."""
    if any(ord(mark) < 32 or ord(mark) == 127 for mark in text):
        raise ValueError("has characters that cannot be shown")
    return text


Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=80), AfterValidator(_plain)]
Topic = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_plain)]


def _no_boolean(value: Any) -> Any:
    """Refuse true and false, which would pass for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


Number = Annotated[
    Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)], BeforeValidator(_no_boolean)
]
Pair = tuple[Number, Number]
Speed = Annotated[float, Field(ge=MIN_SPEED, le=MAX_SPEED, allow_inf_nan=False)]
MAX_SITE_LENGTH = 60_000


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FeedBody(_Body):
    """A live feed of readings from an MQTT broker."""

    url: Annotated[str, StringConstraints(min_length=8, max_length=300), AfterValidator(_plain)]
    """mqtt://user:password@host:port, or mqtts for TLS."""
    readings: Topic | None = None
    """Topic (default: dowsax/NAME/ID/readings)."""
    advice: Topic | None = None
    """Topic (default: dowsax/NAME/ID/advice)."""


class MissionBody(_Body):
    """A mission to create: a simulated one of a field, or a real one at a site."""

    type: Literal["simulated", "real"]
    name: Text | None = None
    field: Text | None = None
    scenario: Text | None = None
    particles: Annotated[int, Field(ge=16, le=20_000)] | None = None
    """Of a simulated mission (default: 2048)."""
    site: Annotated[str, StringConstraints(min_length=1, max_length=MAX_SITE_LENGTH)] | None = None
    """The text of a site file, for a real mission."""
    policy: Text | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    speed: Speed | None = None
    mqtt: FeedBody | None = None


_number: Any = Number
_quantities: dict[str, Any] = {
    name: (_number | None, Field(None, description=quantity.meaning)) for name, quantity in QUANTITIES.items()
}
_Quantities = create_model("_Quantities", __base__=_Body, **_quantities)
"""What else may be measured, as `QUANTITIES` has it."""


class _ReadingKeys(_Quantities):
    """Where a reading was taken, and what was measured with it."""

    position: Pair | None = None
    """[m], east and north."""
    latitude: Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)] | None = None
    longitude: Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)] | None = None
    far_end: Pair | None = None
    """[m], the other end of a path along which the value is the mean; the position is its first end."""
    latitude2: Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)] | None = None
    """[degrees], of the far end, instead of `far_end`."""
    longitude2: Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)] | None = None
    path: Text | None = None
    """The name of a path of the site, instead of its ends."""
    wind: Pair | None = None
    """[m/s], where the air goes."""
    wind_speed: Number | None = None
    """[m/s], with `wind_from` instead of `wind`."""
    wind_from: Number | None = None
    """[degrees clockwise from north], where the wind comes from."""
    time: Number | Text | None = None
    altitude: Number | None = None
    dwell: Number | None = None
    sensor: Text | None = None
    searcher: Text | None = None
    """The name of who took it, where the site has several searchers."""
    ranges: Annotated[list[Number | None], Field(max_length=72)] | None = None
    """[m], of a range sensor: how far the next wall is in each direction; `null` where none is seen."""
    unit: Text | None = None
    moving: bool | None = None
    """Whether it was taken on the way."""
    confirm: bool = False
    """Confirms an implausible value."""

    def to_keys(self) -> dict:
        """Return the keys of `survey.reading_json.KEYS`."""
        keys = self.model_dump(
            exclude_none=True, exclude={"position", "far_end", "wind", "confirm", "reason"}
        )
        if self.position is not None:
            keys["x"], keys["y"] = self.position
        if self.far_end is not None:
            keys["x2"], keys["y2"] = self.far_end
        if self.wind is not None:
            keys["wind_u"], keys["wind_v"] = self.wind
        return keys


class ReadingBody(_ReadingKeys):
    """A reading: where, what, and what was measured with it."""

    value: Number
    id: Text | None = None


class CorrectionBody(_ReadingKeys):
    """The corrected values of a reading; the others stay."""

    value: Number | None = None
    reason: Annotated[str, StringConstraints(max_length=500), AfterValidator(_plain)] = ""


class ControlBody(_Body):
    """A command to a simulated mission."""

    action: Literal["run", "pause", "step", "speed"]
    speed: Speed | None = None


Vector = tuple[float, float]
Ring = list[Vector]
Polygon = list[Ring]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ReadingAnswer(_Answer):
    """A parsed reading."""

    position: Vector
    value: float
    wind: Vector | None
    time: float | None
    sensor: str | None
    id: str | None
    far_end: Vector | None = None
    """[m], of a path; the position is its first end."""
    searcher: str | None = None
    """Who took it, where the site has several searchers."""
    ranges: list[float | None] | None = None
    """[m], how far the next wall was in each direction, clockwise from north, where a range sensor saw it."""


class EstimateAnswer(_Answer):
    """Mean and 95 % interval of every unknown, the position first."""

    names: list[str]
    units: list[str]
    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]


class DiscAnswer(_Answer):
    """The disc that holds a source with this probability."""

    centre: Vector
    radius: float
    probability: float


class SnapshotAnswer(_Answer):
    """The state of a mission after one step."""

    number: int
    """Counted from 1 over readings and corrections."""
    time: str
    reading: ReadingAnswer | None
    """`None` for a withdrawal."""
    corrects: int | None
    """The number of the withdrawn or corrected reading; `None` for a new one."""
    reason: str
    """Of the withdrawal or correction."""
    status: str
    why: str
    next: Vector | None
    next_way: list[Vector] | None = None
    """The corners of the way to the next place, where it bends."""
    next_height: float | None = None
    """[m] above ground, of the next place, where the site lists several heights."""
    next_far_end: Vector | None = None
    """[m], of the path to read next, of which `next` is the first end."""
    next_path: str | None = None
    """The name of that path."""
    sources: list[DiscAnswer] | None = None
    """Of several sources, the disc of each, in the order of the estimate."""
    number_probability: float | None = None
    """That there are as many sources as in the estimate, where their number is unknown."""
    more_probability: float | None = None
    """That there are more."""
    searcher: str | None = None
    """For whom the next place is, where the site has several searchers."""
    bearing: float | None
    distance: float | None
    estimate: EstimateAnswer
    radius: float | None
    spread: float | None
    mass: float | None
    ess: float | None
    fit: float | None
    evidence: float | None
    path_length: float | None
    degrees: dict[str, Vector] | None = None
    """Latitude and longitude of reading, estimate and next, where the site has them."""
    particles: list[Vector] | None = None
    regions: dict[str, list[Polygon]] | None = None
    """By per cent. Particles and regions are only in full snapshots."""


class MissionItemAnswer(_Answer):
    """A mission in the list."""

    id: str
    name: str
    type: str
    field: str
    unit: str
    status: str
    """preparing, searching, found, inconclusive, failed or damaged."""
    message: str
    alarm: str
    """A fault that needs attention, such as a feed that is down; empty where there is none."""
    preparing: bool
    """Whether requests wait until its filter is compiled; the message says so."""
    readings: int
    created: str
    updated: str
    running: bool


class ControlAnswer(MissionItemAnswer):
    """A mission in the list, and its speed."""

    speed: float


class TruthAnswer(_Answer):
    """The true source of a simulation."""

    position: Vector
    theta: dict[str, float]


class StopStatisticsAnswer(_Answer):
    """How often a stop was wrong in simulation, with its 95 % interval; null where it was not measured."""

    rate: float | None
    low: float | None
    high: float | None
    stops: int | None
    measured_for: str
    """`site`, `field`, `kind` (the standard site of its kind) or `nothing`."""
    sentence: str
    command: str | None
    """The command that measures it."""


class SearcherAnswer(_Answer):
    """One of several searchers."""

    name: str
    start: Vector
    """[m]"""
    colour: str
    """Of its way on maps, as #rrggbb."""


class PathAnswer(_Answer):
    """An open path of a site."""

    name: str
    ends: tuple[Vector, Vector]
    """[m]"""


class MissionAnswer(ControlAnswer):
    """Everything about a mission."""

    area: tuple[Vector, Vector]
    source_area: tuple[Vector, Vector]
    """The part of the area in which the source lies."""
    geofence: list[Ring]
    no_go: list[Ring]
    obstacles: list[Ring]
    paths: list[PathAnswer]
    """Among which the search chooses, where the site lists any."""
    searchers: list[SearcherAnswer] = []
    """Those who share the search; empty where there is one without a name."""
    range_limit: float | None = None
    """[m], how far a range sensor sees walls; `None` where there is none."""
    geographic: bool
    origin: Vector | None
    start: Vector
    radius: float
    probability: float
    parameters: list[dict[str, str]]
    quantities: list[dict[str, str]]
    """What comes with each reading or is known of its sensor: names and units."""
    budget: dict[str, float | None]
    false_stops: StopStatisticsAnswer
    particles: int
    policy: str
    scenario: str | None
    seed: int
    snapshots: int
    latest: SnapshotAnswer | None
    events: list[dict[str, str]]
    mqtt: dict[str, str] | None
    truth: TruthAnswer | None = None
    """Only after it was revealed."""


class ReadingResultAnswer(_Answer):
    """The answer to a reading."""

    advice: dict[str, Any]
    snapshot: SnapshotAnswer


class SurveyAnswer(_Answer):
    """What became of the rows of a survey."""

    new: int
    """New readings."""
    known: int
    """Readings that were added before from the same file; they count once."""
    refused: list[dict[str, int | str]]
    """`line` and `reason` of each."""
    skipped: int
    """Rows that are no readings, such as those without a value; the notes say why."""
    notes: list[str]
    """How the file was read."""


class FieldAnswer(_Answer):
    """Expected readings, row by row from the south-west."""

    low: Vector
    high: Vector
    columns: int
    rows: int
    values: list[float | None]
    unit: str
    comparable: bool
    """Whether these are numbers as the readings are; of ranks only the order counts."""


class HealthAnswer(_Answer):
    """The console and its uptime."""

    version: str
    missions: int
    uptime: float
    """[s]"""


def describe(model: Any, status: int = 200) -> dict[str, Any]:
    """Return the arguments of a route's decorator that describe its answer."""
    return {"response_model": None, "status_code": status, "responses": {status: {"model": model}}}
