"""Recovery of a damaged log, and conversion of a log of an earlier version, into a new log."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from dowsax.journal import salvage
from dowsax.mission.advice import Advice
from dowsax.mission.log import (
    HEADER,
    Header,
    MissionLog,
    Note,
    Record,
    Refusal,
    Step,
    is_of_earlier_version,
    record_of,
)
from dowsax.survey.reading import Reading


@dataclass(frozen=True)
class Recovered:
    """What was saved of a log, and what was lost."""

    readings: int
    corrections: int
    lost: tuple[int, ...] = ()
    """The numbers of damaged or missing entries, headers excluded."""
    is_cut: bool = False
    """Whether there are bytes after the last intact entry."""

    def words(self) -> str:
        """Say what was saved and lost, in one line."""
        saved = f"{_count(self.readings, 'reading')} and {_count(self.corrections, 'correction')} are saved"
        parts = [f"{_count(len(self.lost), 'entry')} ({_ranges(self.lost)})"] if self.lost else []
        parts += ["what comes after the last readable entry"] if self.is_cut else []
        return f"{saved}; lost: {' and '.join(parts) or 'nothing'}."


@dataclass(frozen=True)
class _Found:
    """The readable part of a log."""

    header: Header | None
    records: list[Record]
    lost: tuple[int, ...] = ()
    is_cut: bool = False


def recover(path: Path, out: Path, header: Header | None = None) -> Recovered:
    """Write every intact entry to a new log; `header` is used where the log's own is lost.

    Steps are numbered without gaps. A correction of a lost reading becomes a reading.
    """
    if not path.is_file():
        raise ValueError(f"{path} does not exist: give the log of a mission.")
    if out.exists():
        raise ValueError(f"{out} exists already: give another --out, as nothing is overwritten.")
    found = _read_sqlite(path) if is_of_earlier_version(path) else _read_journal(path)
    header = found.header or header
    if header is None and not found.records:
        raise ValueError(f"{path} holds nothing of a mission that can be read.")
    if header is None:
        raise ValueError(
            f"The header of {path} cannot be read: give the site file of the mission with --site."
        )
    log = MissionLog.create(out, header)
    try:
        with log:
            readings = corrections = 0
            for record in _renumber(found.records):
                log.copy(record)
                readings += isinstance(record, Step) and record.corrects is None
                corrections += isinstance(record, Step) and record.corrects is not None
            recovered = Recovered(readings, corrections, found.lost, found.is_cut)
            log.note("recovered", f"Recovered from {path.name}: {recovered.words()}", durable=True)
    except BaseException:
        # An incomplete copy must not pass for the recovered log.
        out.unlink(missing_ok=True)
        raise
    return recovered


def _read_journal(path: Path) -> _Found:
    entries = sorted(salvage(path), key=lambda entry: entry.number)
    headers = [entry.body for entry in entries if entry.kind == HEADER]
    records = [record for entry in entries if (record := record_of(entry)) is not None]
    known = {entry.number for entry in entries}
    # The first two are headers, and one is enough.
    lost = tuple(number for number in range(2, max(known, default=0)) if number not in known)
    end = max((entry.end for entry in entries), default=0)
    is_cut = path.stat().st_size > end
    return _Found(Header.from_json(headers[0]) if headers else None, records, lost, is_cut)


def _read_sqlite(path: Path) -> _Found:
    """Read the tables of an SQLite file, as far as possible."""
    header: Header | None = None
    steps: list[Step] = []
    refusals: list[Refusal] = []
    is_cut = False
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        try:
            header = Header(**json.loads(database.execute("SELECT header FROM mission").fetchone()[0]))
            statement = "SELECT number, received, given, reading, advice FROM readings ORDER BY number"
            for row in database.execute(statement):
                step = _read_sqlite_step(*row)
                steps += [] if step is None else [step]
                is_cut |= step is None
            statement = "SELECT after, received, given, reason FROM refused ORDER BY number"
            refusals.extend(Refusal(*row) for row in database.execute(statement))
        except (sqlite3.Error, ValueError, TypeError):
            is_cut = True
    placed: list[tuple[float, Record]] = [(step.number, step) for step in steps]
    placed += [(refusal.after + 0.5, refusal) for refusal in refusals]
    return _Found(header, [record for _, record in sorted(placed, key=lambda pair: pair[0])], (), is_cut)


def _read_sqlite_step(number: int, received: str, given: str, reading: str, advice: str) -> Step | None:
    """Read a row of readings, which has no checksum; `None` where it is damaged."""
    try:
        bodies = {"reading": json.loads(reading), "advice": json.loads(advice)}
        step = Step.from_json({"number": number, "received": received, "given": given, **bodies})
        Reading.from_json(step.reading or {})
        Advice.from_json(step.advice)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return step


def _renumber(records: Iterable[Record]) -> Iterator[Record]:
    """Number the steps from 1 without gaps, and adjust references to them."""
    numbers: dict[int, int] = {}
    """New numbers of readings by their old ones."""
    count = 0
    for record in records:
        if isinstance(record, Refusal):
            yield replace(record, after=count)
            continue
        if isinstance(record, Note):
            yield record
            continue
        is_orphan = record.corrects is not None and record.corrects not in numbers
        if is_orphan and record.reading is None:
            continue
        count += 1
        corrects = None if record.corrects is None or is_orphan else numbers[record.corrects]
        if corrects is None:
            numbers[record.number if record.corrects is None else record.corrects] = count
        yield replace(record, number=count, corrects=corrects, advice=record.advice | {"number": count})


def _count(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def _ranges(numbers: tuple[int, ...]) -> str:
    """List numbers, runs of them as "first to last"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [str(first) if first == last else f"{first} to {last}" for first, last in runs]
    return ", ".join(parts[:10]) + (" …" if len(parts) > 10 else "")
