"""The mission log: a journal of readings, corrections, refusals and notes, from which a mission goes on.

A reading and the advice it led to are one entry, which is on the disk before anything is acknowledged.
Nothing is ever changed: a reading that was wrong is withdrawn or corrected by a further entry. The belief is
not stored: it is a function of the site, the seed and the readings that stand, in order.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dowsax.journal import Damaged, Entry, Journal, read, salvage
from dowsax.mission.advice import read_status

FORMAT = 2
HEADER, READING, CORRECTION, REFUSED, NOTE = "header", "reading", "correction", "refused", "note"
"""Kinds of entries. There are two headers, the same: one may be damaged."""
STEPS = (READING, CORRECTION)
"""Kinds that change the belief."""
MAX_GIVEN = 10_000
"""Characters of what was given that are kept."""
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Header:
    """What a mission was begun with: all that the belief depends on besides the readings."""

    site: str
    """The text of the site file."""
    seed: int
    policy: str
    preset: str
    versions: dict[str, str]
    about: dict[str, Any] = field(default_factory=dict)
    """What else its owner keeps with it; the belief does not depend on it."""

    @property
    def binding(self) -> tuple:
        """What must be the same to go on; under other versions a belief may differ in the last digits."""
        return self.site, self.seed, self.policy, self.preset

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"format": FORMAT}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Header":
        """The inverse of `to_json`."""
        return cls(**{name: part for name, part in body.items() if name != "format"})


@dataclass(frozen=True)
class Step:
    """A reading or a correction: what changed the belief, and what was advised then."""

    number: int
    """Counted from 1 over readings and corrections."""
    received: str
    """When, by the clock of this machine (ISO 8601, UTC)."""
    given: str
    """As it came."""
    reading: dict[str, Any] | None
    """As it was understood: metres, seconds. `None` for a reading that is withdrawn."""
    advice: dict[str, Any]
    measures: dict[str, Any] = field(default_factory=dict)
    """What the belief was like then: see `Course.measures`."""
    corrects: int | None = None
    """The number of the reading that this step withdraws or corrects; `None` for a reading."""
    reason: str = ""
    held_wind: bool = False
    """Whether the reading had no wind of its own, and has that of the one before it."""

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Step":
        """Read a step from the body of its entry."""
        advice = body["advice"]
        if "status" in advice:
            advice = advice | {"status": read_status(advice["status"])}
        return cls(**(body | {"advice": advice}))

    @property
    def kind(self) -> str:
        return READING if self.corrects is None else CORRECTION

    @property
    def id(self) -> str | None:
        return None if self.reading is None else self.reading["id"]


@dataclass(frozen=True)
class Refusal:
    """What was not taken in, and why."""

    after: int
    """How many steps there were before."""
    received: str
    given: str
    reason: str


@dataclass(frozen=True)
class Note:
    """What happened to a mission besides readings."""

    received: str
    what: str
    """In a word."""
    text: str
    data: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Note":
        """Read a note from the body of its entry; the end of a search is noted under its status."""
        return cls(**(body | {"what": read_status(body["what"])}))


Record = Step | Refusal | Note
"""What a log is made of, after its header."""


def record_of(entry: Entry) -> Record | None:
    """Read the record of an entry; `None` for a header."""
    if entry.kind in STEPS:
        return Step.from_json(entry.body)
    if entry.kind == NOTE:
        return Note.from_json(entry.body)
    return Refusal(**entry.body) if entry.kind == REFUSED else None


class MissionLog:
    """A log that is open: to append to, or, from `open`, to read."""

    def __init__(self, path: Path, header: Header, journal: Journal | None) -> None:
        self.path = path
        self.header = header
        self._journal = journal
        self._offsets: dict[int, int] = {}
        """Of the steps, by their number."""

    @classmethod
    def create(cls, path: Path | str, header: Header) -> "MissionLog":
        """Begin a log. A file in which a mission was never quite begun is taken over."""
        path = _usable(Path(path))
        try:
            journal = Journal.create(path, HEADER, header.to_json())
        except FileExistsError:
            raise ValueError(
                f"{path} already holds a mission: go on with it, or choose another file."
            ) from None
        try:
            journal.append(HEADER, header.to_json())
        except BaseException:
            journal.close()
            raise
        return cls(path, header, journal)

    @classmethod
    def open(cls, path: Path | str) -> "MissionLog":
        """Open a log to read; another program may be writing to it."""
        path = Path(path)
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "does not exist"
            raise ValueError(f"{path} {what}: give the log of a mission, as in advise --log.")
        return cls(path, _header(path), None)

    @classmethod
    def resume(cls, path: Path | str, header: Header) -> "MissionLog":
        """Go on with the mission in the file, which must be the same one, or begin it."""
        path = Path(path)
        if not is_begun(path):
            return cls.create(path, header)
        log = cls.open(path)
        if log.header.binding != header.binding:
            names = ("site file", "seed", "policy", "preset")
            pairs = zip(names, log.header.binding, header.binding, strict=True)
            other = " and ".join(name for name, had, now in pairs if had != now)
            raise ValueError(
                f"{path} was begun with another {other}: give the same, or another log for a new mission."
            )
        return log.writable()

    def writable(self) -> "MissionLog":
        """The same log, to append to: another program that wants to is refused from now on."""
        try:
            self._journal = Journal.open(self.path)
            for _ in self.steps():
                pass
        except Damaged as error:
            raise _damaged(self.path, error) from None
        except OSError as error:
            raise ValueError(
                f"{self.path} cannot be written to ({error.strerror}): copy it to another place, go on there."
            ) from None
        return self

    def __enter__(self) -> "MissionLog":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def append(self, step: Step) -> None:
        """Append a step, which is on the disk when this returns; `NotRecorded` where it is not."""
        entry = self._write(step.kind, asdict(step))
        self._offsets[step.number] = entry.offset

    def refuse(self, given: str, reason: str) -> None:
        """Append what was not taken in, and why."""
        body = {"after": len(self._offsets), "received": now(), "given": given[:MAX_GIVEN], "reason": reason}
        self._write(REFUSED, body)

    def note(self, what: str, text: str, data: dict[str, Any] | None = None, durable: bool = False) -> Note:
        """Append what happened; by default a loss of power may take it back."""
        note = Note(now(), what, text, data or {})
        self._write(NOTE, asdict(note), durable)
        return note

    def copy(self, record: Record) -> None:
        """Append a record of another log; a loss of power may take it back until the next that may not."""
        kind = record.kind if isinstance(record, Step) else REFUSED if isinstance(record, Refusal) else NOTE
        self._write(kind, asdict(record), durable=False)

    def steps(self) -> Iterator[Step]:
        """Readings and corrections, in order."""
        for entry in self._entries():
            if entry.kind in STEPS:
                step = Step.from_json(entry.body)
                self._offsets[step.number] = entry.offset
                yield step

    def step(self, number: int) -> Step:
        """The step of this number, of a log that is written to."""
        assert self._journal is not None
        return Step.from_json(self._journal.entry_at(self._offsets[number]).body)

    def records(self) -> Iterator[Record]:
        """All that happened, in order."""
        for entry in self._entries():
            record = record_of(entry)
            if record is not None:
                yield record

    def _entries(self) -> Iterator[Entry]:
        try:
            yield from read(self.path)
        except Damaged as error:
            raise _damaged(self.path, error) from None

    def _write(self, kind: str, body: dict[str, Any], durable: bool = True) -> Entry:
        assert self._journal is not None, "The log was opened to read."
        return self._journal.append(kind, body, durable)


def is_begun(path: Path) -> bool:
    """Whether a file holds anything but what a program that was ended at the very start leaves."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    try:
        return next(read(path), None) is not None
    except Damaged:
        return True


