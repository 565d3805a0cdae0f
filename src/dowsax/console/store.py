"""What the console keeps besides the mission logs: one SQLite file for a folder of missions.

Missions and truths are on the disk before they are acknowledged. Frames and events are not waited for: they
survive the end of the program, and what a loss of power takes of them is made anew from the mission log.
"""

import fcntl
import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dowsax.console.records import REAL, Record, now
from dowsax.files import replacing
from dowsax.mission.log import NotRecorded

_SCHEMA = """
CREATE TABLE IF NOT EXISTS missions (
    id TEXT PRIMARY KEY, created TEXT NOT NULL, body TEXT NOT NULL, truth TEXT, revealed INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS frames (
    mission TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL, draws BLOB NOT NULL,
    PRIMARY KEY (mission, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY, mission TEXT NOT NULL, time TEXT NOT NULL, kind TEXT NOT NULL,
    text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS deleted (mission TEXT PRIMARY KEY, site TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS events_of_missions ON events (mission, number);
"""
_EVENTS = 200
"""Of a mission that are told at most."""


class Draws(NamedTuple):
    """Equally weighted draws of Θ from a belief."""

    thetas: np.ndarray
    """(k, d) float32"""

    def packed(self) -> bytes:
        """In half precision about their own mean: exact to a thousandth of their spread."""
        mean = self.thetas.mean(axis=0, dtype=np.float64)
        spread = np.maximum(self.thetas.std(axis=0, dtype=np.float64), 1e-30)
        head = np.concatenate([[len(self.thetas), len(mean)], mean, spread]).astype("<f8")
        return head.tobytes() + ((self.thetas - mean[None]) / spread[None]).astype("<f2").tobytes()

    @classmethod
    def at(cls, theta: Sequence[float]) -> "Draws":
        """One draw alone."""
        return cls(np.asarray([theta], np.float32))

    @classmethod
    def unpacked(cls, data: bytes) -> "Draws":
        """The inverse of `packed`, but for the rounding."""
        count, columns = (int(number) for number in np.frombuffer(data, "<f8", 2))
        mean, spread = np.frombuffer(data, "<f8", 2 * columns, 16).reshape(2, columns)
        scaled = np.frombuffer(data, "<f2", count * columns, 16 + 16 * columns).reshape(count, columns)
        return cls((mean[None] + spread[None] * scaled).astype(np.float32))


