"""A file of readings that grows: each row once, also after a restart."""

import errno
import os
from pathlib import Path

import pytest

from dowsax.mission.flight.commands import Note
from dowsax.mission.flight.readings_file import ReadingsFile, last_row
from dowsax.survey.reading import Refused


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def rows_of(file):
    return [item for item in file.poll() if not isinstance(item, Note)]


def test_rows_arrive_once_and_whole(tmp_path):
    path = tmp_path / "readings.csv"
    rows = ReadingsFile(path)
    assert list(rows.poll()) == [Note(f"{path} is not there yet: waiting for it.")]
    assert list(rows.poll()) == []
    append(path, "time,ppm\n1,2.5\n2,")
    assert list(rows.poll()) == [("row-9", {"time": "1", "ppm": "2.5"})]
    append(path, "3.5\n\n")
    ((name, keys),) = rows_of(rows)
    assert keys == {"time": "2", "ppm": "3.5"}
    assert list(rows.poll()) == []
    append(path, "4,5,6\n")
    ((_, refused),) = rows_of(rows)
    assert isinstance(refused, Refused)
    again = ReadingsFile(path, last_row([None, "7", "row-9", name]))
    assert [type(keys) for _, keys in rows_of(again)] == [Refused]


def test_it_begins_at_the_end_and_anew_where_the_file_does(tmp_path):
    path = tmp_path / "readings.jsonl"
    append(path, '{"value": 1}\n')
    rows = ReadingsFile(path)
    append(path, '{"value": 2}\nnonsense\n')
    first, second = (keys for _, keys in rows_of(rows))
    assert first == {"value": 2}
    assert isinstance(second, Refused)
    path.write_text('{"value": 3}\n')
    assert list(rows.poll()) == [("row-1-0", {"value": 3})]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_row_of_a_file_that_is_written_again_has_another_id(tmp_path, is_there):
    """Also where that happens while nothing reads it: an id that was used is taken for the reading it had."""
    path = tmp_path / "readings.jsonl"
    append(path, '{"value": 1}\n{"value": 2}\n')
    if is_there:
        path.write_text('{"value": 3}\n')
    rows = ReadingsFile(path, last_row(["row-0", "row-13"]))
    path.write_text('{"value": 3}\n')
    assert list(rows.poll()) == [("row-1-0", {"value": 3})]
    append(path, '{"value": 4}\n')
    again = ReadingsFile(path, last_row(["row-0", "row-13", "row-1-0"]))
    assert list(again.poll()) == [("row-1-13", {"value": 4})]


def test_a_file_that_is_late_after_a_restart_is_read_on(tmp_path):
    path = tmp_path / "readings.jsonl"
    rows = ReadingsFile(path, last_row(["row-0"]))
    assert len(list(rows.poll())) == 1
    append(path, '{"value": 1}\n{"value": 2}\n')
    assert list(rows.poll()) == [("row-13", {"value": 2})]


def test_a_file_that_cannot_be_read_is_said_once_and_tried_again(tmp_path, monkeypatch):
    """A stick that was pulled out, or another user's file."""
    path = tmp_path / "readings.jsonl"
    rows = ReadingsFile(path, last_row(["row-0"]))
    append(path, '{"value": 1}\n{"value": 2}\n')
    for name in ("open", "stat", "is_file"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, name, fail)
            expected = Note(f"{path} cannot be read (Input/output error): trying again.", is_alarm=True)
            assert [*rows.poll(), *rows.poll()] == [expected]
        assert next(rows.poll()) == Note(f"{path} is read again.")
    assert list(rows.poll()) == [("row-13", {"value": 2})]


def fail(*args, **kwargs):
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("header", ["time,pp\rm", f"time,{200_000 * 'p'}", "", f"time,{2_000_000 * 'p,'}"])
def test_without_a_header_that_can_be_read_rows_are_refused(tmp_path, header):
    path = tmp_path / "readings.csv"
    path.write_bytes(f"{header}\n1,2\n".encode())
    rows = ReadingsFile(path)
    append(path, "3,4\n")
    ((_, refused),) = rows_of(rows)
    assert str(refused) == "The file has no header: name its columns in its first line, or write JSON."


@pytest.mark.parametrize("is_late", [False, True])
def test_a_line_without_an_end_is_left_out(tmp_path, is_late):
    """What comes after it counts, also where the end is late."""
    path = tmp_path / "readings.jsonl"
    rows = ReadingsFile(path)
    append(path, '{"value": 1}\n' + 3_000_000 * "x")
    found = [item for _ in range(8) for item in rows.poll()]
    if is_late:
        append(path, 100 * "x")
        found += [item for _ in range(4) for item in rows.poll()]
    append(path, 'x\n{"value": 2}\n')
    found += [item for _ in range(4) for item in rows.poll()]
    long = Note(f"A line of {path} has more than 1,048,576 bytes: left out.", is_alarm=True)
    number = path.stat().st_size - len('{"value": 2}\n')
    assert found == [("row-0", {"value": 1}), long, (f"row-{number}", {"value": 2})]
    path.write_text('{"value": 3}\n')
    assert list(rows.poll()) == [("row-1-0", {"value": 3})]


@pytest.mark.parametrize("ids", [[], [None, "fly-5"], ["row-x", "row-1-", "arrow-5"]])
def test_no_row_was_read(ids):
    assert last_row(ids) is None