def _usable(path: Path) -> Path:
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give the name of a file for the mission log.")
    if not path.parent.is_dir():
        raise ValueError(f"Cannot write {path}: the folder {path.parent} does not exist; make it first.")
    return path


def _header(path: Path) -> Header:
    """The header of a log, or why the file is none."""
    if is_of_earlier_version(path):
        raise ValueError(f"{path} was written by an earlier version: `dowsax recover {path}` converts it.")
    try:
        first = next(read(path), None)
    except Damaged as error:
        if next(salvage(path), None) is not None:
            raise _damaged(path, error) from None
        first = None
    if first is None or first.kind != HEADER:
        raise ValueError(f"{path} holds no mission: give the file that `dowsax advise --log` wrote.")
    format_ = first.body["format"]
    if format_ != FORMAT:
        raise ValueError(
            f"{path} has the format {format_}, and this version of dowsax reads {FORMAT}: use a newer one."
        )
    return Header.from_json(first.body)


def is_of_earlier_version(path: Path) -> bool:
    """Whether a file is a log as earlier versions wrote them, in SQLite's format."""
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _damaged(path: Path, error: Damaged) -> Damaged:
    return Damaged(f"{error} `dowsax recover {path}` saves what can be read into a new log.")


def now() -> str:
    """The time by this machine's clock (ISO 8601, UTC)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
