"""What is kept of a mission from its beginning: what it was begun with, and what follows from that alone."""

import secrets
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

SIMULATED, REAL = "simulated", "real"
PREPARING, FAILED = "preparing", "failed"
"""What a mission may be besides what an advice says it is."""


@dataclass(frozen=True)
class Feed:
    """Where readings of a mission come from, and where advice goes."""

    url: str
    """Of an MQTT broker; it may hold a password, and is never told to anyone."""
    readings: str
    advice: str
    """Topics."""


@dataclass(frozen=True)
class Record:
    """A mission as it was begun."""

    id: str
    name: str
    type: str
    """`simulated` or `real`."""
    created: str
    """ISO 8601, UTC."""
    site: str
    """The text of the site file."""
    policy: str
    seed: int
    facts: dict[str, Any]
    """What follows from the site, for those who draw it; see `sites.facts_of`."""
    scenario: str | None = None
    speed: float = 2.0
    """Readings a second, of a simulation that runs."""
    feed: Feed | None = field(default=None)
    file: str | None = None
    """What the site file is called on this machine, where one was named at the start of the console."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Record":
        """The inverse of `to_json`."""
        feed: dict[str, str] | None = body["feed"]
        parts: dict[str, Any] = body | {"feed": None if feed is None else Feed(**feed)}
        return cls(**parts)


def new_id() -> str:
    """An id that nobody can guess, of letters that are safe in any file name."""
    return secrets.token_hex(6)


def now() -> str:
    """ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
