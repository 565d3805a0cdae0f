"""Bodies of requests, which are validated."""

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

from dowsax.console.site_schemas import PictureKey
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
Reason = Annotated[str, StringConstraints(max_length=500), AfterValidator(_plain)]
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
    picture: PictureKey | None = None
    """The id of an uploaded picture behind the map; `[map]` in the site file says where it lies."""


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
    reason: Reason = ""


class RestorationBody(_Body):
    """Which version of a reading counts again."""

    as_of: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """The number of the snapshot after which it was right (default: as it was before it was withdrawn)."""
    reason: Reason = ""


class LinkBody(_Body):
    """A link to create, for others who use the console."""

    role: Literal["operator", "reader"]
    """An `operator` runs missions; a `reader` only looks."""
    name: Text = ""
    """For whom it is."""


class ControlBody(_Body):
    """A command to a simulated mission."""

    action: Literal["run", "pause", "step", "speed"]
    speed: Speed | None = None
