"""A file of readings that grows: each row once, also after a restart."""

import pytest

from dowsax.mission.flight.readings_file import ReadingsFile, last_row
from dowsax.survey.reading import Refused


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def test_rows_arrive_once_and_whole(tmp_path):
    path = tmp_path / "readings.csv"
    rows = ReadingsFile(path)
    assert list(rows.poll()) == []
    append(path, "time,ppm\n1,2.5\n2,")
    assert list(rows.poll()) == [("row-9", {"time": "1", "ppm": "2.5"})]
    append(path, "3.5\n\n")
    ((name, keys),) = rows.poll()
    assert keys == {"time": "2", "ppm": "3.5"}
    assert list(rows.poll()) == []
    append(path, "4,5,6\n")
    ((_, refused),) = rows.poll()
    assert isinstance(refused, Refused)
    again = ReadingsFile(path, last_row([None, "7", "row-9", name]))
    assert [type(keys) for _, keys in again.poll()] == [Refused]


def test_it_begins_at_the_end_and_anew_where_the_file_does(tmp_path):
    path = tmp_path / "readings.jsonl"
    append(path, '{"value": 1}\n')
    rows = ReadingsFile(path)
    append(path, '{"value": 2}\nnonsense\n')
    first, second = (keys for _, keys in rows.poll())
    assert first == {"value": 2}
    assert isinstance(second, Refused)
    path.write_text('{"value": 3}\n')
    assert [keys for _, keys in rows.poll()] == [{"value": 3}]


@pytest.mark.parametrize("ids", [[], [None, "fly-5"], ["row-x"]])
def test_no_row_was_read(ids):
    assert last_row(ids) is None
