"""The mission log: what was acknowledged is on the disk, as it was, and nothing is ever changed."""

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from dowsax.mission.log import Header, MissionLog, NotRecorded

HEADER = Header("name = 'here'", 3, "infotaxis", "default", {"dowsax": "0"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mission.db"


def add(log, number, size=1):
    log.append(number, f"id {number}", '{"as": "given"}', {"value": number}, {"why": "x" * size})


def test_gives_back_what_was_put_in(path):
    """In order, to the last digit, after closing and opening."""
    with MissionLog.create(path, HEADER) as log:
        log.append(1, "a", "{}", {"value": 0.1 + 0.2}, {"why": "é"})
        log.append(2, None, "{}", {"value": 1e-300}, {"why": ""})
        log.refuse("nonsense", "not JSON")
        log.append(3, None, "{}", {"value": -0.0}, {"why": ""})
    with MissionLog.open(path) as log:
        assert log.header == HEADER
        assert len(log) == 3
        entries = list(log.entries())
        assert [entry.reading["value"] for entry in entries] == [0.1 + 0.2, 1e-300, -0.0]
        assert [(entry.number, entry.id) for entry in entries] == [(1, "a"), (2, None), (3, None)]
        assert entries[0].advice == {"why": "é"}
        assert [(item.after, item.given, item.reason) for item in log.refusals()] == [
            (2, "nonsense", "not JSON")
        ]


@pytest.mark.parametrize(
    "statement", ["DELETE FROM readings", "UPDATE readings SET number = 9", "DELETE FROM mission"]
)
def test_is_only_added_to(path, statement):
    """Not even by another program that opens the file."""
    with MissionLog.create(path, HEADER) as log:
        add(log, 1)
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="only added to"):
        connection.execute(statement)
    connection.close()


def test_every_commit_is_synced(path):
    with MissionLog.create(path, HEADER) as log:
        assert log._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert log._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_second_writer_is_noticed(path):
    """Two advisors on one log would contradict each other: the slower one is told."""
    with MissionLog.create(path, HEADER) as log, MissionLog.open(path) as other:
        add(log, 1)
        with pytest.raises(ValueError, match="another advisor"):
            add(other, 1)
        add(log, 2)
        assert len(other) == 2


def test_resumes_the_same_mission_only(path):
    MissionLog.resume(path, HEADER).close()
    with MissionLog.resume(path, HEADER) as log:
        add(log, 1)
    with MissionLog.resume(path, HEADER) as log:
        assert len(log) == 1
    with pytest.raises(ValueError, match=r"begun with another seed and policy"):
        MissionLog.resume(path, Header(HEADER.site, 4, "dcee", HEADER.preset, {}))
    with pytest.raises(ValueError, match="already holds a mission"):
        MissionLog.create(path, HEADER)


def test_a_log_that_was_never_quite_begun_is_begun(path):
    """An empty file, and a database without tables, are what a crash at the very start leaves."""
    path.touch()
    MissionLog.resume(path, HEADER).close()
    other = path.with_name("other.db")
    connection = sqlite3.connect(other)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA user_version=0")
    connection.close()
    with MissionLog.resume(other, HEADER) as log:
        assert len(log) == 0


@pytest.mark.parametrize("content", [b"name,value\n1,2\n" * 100, b"SQLite format 3\0" + b"\xff" * 2000])
def test_other_files_are_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"mission\.db"):
        MissionLog.resume(path, HEADER)
    assert path.read_bytes() == content


def test_says_what_is_wrong_with_a_path(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        MissionLog.create(tmp_path, HEADER)
    with pytest.raises(ValueError, match="does not exist"):
        MissionLog.create(tmp_path / "none" / "mission.db", HEADER)
    with pytest.raises(ValueError, match="does not exist"):
        MissionLog.open(tmp_path / "mission.db")


@contextmanager
def largest_file(size):
    """No file of this process may grow beyond the size: as a full disk, but by the system's own hand."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, former)


def test_a_full_disk_is_said_and_nothing_is_half_written(path):
    """What was recorded before stays; what was not is not there; it goes on when there is room."""
    with MissionLog.create(path, HEADER) as log:
        number = 0
        with largest_file(100_000), pytest.raises(NotRecorded, match="Make room"):  # noqa: PT012
            while True:
                add(log, number + 1, size=3000)
                number += 1
        assert 1 < number < 100
        assert len(log) == number
        add(log, number + 1, size=3000)
    with MissionLog.open(path) as log:
        assert [entry.number for entry in log.entries()] == list(range(1, number + 2))


def test_sqlite_calls_a_full_disk_by_its_name(path):
    """Likewise where the database itself may have no more pages."""
    with MissionLog.create(path, HEADER) as log:
        pages = log._connection.execute("PRAGMA page_count").fetchone()[0]
        log._connection.execute(f"PRAGMA max_page_count={pages + 1}")
        with pytest.raises(NotRecorded, match="the disk is full"):
            add(log, 1, size=20_000)
        assert len(log) == 0
        log._connection.execute("PRAGMA max_page_count=1000000")
        add(log, 1, size=20_000)
        assert len(log) == 1


WRITER = """
import sys
from dowsax.mission.log import Header, MissionLog
log = MissionLog.resume(sys.argv[1], Header("name = 'here'", 3, "infotaxis", "default", {"dowsax": "0"}))
number = len(log)
while True:
    number += 1
    log.append(number, f"id {number}", "{}", {"value": number}, {"why": "x" * (number * 37 % 3000)})
    print(number, flush=True)
"""


def test_nothing_acknowledged_is_lost_when_killed(path):
    """Killed for real, many times, at random moments: every number that was printed is in the log."""
    moments = random.Random(5)
    acknowledged = 0
    for _ in range(20):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        first = writer.stdout.readline()
        time.sleep(moments.uniform(0.0, 0.05))
        os.kill(writer.pid, signal.SIGKILL)
        lines = [first, *writer.stdout.read().split("\n")]
        writer.wait()
        writer.stdout.close()
        # The last line may be cut in the middle: it was not received.
        numbers = [int(line) for line in lines[:-1] if line.strip()]
        assert numbers[0] > acknowledged
        acknowledged = max(numbers)
        with MissionLog.open(path) as log:
            entries = list(log.entries())
        assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
        assert len(entries) >= acknowledged
        assert all(entry.advice == {"why": "x" * (entry.number * 37 % 3000)} for entry in entries)
    assert acknowledged > 20
