"""What the console answers, for its OpenAPI description. Nothing is checked against it at run time."""

from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict

Pair = tuple[float, float]
Ring = list[Pair]
Polygon = list[Ring]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ReadingAnswer(_Answer):
    """A reading as it was understood."""

    position: Pair
    value: float
    wind: Pair | None
    time: float | None
    sensor: str | None
    id: str | None


class EstimateAnswer(_Answer):
    """Mean and 95 % interval of every unknown; the position first."""

    names: list[str]
    units: list[str]
    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]


class FrameAnswer(_Answer):
    """What is to be seen of a mission after one reading."""

    number: int
    """Counted from 1 over readings and corrections."""
    time: str
    reading: ReadingAnswer | None
    """`None` where a reading is withdrawn."""
    corrects: int | None
    """The number of the reading that is withdrawn or corrected here; `None` for a new one."""
    reason: str
    """Why it is."""
    status: str
    why: str
    next: Pair | None
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
    degrees: dict[str, Pair] | None = None
    """Latitude and longitude of reading, estimate and next, where the site has them."""
    particles: list[Pair] | None = None
    regions: dict[str, list[Polygon]] | None = None
    """By per cent; only in whole frames, as are the particles."""


class ItemAnswer(_Answer):
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
    """What has to be seen to, such as a feed that is down; empty where nothing has."""
    preparing: bool
    """Whether what is asked of it waits until its filter is compiled; the message says so."""
    readings: int
    created: str
    updated: str
    running: bool


class SteeredAnswer(ItemAnswer):
    """A mission in the list, and its speed."""

    speed: float


class TruthAnswer(_Answer):
    """The true source of a simulation."""

    position: Pair
    theta: dict[str, float]


class StopsAnswer(_Answer):
    """How often a stop was wrong in simulation, with its 95 % interval; no numbers where not measured."""

    rate: float | None
    low: float | None
    high: float | None
    stops: int | None
    of: str
    """Simulations of this site, of its field, of the standard site of its kind, or nothing."""
    sentence: str
    command: str | None
    """What measures it."""


class MissionAnswer(SteeredAnswer):
    """All there is to know of a mission."""

    area: tuple[Pair, Pair]
    source_area: tuple[Pair, Pair]
    """The part of it in which the source lies."""
    geofence: list[Ring]
    no_go: list[Ring]
    geographic: bool
    origin: Pair | None
    start: Pair
    radius: float
    probability: float
    parameters: list[dict[str, str]]
    budget: dict[str, float | None]
    false_stops: StopsAnswer
    particles: int
    policy: str
    scenario: str | None
    seed: int
    frames: int
    latest: FrameAnswer | None
    events: list[dict[str, str]]
    mqtt: dict[str, str] | None
    truth: TruthAnswer | None = None
    """Only after it was revealed."""


class TakenAnswer(_Answer):
    """The answer to a reading."""

    advice: dict[str, Any]
    frame: FrameAnswer


class SurveyAnswer(_Answer):
    """What became of the rows of a survey."""

    taken: int
    """Readings that are new."""
    known: int
    """Readings that had been taken in before, by the same file: they count once."""
    refused: list[dict[str, int | str]]
    """By `line`, with the `reason`."""
    left_out: int
    """Rows that are no readings, such as those without a value; the notes say why."""
    notes: list[str]
    """What else is to be known of how the file was read."""


class FieldAnswer(_Answer):
    """Expected readings, row by row from the south-west."""

    low: Pair
    high: Pair
    columns: int
    rows: int
    values: list[float | None]
    unit: str


class HealthAnswer(_Answer):
    """Whether the console is there."""

    version: str
    missions: int
    uptime: float
    """[s]"""
    ready: bool
    """Whether all that missions need is loaded: for seconds after the start it is not."""


def described(model: Any, status: int = 200) -> dict[str, Any]:
    """What a route gives, for its decorator."""
    return {"response_model": None, "status_code": status, "responses": {status: {"model": model}}}


def told(body: Any, status: int = 200) -> JSONResponse:
    """The body as it is."""
    return JSONResponse(body, status)