class Store:
    """An open folder of missions. Any thread may use it; one program at a time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self._held = (folder / ".held").open("w")
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._held.close()
            raise ValueError(
                f"{folder} is in use by another console: end it, or give another folder."
            ) from None
        self._lock = threading.Lock()
        # It holds passwords of brokers; the files that SQLite puts beside it are as readable as it is.
        database = folder / "console.db"
        database.touch(mode=0o600)
        database.chmod(0o600)
        # One thread at a time, by the lock.
        self._connection = sqlite3.connect(
            database, isolation_level=None, timeout=5.0, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode=WAL")
        # What is deleted is written over, not only let go.
        self._connection.execute("PRAGMA secure_delete=ON")
        self._connection.executescript(_SCHEMA)
        for mission, site in self._rows("SELECT mission, site FROM deleted"):
            self._remove_files(mission, site)

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            self._held.close()

    def log_path(self, mission: str) -> Path:
        """Where the log of a mission is."""
        return self.folder / f"{mission}.db"

    def site_path(self, record: Record) -> Path:
        """Where the site file of a mission is, for those who rehearse it; missions of a kind share one."""
        digest = hashlib.sha256(record.site.encode()).hexdigest()[:16]
        return self.folder / "sites" / f"{digest}-{record.policy}.toml"

    def keep_site(self, record: Record) -> None:
        """Write the site file of a real mission, unless it is there."""
        path = self.site_path(record)
        if record.type != REAL or path.is_file():
            return
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as partial:
            partial.write_text(record.site, encoding="utf-8", newline="\n")

    def add(self, record: Record) -> None:
        """Keep a new mission; on the disk when this returns."""
        body = json.dumps(record.to_json(), allow_nan=False)
        with self._writing(durable=True) as connection:
            connection.execute(
                "INSERT INTO missions VALUES (?, ?, ?, NULL, 0)", (record.id, record.created, body)
            )

    def keep_truth(self, mission: str, truth: dict[str, Any]) -> dict[str, Any]:
        """Keep the truth of a simulation, and give back the one that was kept first."""
        with self._writing(durable=True) as connection:
            connection.execute(
                "UPDATE missions SET truth = coalesce(truth, ?) WHERE id = ?",
                (json.dumps(truth, allow_nan=False), mission),
            )
            row = connection.execute("SELECT truth FROM missions WHERE id = ?", (mission,)).fetchone()
        return json.loads(row[0])

    def reveal(self, mission: str) -> None:
        """From now on the truth may be told."""
        with self._writing(durable=True) as connection:
            connection.execute("UPDATE missions SET revealed = 1 WHERE id = ?", (mission,))

    def records(self) -> list[tuple[Record, bool]]:
        """All missions, the oldest first, and whether their truth was revealed."""
        rows = self._rows("SELECT body, revealed FROM missions ORDER BY created, id")
        return [(Record.from_json(json.loads(body)), bool(revealed)) for body, revealed in rows]

    def delete(self, record: Record) -> None:
        """Forget a mission; nothing of it is on the disk when this returns.

        Ended in the middle, it is either there as it was, or gone when the folder is opened again.
        """
        with self._writing(durable=True) as connection:
            for table, column in (("missions", "id"), ("frames", "mission"), ("events", "mission")):
                connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (record.id,))
            connection.execute("INSERT INTO deleted VALUES (?, ?)", (record.id, self.site_path(record).name))
        self._remove_files(record.id, self.site_path(record).name)

    def _remove_files(self, mission: str, site: str) -> None:
        """The log of a mission, and its site file unless another mission has the same."""
        log = self.log_path(mission)
        for path in (log, *(log.with_name(log.name + end) for end in ("-wal", "-shm", "-journal"))):
            path.unlink(missing_ok=True)
        if site not in {self.site_path(record).name for record, _ in self.records()}:
            file = self.folder / "sites" / site
            file.unlink(missing_ok=True)
            file.with_suffix(".rehearsal.json").unlink(missing_ok=True)
        with self._writing(durable=True) as connection:
            connection.execute("DELETE FROM deleted WHERE mission = ?", (mission,))
        with self._lock:
            # The pages as they were are in the write-ahead log until it is taken in.
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def truth(self, mission: str) -> dict[str, Any] | None:
        rows = self._rows("SELECT truth FROM missions WHERE id = ?", mission)
        return json.loads(rows[0][0]) if rows and rows[0][0] is not None else None

    def add_frame(self, mission: str, frame: dict[str, Any], draws: Draws) -> None:
        body = json.dumps(frame, allow_nan=False)
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO frames VALUES (?, ?, ?, ?)",
                (mission, frame["number"], body, draws.packed()),
            )

    def frames(self, mission: str, first: int, last: int) -> list[dict[str, Any]]:
        """Without particles."""
        rows = self._rows(
            "SELECT body FROM frames WHERE mission = ? AND number BETWEEN ? AND ? ORDER BY number",
            mission,
            first,
            last,
        )
        return [json.loads(body) for (body,) in rows]

    def frame(self, mission: str, number: int) -> tuple[dict[str, Any], Draws] | None:
        rows = self._rows("SELECT body, draws FROM frames WHERE mission = ? AND number = ?", mission, number)
        return (json.loads(rows[0][0]), Draws.unpacked(rows[0][1])) if rows else None

    def latest_frame(self, mission: str) -> dict[str, Any] | None:
        rows = self._rows("SELECT body FROM frames WHERE mission = ? ORDER BY number DESC LIMIT 1", mission)
        return json.loads(rows[0][0]) if rows else None

    def frame_numbers(self, mission: str) -> set[int]:
        return {number for (number,) in self._rows("SELECT number FROM frames WHERE mission = ?", mission)}

    def add_event(self, mission: str, kind: str, text: str) -> dict[str, str]:
        """Keep what has happened, and give it back as it is told."""
        event = {"time": now(), "kind": kind, "text": text}
        with self._writing() as connection:
            connection.execute(
                # Whoever was told late that the mission is gone leaves nothing behind.
                "INSERT INTO events SELECT NULL, id, ?, ?, ? FROM missions WHERE id = ?",
                (event["time"], kind, text, mission),
            )
        return event

    def events(self, mission: str) -> list[dict[str, str]]:
        """The newest, in order."""
        rows = self._rows(
            f"SELECT time, kind, text FROM events WHERE mission = ? ORDER BY number DESC LIMIT {_EVENTS}",
            mission,
        )
        return [dict(zip(("time", "kind", "text"), row, strict=True)) for row in reversed(rows)]

    def _rows(self, statement: str, *values: Any) -> list[tuple]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _writing(self, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction: as a whole or not at all, and on the disk at the end where it is `durable`."""
        with self._lock:
            connection = self._connection
            try:
                connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.OperationalError):
                    raise NotRecorded(
                        f"The disk does not take it ({error}): make room, and try again."
                    ) from None
                raise
