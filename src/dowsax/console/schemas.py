"""Bodies of answers, which only describe the API in OpenAPI."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from dowsax.console.site_schemas import PictureAnswer
from dowsax.mission.advice import Leg

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
    altitude: float | None = None
    """[m], above ground."""
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


class PieceAnswer(_Answer):
    """One of several places where the source may be."""

    centre: Vector
    """[m]"""
    radius: float
    """[m], of the disc that holds 95 % of what this place has of the belief."""
    probability: float
    """That the source is there."""


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
    held_wind: bool = False
    """Whether the reading has the wind of the reading before it."""
    status: str
    why: str
    next: Vector | None
    ahead: list[Leg] | None = None
    next_way: list[Vector] | None = None
    """The corners of the way to the next place, where it bends."""
    next_height: float | None = None
    """[m] above ground, of the next place, where the site lists several heights."""
    next_aim: Vector | None = None
    """[m], the far place on the way to which `next` is a stop, of several searchers."""
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
    """By per cent."""
    pieces: list[PieceAnswer] | None = None
    """Several places where the source may be, the likeliest first; empty where there is one.

    Particles, regions and pieces are only in full snapshots.
    """


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
    snapshots: int
    """Steps so far: readings and corrections."""
    has_feed: bool
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
    heights: list[float] = []
    """[m] above ground, at which it may read; empty where all readings are at one height."""
    colour: str
    """Of its way on maps, as #rrggbb."""


class DisplayUnitAnswer(_Answer):
    """A unit in which a page may show a quantity."""

    name: str
    size: float
    """Of one of it in the unit of the API, which is the first one in the list."""


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
    heights: list[float] = []
    """[m] above ground, at which a reading may be taken, where the site lists several."""
    ground: float = 0.0
    """[m], what is subtracted from the `altitude` of a reading to give its height above ground."""
    measures: list[str] | None = None
    """What the model needs of each reading besides place and value; `None` in older missions."""
    holds_wind: bool = False
    """Whether a reading without wind takes the wind of the reading before it."""
    max_wind_age: float
    """[s], after which a person should confirm such a wind."""
    units: dict[str, list[DisplayUnitAnswer]]
    """Of `length`, `speed` and `value`; the unit of the API is the first."""
    picture: PictureAnswer | None = None
    """Behind the map; its file is at …/picture."""
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


class AccessAnswer(_Answer):
    """Who asks."""

    role: str
    """`owner`, `operator` or `reader`."""
    name: str
    """Of the link; empty for the owner."""
    is_open: bool
    """Whether the console needs no token, as it listens on loopback."""


class LinkAnswer(_Answer):
    """A link for others."""

    id: str
    role: str
    """`operator` or `reader`."""
    name: str
    created: str
    token: str
    """Opened as /?token=TOKEN, or sent as a bearer token."""


class HealthAnswer(_Answer):
    """The console and its uptime."""

    version: str
    missions: int
    uptime: float
    """[s]"""


def describe(model: Any, status: int = 200) -> dict[str, Any]:
    """Return the arguments of a route's decorator that describe its answer."""
    return {"response_model": None, "status_code": status, "responses": {status: {"model": model}}}
