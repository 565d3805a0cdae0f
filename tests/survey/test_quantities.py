"""The law of bad cells: refused with line and column named, or everything else is as without it."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowsax.site import parse_site
from dowsax.survey import read_survey

SITE = parse_site(
    '[area]\nlow = [0, 0]\nhigh = [200, 150]\norigin = [52.1, 5.1]\n[field]\nkind = "gas-plume"\n'
    '[wind]\nmissing = "leave-out"\n'
)
HEADER = ["time", "latitude", "longitude", "altitude", "ws", "wd", "ppm", "sensor"]
ROWS = [
    [
        str(10 * row),
        f"{52.1001 + 1e-4 * row:.4f}",
        "5.1002",
        "10",
        "3",
        f"{250 + row}",
        f"{2 + row / 8}",
        "AB"[row % 2],
    ]
    for row in range(6)
]
# What loggers, editors and people leave behind, and anything at all.
cells = st.one_of(
    st.sampled_from(
        ["", "nan", "x", "-", "1e400", "inf", "0", "-1", "1,5", "12:00", "2024-05-01", "1_0", '"', " 7 "]
    ),
    st.floats().map(repr),
    st.integers(-1000, 1000).map(str),
    st.text(max_size=8),
)


def written(path, rows):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([HEADER, *rows])
    path.write_bytes(text.getvalue().encode("utf-8", "surrogatepass"))
    return path


def parts(survey):
    """What a survey says of each line, by line."""
    names = [survey.sensor_names[number] for number in survey.sensor]
    numbers = np.column_stack([survey.positions, survey.values, survey.altitude, survey.wind])
    return dict(zip(survey.lines.tolist(), zip(numbers.tolist(), names, strict=True), strict=True))


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(row=st.integers(0, 5), column=st.integers(0, 7), cell=cells)
def test_one_corrupted_cell(tmp_path_factory, row, column, cell):
    """Line numbers hold because no cell here spans lines; times are compared by their differences."""
    cell = cell.replace("\n", " ").replace("\r", " ").replace("\x00", " ")
    if "\ud800" <= max(cell, default="") <= "\udfff":
        cell = "?"
    folder = tmp_path_factory.getbasetemp()
    whole = read_survey(written(folder / "whole.csv", ROWS), SITE)
    rows = [[*cells] for cells in ROWS]
    rows[row][column] = cell
    path = written(folder / "corrupted.csv", rows)
    try:
        found = read_survey(path, SITE)
    except ValueError as error:
        message = str(error)
        assert str(path) in message
        assert f"line {row + 2}" in message
        assert repr(HEADER[column]) in message
        return
    others, expected = parts(found), parts(whole)
    assert set(expected) - {row + 2} <= set(others)
    for line in set(expected) - {row + 2}:
        assert others[line] == expected[line]
    lines = [index for index, line in enumerate(found.lines) if line != row + 2]
    kept = [index for index, line in enumerate(whole.lines) if line != row + 2]
    np.testing.assert_allclose(np.diff(found.time[lines]), np.diff(whole.time[kept]))
