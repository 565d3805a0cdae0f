"""What is stored of a mission at its start, and what its log says of it, without building its advisor."""

import secrets
from collections import deque
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dowsax.journal import Entry, read
from dowsax.mission.log import CORRECTION, NOTE, READING, STEPS, Header, MissionLog, Note, Step

SIMULATED, REAL = "simulated", "real"
PREPARING, FAILED, DAMAGED = "preparing", "failed", "damaged"
"""States of a mission besides the status of its advice."""
MAX_EVENTS = 200
"""Of a mission that are shown."""
TRUTH, REVEALED = "truth", "revealed"
"""Notes of simulated missions: the true source, and that it may be shown."""
_STORED_FIELDS = ("id", "name", "type", "created", "facts", "scenario", "speed", "file")


@dataclass(frozen=True)
class Feed:
    """Where readings of a mission come from, and where advice goes."""

    url: str
    """Of an MQTT broker; it may hold a password, and is in no answer."""
    readings: str
    """Topic."""
    advice: str
    """Topic."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class MissionRecord:
    """A mission as it was created."""

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
    """What a map needs to know of the site; see `sites.facts_of`."""
    scenario: str | None = None
    speed: float = 2.0
    """Readings per second of a running simulation."""
    feed: Feed | None = field(default=None)
    file: str | None = None
    """The path of the site file on this machine, where `dowsax serve --site` gave one."""

    def to_json(self) -> dict[str, Any]:
        """Return what the log stores besides its header; the feed, with its password, has its own file."""
        return {name: getattr(self, name) for name in _STORED_FIELDS}

    def header(self, preset: str, versions: dict[str, str]) -> Header:
        """Return the header of the mission's log."""
        about: dict[str, Any] = {"mission": self.to_json()}
        return Header(self.site, self.seed, self.policy, preset, versions, about)


def read_record(header: Header, feed: Feed | None, mission: str) -> MissionRecord:
    """Read the record from the header of a log; a ValueError where it is not that of this mission."""
    body = header.about.get("mission")
    if body is None:
        raise ValueError("The log is not that of a mission of a console: it has no name.")
    if body["id"] != mission:
        raise ValueError(
            f"The log of mission {mission} is that of {body['id']}: put its own in its place, or delete it."
        )
    stored = {name: body[name] for name in _STORED_FIELDS}
    return MissionRecord(site=header.site, policy=header.policy, seed=header.seed, feed=feed, **stored)


def unreadable_record(id: str, log: Path) -> MissionRecord:
    """Return a placeholder for a mission whose log has no readable header."""
    created = datetime.fromtimestamp(log.stat().st_mtime, UTC).isoformat(timespec="milliseconds")
    facts = {"field": "", "unit": ""}
    return MissionRecord(id, f"Mission {id}", REAL, created, site="", policy="", seed=0, facts=facts)


def new_id() -> str:
    """Return a random id that cannot be guessed and is safe in any file name."""
    return secrets.token_hex(6)


@dataclass
class LoggedMission:
    """A mission as its log describes it."""

    record: MissionRecord
    latest: Step | None = None
    readings: int = 0
    """That count."""
    events: deque[dict[str, str]] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    truth: dict[str, Any] | None = None
    is_revealed: bool = False

    @property
    def steps(self) -> int:
        return 0 if self.latest is None else self.latest.number

    def require_complete(self, snapshots: set[int], path: Path) -> None:
        """Raise a ValueError where there are snapshots of steps that the log lacks: it was cut."""
        last = max(snapshots, default=0)
        if last > self.steps:
            raise ValueError(
                f"{path} was cut: it ends after step {self.steps}, though there were {last}. "
                f"`dowsax recover --replace {path}` continues with what is left."
            )


def read_logged_mission(path: Path, feed: Feed | None) -> LoggedMission:
    """Read a log to its end; a ValueError in one line where it is damaged.

    Every checksum is verified, but only the needed entries are decoded.
    """
    mission = LoggedMission(read_record(MissionLog.open(path).header, feed, path.stem))
    last: Entry | None = None
    added, withdrawn = 0, set()
    for entry in read(path):
        if entry.kind in STEPS:
            last = entry
        added += entry.kind == READING
        if entry.kind == CORRECTION:
            change = withdrawn.add if entry.body["reading"] is None else withdrawn.discard
            change(entry.body["corrects"])
        if entry.kind == NOTE:
            _add_note(mission, Note.from_json(entry.body))
    mission.readings = added - len(withdrawn)
    mission.latest = None if last is None else Step.from_json(last.body)
    return mission


def _add_note(mission: LoggedMission, note: Note) -> None:
    if note.what == TRUTH:
        mission.truth = mission.truth or note.data
        return
    mission.is_revealed |= note.what == REVEALED
    mission.events.append(event_of(note))


def event_of(note: Note) -> dict[str, str]:
    """Return a note as an event for clients."""
    return {"time": note.received, "kind": note.what, "text": note.text}
