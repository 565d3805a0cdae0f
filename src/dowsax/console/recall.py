"""What is known of a mission of an earlier time from its log alone, without making its advisor."""

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dowsax.console.records import Feed, Record
from dowsax.console.store import record_in
from dowsax.journal import Entry, read
from dowsax.mission.log import CORRECTION, NOTE, READING, STEPS, MissionLog, Note, Step

MAX_EVENTS = 200
"""Of a mission that are told."""
TRUTH, REVEALED = "truth", "revealed"
"""Notes of simulated missions: what the source is, and that it may be told."""


@dataclass
class Recalled:
    """A mission as its log has it."""

    record: Record
    latest: Step | None = None
    readings: int = 0
    """That count."""
    events: deque[dict[str, str]] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    truth: dict[str, Any] | None = None
    is_revealed: bool = False

    @property
    def steps(self) -> int:
        return 0 if self.latest is None else self.latest.number


def recall(path: Path, feed: Feed | None) -> Recalled:
    """Read a log to its end; a ValueError in one line where it is damaged.

    Every checksum is verified, and only what is needed is decoded.
    """
    recalled = Recalled(record_in(MissionLog.open(path).header, feed, path.stem))
    last: Entry | None = None
    for entry in read(path):
        if entry.kind in STEPS:
            last = entry
        recalled.readings += entry.kind == READING
        if entry.kind == CORRECTION:
            recalled.readings -= entry.body["reading"] is None
        if entry.kind == NOTE:
            _take_note(recalled, Note.from_json(entry.body))
    recalled.latest = None if last is None else Step.from_json(last.body)
    return recalled


def require_whole(recalled: Recalled, frames: set[int], path: Path) -> None:
    """A ValueError where there are frames of steps that the log does not have: it was cut."""
    last = max(frames, default=0)
    if last > recalled.steps:
        raise ValueError(
            f"{path} was cut: it ends after step {recalled.steps}, though there were {last}. "
            f"`dowsax recover --replace {path}` goes on with what is left."
        )


def _take_note(recalled: Recalled, note: Note) -> None:
    if note.what == TRUTH:
        recalled.truth = recalled.truth or note.data
        return
    recalled.is_revealed |= note.what == REVEALED
    recalled.events.append(event_of(note))


def event_of(note: Note) -> dict[str, str]:
    """A note as it is told."""
    return {"time": note.received, "kind": note.what, "text": note.text}
