"""What is kept of a mission from its beginning: what it was begun with, and what follows from that alone."""

import secrets
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dowsax.mission.log import Header

SIMULATED, REAL = "simulated", "real"
PREPARING, FAILED, DAMAGED = "preparing", "failed", "damaged"
"""What a mission may be besides what an advice says it is."""


@dataclass(frozen=True)
class Feed:
    """Where readings of a mission come from, and where advice goes."""

    url: str
    """Of an MQTT broker; it may hold a password, and is never told to anyone."""
    readings: str
    advice: str
    """Topics."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


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
        """What a log keeps besides its header's own; a feed, which may have a password, is kept elsewhere."""
        return {name: getattr(self, name) for name in _KEPT}

    @classmethod
    def from_json(cls, body: dict[str, Any], header: "Header", feed: Feed | None) -> "Record":
        """The inverse of `to_json`."""
        given = {name: body[name] for name in _KEPT}
        return cls(site=header.site, policy=header.policy, seed=header.seed, feed=feed, **given)


_KEPT = ("id", "name", "type", "created", "facts", "scenario", "speed", "file")


def unreadable(id: str, log: Path) -> Record:
    """What stands for a mission whose log does not say any more what it was begun with."""
    created = datetime.fromtimestamp(log.stat().st_mtime, UTC).isoformat(timespec="milliseconds")
    facts = {"field": "", "unit": ""}
    return Record(id, f"Mission {id}", REAL, created, site="", policy="", seed=0, facts=facts)


def new_id() -> str:
    """An id that nobody can guess, of letters that are safe in any file name."""
    return secrets.token_hex(6)
