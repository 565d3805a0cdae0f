"""What clients may send: every text limited, every number finite and bounded."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

LARGEST = 1e15
SLOWEST, FASTEST = 0.05, 50.0
"""Readings a second."""


def _plain(text: str) -> str:
    """Text that can be shown: no control characters."""
    if any(ord(mark) < 32 or ord(mark) == 127 for mark in text):
        raise ValueError("has characters that cannot be shown")
    return text


Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=80), AfterValidator(_plain)]
Topic = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_plain)]


def _no_truth(value: Any) -> Any:
    """Not a truth value, which would pass for 0 or 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


Number = Annotated[
    Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)], BeforeValidator(_no_truth)
]
Pair = tuple[Number, Number]
Speed = Annotated[float, Field(ge=SLOWEST, le=FASTEST, allow_inf_nan=False)]
SITE_LENGTH = 60_000


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FeedBody(_Body):
    """A live feed of readings from an MQTT broker."""

    url: Annotated[str, StringConstraints(min_length=8, max_length=300), AfterValidator(_plain)]
    """mqtt://user:password@host:port, or mqtts for TLS."""
    readings: Topic | None = None
    advice: Topic | None = None
    """Topics; dowsax/NAME/ID/readings and dowsax/NAME/ID/advice unless given, ID being the mission's."""


class MissionBody(_Body):
    """A mission to begin: a simulated one of a field, or a real one at a site."""

    type: Literal["simulated", "real"]
    name: Text | None = None
    field: Text | None = None
    scenario: Text | None = None
    particles: Annotated[int, Field(ge=16, le=20_000)] | None = None
    """Of a simulated mission; the preset's own number unless given."""
    site: Annotated[str, StringConstraints(min_length=1, max_length=SITE_LENGTH)] | None = None
    """The text of a site file, for a real mission."""
    policy: Text | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    speed: Speed | None = None
    mqtt: FeedBody | None = None


class _ReadingKeys(_Body):
    """Where a reading was taken, and what was measured along."""

    position: Pair | None = None
    """[m], east and north."""
    latitude: Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)] | None = None
    longitude: Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)] | None = None
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
    unit: Text | None = None
    confirm: bool = False
    """The value is right, although such a value hardly ever is."""

    def to_keys(self) -> dict:
        """By the keys of `mission.reading_json.KEYS`."""
        keys = self.model_dump(exclude_none=True, exclude={"position", "wind", "confirm", "reason"})
        if self.position is not None:
            keys["x"], keys["y"] = self.position
        if self.wind is not None:
            keys["wind_u"], keys["wind_v"] = self.wind
        return keys


class ReadingBody(_ReadingKeys):
    """A reading: where, what, and what was measured along."""

    value: Number
    id: Text | None = None


class CorrectionBody(_ReadingKeys):
    """What was wrong with a reading, as it is right; the rest stays."""

    value: Number | None = None
    reason: Annotated[str, StringConstraints(max_length=500), AfterValidator(_plain)] = ""


class ControlBody(_Body):
    """What a simulated mission is to do."""

    action: Literal["run", "pause", "step", "speed"]
    speed: Speed | None = None
