"""The mission log: one SQLite file that is only ever added to, and that survives the end of the program.

A reading and the advice it led to are written together, in one transaction that is on the disk before
anything is acknowledged. Whenever the program is ended, the log holds every reading that was acknowledged and
no half of one. The belief is not stored: it is a function of the site, the seed and the readings in order.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FORMAT = 1

_SCHEMA = (
    "CREATE TABLE mission (format INTEGER NOT NULL, header TEXT NOT NULL)",
    """CREATE TABLE readings (
        number INTEGER PRIMARY KEY, id TEXT UNIQUE, received TEXT NOT NULL, given TEXT NOT NULL,
        reading TEXT NOT NULL, advice TEXT NOT NULL)""",
    """CREATE TABLE refused (
        number INTEGER PRIMARY KEY, after INTEGER NOT NULL, received TEXT NOT NULL, given TEXT NOT NULL,
        reason TEXT NOT NULL)""",
    *(
        f"""CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table}
        BEGIN SELECT RAISE(ABORT, 'a mission log is only added to'); END"""
        for table in ("mission", "readings", "refused")
        for verb in ("UPDATE", "DELETE")
    ),
)
# What SQLite says when the disk is full, or does not take what is written for another reason.
_DISK_FAULTS = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class NotRecorded(OSError):
    """What was to be written is not on the disk, and nothing of it is; it may be tried again."""


@dataclass(frozen=True)
class Header:
    """What a mission was begun with: all that the belief depends on besides the readings."""

    site: str
    """The text of the site file."""
    seed: int
    policy: str
    preset: str
    versions: dict[str, str]

    @property
    def binding(self) -> tuple:
        """What must be the same to go on; under other versions a belief may differ in the last digits."""
        return self.site, self.seed, self.policy, self.preset


@dataclass(frozen=True)
class Entry:
    """A reading that was taken in, and what was advised."""

    number: int
    """Counted from 1."""
    id: str | None
    received: str
    """When, by the clock of this machine (ISO 8601, UTC)."""
    given: str
    """As it came."""
    reading: dict[str, Any]
    """As it was understood: metres, seconds."""
    advice: dict[str, Any]


@dataclass(frozen=True)
class Refusal:
    """What was not taken in, and why."""

    after: int
    """How many readings had been taken in before."""
    received: str
    given: str
    reason: str


class MissionLog:
    """An open log. `create` begins one, `open` goes on with one, `resume` does whichever is needed."""

    def __init__(self, path: Path, connection: sqlite3.Connection, header: Header) -> None:
        self.path = path
        self.header = header
        self._connection = connection

    @classmethod
    def create(cls, path: Path | str, header: Header) -> "MissionLog":
        """Begin a log. A file in which a mission was never quite begun is taken over."""
        path = Path(path)
        connection = _connect(path, "rwc")
        if _tables(path, connection):
            connection.close()
            raise ValueError(f"{path} already holds a mission: go on with it, or choose another file.")
        with _writing(path, connection):
            for statement in _SCHEMA:
                connection.execute(statement)
            text = json.dumps(asdict(header), allow_nan=False)
            connection.execute("INSERT INTO mission VALUES (?, ?)", (FORMAT, text))
        _sync_folder(path)
        return cls(path, connection, header)

    @classmethod
    def open(cls, path: Path | str) -> "MissionLog":
        """A log that is there, to read or to go on with."""
        path = Path(path)
        if not path.is_file():
            raise ValueError(f"{path} does not exist: give the log of a mission, as in advise --log.")
        connection = _connect(path, "rw" if os.access(path, os.W_OK) else "ro")
        if "mission" not in _tables(path, connection):
            connection.close()
            raise ValueError(f"{path} holds no mission: give the file that `dowsax advise --log` wrote.")
        format_, text = connection.execute("SELECT format, header FROM mission").fetchone()
        if format_ != FORMAT:
            connection.close()
            raise ValueError(
                f"{path} has the format {format_}; this version of dowsax reads {FORMAT}: take the version "
                "that wrote it."
            )
        return cls(path, connection, Header(**json.loads(text)))

    @classmethod
    def resume(cls, path: Path | str, header: Header) -> "MissionLog":
        """Go on with the mission in the file, which must be the same one, or begin it."""
        path = Path(path)
        if not path.is_file() or path.stat().st_size == 0 or not _begun(path):
            return cls.create(path, header)
        log = cls.open(path)
        if log.header.binding != header.binding:
            names = ("site file", "seed", "policy", "preset")
            pairs = zip(names, log.header.binding, header.binding, strict=True)
            other = " and ".join(name for name, had, now in pairs if had != now)
            log.close()
            raise ValueError(
                f"{path} was begun with another {other}: give the same, or another log to begin anew."
            )
        return log

    def __len__(self) -> int:
        """How many readings were taken in."""
        return self._connection.execute("SELECT count(*) FROM readings").fetchone()[0]

    def __enter__(self) -> "MissionLog":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def append(self, number: int, id: str | None, given: str, reading: dict, advice: dict) -> None:
        """Add the reading of this number with its advice; on the disk when this returns.

        `NotRecorded` when the disk does not take it. A ValueError when another program has written there.
        """
        texts = [json.dumps(body, allow_nan=False) for body in (reading, advice)]
        row = (number, id, _now(), given, *texts)
        try:
            with _writing(self.path, self._connection):
                self._connection.execute("INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?)", row)
        except sqlite3.IntegrityError:
            raise ValueError(
                f"{self.path} has a reading {number} or one with the id {id!r} already: does another advisor "
                "write into it?"
            ) from None

    def refuse(self, given: str, reason: str) -> None:
        """Add what was not taken in, and why."""
        statement = "INSERT INTO refused VALUES (NULL, (SELECT count(*) FROM readings), ?, ?, ?)"
        with _writing(self.path, self._connection):
            self._connection.execute(statement, (_now(), given, reason))

    def entries(self) -> Iterator[Entry]:
        """What was taken in, in order."""
        yield from map(_entry, self._connection.execute(f"{_READINGS} ORDER BY number"))

    def entry(self, number: int) -> Entry:
        """What was taken in as the reading of this number."""
        return _entry(self._connection.execute(f"{_READINGS} WHERE number = ?", (number,)).fetchone())

    def refusals(self) -> Iterator[Refusal]:
        """What was refused, in order."""
        rows = self._connection.execute("SELECT after, received, given, reason FROM refused ORDER BY number")
        for row in rows:
            yield Refusal(*row)


_READINGS = "SELECT number, id, received, given, reading, advice FROM readings"


def _entry(row: tuple) -> Entry:
    number, id_, received, given, reading, advice = row
    return Entry(number, id_, received, given, json.loads(reading), json.loads(advice))


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give the name of a file for the mission log.")
    if not path.parent.is_dir():
        raise ValueError(f"Cannot write {path}: the folder {path.parent} does not exist; make it first.")
    address = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        # Answers may be computed in another thread than the one that opened the log, one at a time.
        connection = sqlite3.connect(
            address, uri=True, isolation_level=None, timeout=5.0, check_same_thread=False
        )
        if mode != "ro":
            # A transaction is in the write-ahead log, and that on the disk, before the commit returns.
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            # [kB]: what is only added to is hardly ever read again.
            connection.execute("PRAGMA cache_size=-256")
    except sqlite3.DatabaseError as error:
        raise _fault(path, error) from None
    return connection


def _tables(path: Path, connection: sqlite3.Connection) -> set[str]:
    try:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _fault(path, error) from None
    return {name for (name,) in rows}


def _begun(path: Path) -> bool:
    connection = _connect(path, "rw")
    try:
        return bool(_tables(path, connection))
    finally:
        connection.close()


@contextmanager
def _writing(path: Path, connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction: as a whole or not at all, and on the disk at the end."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.OperationalError):
            raise _fault(path, error) from None
        raise


def _fault(path: Path, error: sqlite3.Error) -> Exception:
    """What went wrong with the file, and what to do."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _DISK_FAULTS:
        full = "the disk is full" if code == sqlite3.SQLITE_FULL else f"the disk does not take it ({error})"
        return NotRecorded(f"Not recorded in {path}: {full}. Make room and send the reading again.")
    if code in _BUSY:
        return NotRecorded(f"Not recorded in {path}: another program holds it. End that one and try again.")
    return ValueError(f"{path} cannot be used as a mission log: {error}. Choose another file.")


def _sync_folder(path: Path) -> None:
    """A new file is there after a loss of power only when its folder is on the disk too."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
