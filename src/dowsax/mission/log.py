"""The mission log: a journal of readings, corrections, refusals and notes, from which a mission continues.

A reading and its advice are one entry, which is on the disk before anything is acknowledged. Entries never
change: a wrong reading is withdrawn or corrected by a further entry. The belief is not stored: it is a
function of the site, the seed and the readings that count, in order.
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
"""Kinds of entries. The header is written twice, as one copy may be damaged."""
STEPS = (READING, CORRECTION)
"""Kinds of entries that change the belief."""
MAX_GIVEN = 10_000
"""Characters of a request that are stored."""
_SQLITE_MAGIC = b"SQLite format 3\0"


@dataclass(frozen=True)
class Header:
    """What a mission was started with: all that the belief depends on besides the readings."""

    site: str
    """The text of the site file."""
    seed: int
    policy: str
    preset: str
    versions: dict[str, str]
    about: dict[str, Any] = field(default_factory=dict)
    """Further data of the owner; the belief does not depend on it."""

    @property
    def binding(self) -> tuple:
        """What must be the same to continue; other versions may change the last digits of a belief."""
        return self.site, self.seed, self.policy, self.preset

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"format": FORMAT}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Header":
        """Invert `to_json`."""
        return cls(**{name: part for name, part in body.items() if name != "format"})


@dataclass(frozen=True)
class Step:
    """A reading or a correction, with the advice after it."""

    number: int
    """Counted from 1 over readings and corrections."""
    received: str
    """The time on this machine (ISO 8601, UTC)."""
    given: str
    """The request as it was sent."""
    reading: dict[str, Any] | None
    """The parsed reading, in metres and seconds. `None` for a withdrawal."""
    advice: dict[str, Any]
    measures: dict[str, Any] = field(default_factory=dict)
    """Numbers of the belief: see `MissionState.measures`."""
    corrects: int | None = None
    """The number of the reading that this step withdraws or corrects; `None` for a new reading."""
    reason: str = ""
    held_wind: bool = False
    """Whether the reading has the wind of the reading before it."""

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
    """A refused request, and why it was refused."""

    after: int
    """The number of steps before it."""
    received: str
    given: str
    reason: str


@dataclass(frozen=True)
class Note:
    """An event of a mission other than a reading."""

    received: str
    what: str
    """The kind of event, in a word."""
    text: str
    data: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Note":
        """Read a note from the body of its entry; the end of a search is noted under its status."""
        what: dict[str, Any] = {"what": read_status(body["what"])}
        return cls(**(body | what))


Record = Step | Refusal | Note
"""An entry of a log after its header."""


def record_of(entry: Entry) -> Record | None:
    """Read the record of an entry; `None` for a header."""
    if entry.kind in STEPS:
        return Step.from_json(entry.body)
    if entry.kind == NOTE:
        return Note.from_json(entry.body)
    return Refusal(**entry.body) if entry.kind == REFUSED else None


class MissionLog:
    """An open mission log: to append to, or, from `open`, to read."""

    def __init__(self, path: Path, header: Header, journal: Journal | None) -> None:
        self.path = path
        self.header = header
        self._journal = journal
        self._offsets: dict[int, int] = {}
        """Byte offsets of the steps, by their number."""

    @classmethod
    def create(cls, path: Path | str, header: Header) -> "MissionLog":
        """Create a log. A file with only an unfinished header is overwritten."""
        path = _require_writable(Path(path))
        try:
            journal = Journal.create(path, HEADER, header.to_json())
        except FileExistsError:
            raise ValueError(
                f"{path} already holds a mission: continue it, or choose another file."
            ) from None
        try:
            journal.append(HEADER, header.to_json())
        except BaseException:
            journal.close()
            raise
        return cls(path, header, journal)

    @classmethod
    def open(cls, path: Path | str) -> "MissionLog":
        """Open a log for reading; another program may be writing to it."""
        path = Path(path)
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "does not exist"
            raise ValueError(f"{path} {what}: give the log of a mission, as in advise --log.")
        return cls(path, _header(path), None)

    @classmethod
    def resume(cls, path: Path | str, header: Header) -> "MissionLog":
        """Continue the mission in the file, which must be the same one, or create its log."""
        path = Path(path)
        if not has_mission(path):
            return cls.create(path, header)
        log = cls.open(path)
        if log.header.binding != header.binding:
            names = ("site file", "seed", "policy", "preset")
            pairs = zip(names, log.header.binding, header.binding, strict=True)
            other = " and ".join(name for name, had, now in pairs if had != now)
            raise ValueError(
                f"{path} was started with another {other}: give the same, or another log for a new mission."
            )
        return log.writable()

    def writable(self) -> "MissionLog":
        """Return the same log opened for appending, which locks it against other writers."""
        try:
            self._journal = Journal.open(self.path)
            for _ in self.steps():
                pass
        except Damaged as error:
            raise _damaged(self.path, error) from None
        except OSError as error:
            raise ValueError(
                f"{self.path} cannot be written to ({error.strerror}): copy it elsewhere, and continue there."
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
        """Append a step; it is on the disk when this returns, or `NotRecorded` is raised."""
        entry = self._write(step.kind, asdict(step))
        self._offsets[step.number] = entry.offset

    def refuse(self, given: str, reason: str) -> None:
        """Append a refused request, and why."""
        body = {"after": len(self._offsets), "received": now(), "given": given[:MAX_GIVEN], "reason": reason}
        self._write(REFUSED, body)

    def note(self, what: str, text: str, data: dict[str, Any] | None = None, durable: bool = False) -> Note:
        """Append an event; it survives a loss of power only if it is `durable`."""
        note = Note(now(), what, text, data or {})
        self._write(NOTE, asdict(note), durable)
        return note

    def copy(self, record: Record) -> None:
        """Append a record of another log; it survives a loss of power after the next durable entry."""
        kind = record.kind if isinstance(record, Step) else REFUSED if isinstance(record, Refusal) else NOTE
        self._write(kind, asdict(record), durable=False)

    def steps(self) -> Iterator[Step]:
        """Yield readings and corrections, in order."""
        for entry in self._entries():
            if entry.kind in STEPS:
                step = Step.from_json(entry.body)
                self._offsets[step.number] = entry.offset
                yield step

    def step(self, number: int) -> Step:
        """Return the step of this number, from a log that is open for appending."""
        assert self._journal is not None
        return Step.from_json(self._journal.entry_at(self._offsets[number]).body)

    def records(self) -> Iterator[Record]:
        """Yield all records, in order."""
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


def has_mission(path: Path) -> bool:
    """Whether a file holds more than the unfinished header of a program that was killed at the start."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    try:
        return next(read(path), None) is not None
    except Damaged:
        return True


def _require_writable(path: Path) -> Path:
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give the name of a file for the mission log.")
    if not path.parent.is_dir():
        raise ValueError(f"Cannot write {path}: the folder {path.parent} does not exist; make it first.")
    return path


def _header(path: Path) -> Header:
    """Read the header of a log; a ValueError says why the file is no log."""
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
    """Whether a file is a log of an earlier version, in SQLite's format."""
    with path.open("rb") as file:
        return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC


def _damaged(path: Path, error: Damaged) -> Damaged:
    return Damaged(f"{error} `dowsax recover {path}` saves what is readable into a new log.")


def now() -> str:
    """Return the time on this machine (ISO 8601, UTC)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
