"""Survey files of hostile shapes cost little and are refused in one line; those of a real size are read."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from dowsax.site import parse_site
from dowsax.survey import csv_file, read_survey
from dowsax.survey.csv_file import MAX_CELL_LENGTH, MAX_COLUMNS, MAX_LINE_LENGTH, open_table

SITE = '[area]\nlow = [0, 0]\nhigh = [200, 150]\n[field]\nkind = "level"\n'
HEADER = b"x,y,value\n"
SIZE = 5_000_000
MEMORY = 40_000_000
"""Bytes at the peak that a file may take from which nothing is kept: lines and cells are bounded."""

REFUSED = {
    "a row of commas": (b"," * SIZE, "line 1: more than 1,000,000 characters"),
    "a header of commas": (
        b"x" + b"," * (MAX_LINE_LENGTH - 2) + b"\n",
        "line 1: 999,999 columns; at most 2,000",
    ),
    "commas alone": (b"," * (MAX_LINE_LENGTH - 1) + b"\n", "is empty: expected a header line"),
    "a row of commas below": (HEADER + b"1,2,3\n1" + b"," * 900_000, "line 3: 900,001 cells where the"),
    "many columns": (b"x,y,value" + b",a" * MAX_COLUMNS, "line 1: 2,003 columns; at most 2,000 are read"),
    "a long line": (HEADER + b"1,2," + b"3" * SIZE, "line 2: more than 1,000,000 characters"),
    "a long cell": (HEADER + b"1,2," + b"3" * 900_000, "line 2: not a CSV line (field larger than"),
    "a long number": (HEADER + b"1,2," + b"3" * 1001, "line 2, column 'value': a cell of 1,001 characters"),
    "a long header": (b"x,y,value" + b"v" * 1001, "line 1: the name of a column has 1,006 characters"),
    "an open quote": (HEADER + b'1,2,3\n1,2,"' + b"3\n" * SIZE, "line 3: not a CSV line (field larger"),
    "an open quote at the end": (HEADER + b'1,2,3\n1,2,"' + b"3\n" * 600, "column 'value': a cell of 1,200"),
    "zeros": (HEADER + b"\0" * SIZE, "line 2: more than 1,000,000 characters"),
    "a zero": (HEADER + b"1,2,3\0\n", "line 2: zero bytes, as no text has; save it as CSV (UTF-8)."),
    "another encoding": ("x,y,value\n1,2,3\n".encode("utf-16-le"), "line 1: zero bytes"),
    "not a text": (HEADER + b"1,2,3\n" * 9 + b"\xff\xfe", "is not a text file in UTF-8"),
    "blank lines": (b"\n" * 200_000, "is empty: expected a header line"),
    "blank rows": (HEADER + b",,\n" * 200_000, "has a header but no readings"),
    "blanks": (b" " * SIZE, "line 1: more than 1,000,000 characters"),
}


@pytest.fixture(scope="module")
def site():
    return parse_site(SITE)


@pytest.fixture
def written(tmp_path):
    def write(data):
        path = tmp_path / "readings.csv"
        path.write_bytes(data)
        return path

    return write


def traced(action):
    """The error, or nothing, and the peak of memory [bytes]."""
    tracemalloc.start()
    try:
        action()
        message = ""
    except ValueError as error:
        message = str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return message, peak


@pytest.mark.slow
@pytest.mark.parametrize(("data", "words"), REFUSED.values(), ids=REFUSED)
def test_hostile_files_are_refused_in_one_line_and_little_memory(written, site, data, words):
    """With a site and without one."""
    path = written(data)
    for read in (lambda: read_survey(path, site), lambda: read_survey(path)):
        message, peak = traced(read)
        assert "readings.csv" in message
        assert words in message
        assert "\n" not in message
        assert len(message) < 1000
        assert peak < MEMORY


def test_rows_are_refused_as_soon_as_they_are_read(written):
    """A row of another length ends the reading; of ten more megabytes not one line is looked at."""
    path = written(HEADER + b"1,2,3\n1,2\n" + b"1,2,3\n" * (SIZE // 3))
    with open_table(path, "x") as table:
        taken = []
        rows = table._rows
        table._rows = (taken.append(row) or row for row in rows)
        with pytest.raises(ValueError, match="line 3: 2 cells where the header has 3"):
            table.read([0])
    assert len(taken) == 2


def test_a_gigabyte_without_an_end_of_line_is_not_read(tmp_path, site):
    """A sparse file, of which only the beginning is looked at."""
    path = tmp_path / "readings.csv"
    with path.open("wb") as file:
        file.write(HEADER + b"1,2,3\n1,2,")
        file.seek(1_000_000_000)
        file.write(b"4\n")
    message, peak = traced(lambda: read_survey(path, site))
    assert "line 3: more than 1,000,000 characters; give one reading a line" in message
    assert peak < MEMORY


def test_lines_beyond_the_most_are_refused(written, monkeypatch):
    monkeypatch.setattr(csv_file, "MAX_LINES", 10)
    assert len(read_survey(written(HEADER + b"1,2,3\n" * 9)).values) == 9
    with pytest.raises(ValueError, match=r"readings\.csv: more than 10 lines; divide it"):
        read_survey(written(HEADER + b"1,2,3\n" * 10))


def test_columns_that_nobody_uses_cost_nothing(written, site):
    """497 of 500 columns: 10 MB of text, of which 60 kB are in use."""
    random = np.random.default_rng(0)
    filling = ",".join(f"{value:.6f}" for value in random.uniform(size=497)).encode()
    header = b"x,y,value," + b",".join(b"extra %d" % number for number in range(497)) + b"\n"
    path = written(header + b"".join(b"%d,2,%d,%s\n" % (row % 200, row, filling) for row in range(2000)))
    message, peak = traced(lambda: read_survey(path, site))
    assert message == ""
    assert path.stat().st_size > 8e6
    assert peak < 3e6


def test_rows_that_are_not_chosen_cost_nothing(written, site):
    """30,000 rows of another event."""
    path = written(b"x,y,value,event\n" + b"1,2,3,other\n" * 30_000 + b"4,5,6,mine\n")
    found = []
    message, peak = traced(lambda: found.append(read_survey(path, site, rows={"event": "mine"})))
    assert (message, found[0].lines.tolist()) == ("", [30_002])
    assert peak < 500_000


READ = """
import resource, sys
import numpy as np
from dowsax.site import parse_site
from dowsax.survey import read_survey
site = parse_site(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = read_survey(sys.argv[1], site)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(1024 * (after - before))
np.save(sys.argv[1] + ".npy", np.column_stack([found.positions, found.values, found.time]))
"""


@pytest.mark.slow
def test_a_survey_of_a_real_size_is_read(written):
    """300,000 rows, with less than 15 times the memory of the file, as texts are objects; numbers are exact.

    By a Python of its own, in which shapes are not checked at every call.
    """
    random = np.random.default_rng(1)
    numbers = np.round(random.uniform((0, 0, 0), (200, 150, 9), (300_000, 3)), 4)
    lines = [f"{x},{y},{value},{row}.5" for row, (x, y, value) in enumerate(numbers.tolist())]
    path = written("\n".join(["x,y,value,time", *lines]).encode())
    command = [sys.executable, "-c", READ, str(path), SITE]
    memory = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert memory < 15 * path.stat().st_size
    expected = np.column_stack([numbers, np.arange(300_000)])
    np.testing.assert_array_equal(np.load(f"{path}.npy"), expected)


def test_a_line_and_a_cell_of_the_longest_kind_are_read(written):
    """2,000 columns and a note of 100,000 characters that nobody uses."""
    columns = b"".join(b",c%d" % number for number in range(MAX_COLUMNS - 4))
    row = b"1,2,3," + b"n" * 100_000 + b"," * (MAX_COLUMNS - 4)
    found = read_survey(written(b"x,y,value,note" + columns + b"\n" + row + b"\n"))
    assert found.values.tolist() == [3]
    padded = b"x,y,value\n1,2," + b"0" * (MAX_CELL_LENGTH - 1) + b"3\n"
    assert read_survey(written(padded)).values.tolist() == [3]


def test_many_names_of_sensors_are_asked_about(written, site):
    """A thousand are taken; more are the wrong column."""
    rows = [f"1,2,{row},s{row}" for row in range(1001)]
    found = read_survey(written("\n".join(["x,y,value,sensor", *rows[:1000]]).encode()), site)
    assert [found.sensor_names[number] for number in found.sensor] == [f"s{row}" for row in range(1000)]
    with pytest.raises(ValueError, match=r"column 'sensor': 1,001 names of sensors; at most 1,000"):
        read_survey(written("\n".join(["x,y,value,sensor", *rows]).encode()), site)


def test_an_error_names_a_few_columns_of_many(written):
    with pytest.raises(ValueError, match="no column 'x' or 'y'") as caught:
        read_survey(written(b"value," + b",".join(b"column %d" % n for n in range(1500)) + b"\n"))
    assert "'column 18' and 1,481 more" in str(caught.value)
    assert len(str(caught.value)) < 600


def test_too_many_readings_are_refused_before_they_are_looked_at(written, site):
    """For those who can take only some: not even a cell that is no number is complained of."""
    path = written(HEADER + b"1,2,3\n" * 11 + b"1,2,none at all\n")
    with pytest.raises(ValueError, match=r"12 readings; at most 10 are taken: divide it"):
        read_survey(path, site, max_readings=10)
    missing = written(HEADER + b"1,2,3\n" * 10 + b"1,2,\n" * 5)
    assert len(read_survey(missing, site, max_readings=10).values) == 10
