"""No text that somebody gave is a formula where a table is opened, and each is read back as it was."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowsax.geo.local import LocalCoordinates
from dowsax.report.export import readings_table
from dowsax.site import parse_site
from dowsax.survey.csv_file import escape_cell, unescape_cell
from dowsax.survey.reading import Reading
from dowsax.survey.survey import read_survey

FORMULAS = [
    '=HYPERLINK("http://example.com")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "'=1",
    "''-x",
    "＝1+1",
]
SITE = """\
[area]
low = [0.0, 0.0]
high = [20.0, 20.0]
[field]
kind = "temperature"
[sensor]
names = {names}
"""


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_a_text(text):
    assert escape_cell(text) == f"'{text}"
    assert unescape_cell(escape_cell(text)) == text


@pytest.mark.parametrize(
    "text", ["-5", "+0.25", "-1e-3", ".5", "12", "drone 3", "", "a-b", "north=up", "it's"]
)
def test_numbers_and_plain_texts_stay_as_they_are(text):
    assert escape_cell(text) == text
    assert unescape_cell(text) == text


@settings(derandomize=True, max_examples=500)
@given(st.text(alphabet="=+-@'\t\r\n,; ab1.＝", max_size=8))
def test_what_is_written_is_read(text):
    """The inverse, for any text; and no cell begins as a formula but a number, whatever separates cells."""
    cell = escape_cell(text)
    assert unescape_cell(cell) == text
    if cell != text or not text.lstrip("+-").replace(".", "").isdigit():
        for separator in ",;\t\n":
            assert all(part[:1] not in tuple("=+-@＝") for part in cell.split(separator) if part)


def test_names_and_ids_of_readings_are_read_back(tmp_path):
    """Of sensors that are named so: no cell but a number begins as a formula, and the survey is the same."""
    readings = [
        Reading((-1.5 + number, 2.0), -0.5 * number, sensor=name, id=name, time=float(number))
        for number, name in enumerate(FORMULAS, 2)
    ]
    text = readings_table(readings, LocalCoordinates())
    for row in csv.DictReader(io.StringIO(text)):
        assert row["id"].startswith("'")
        assert row["sensor"] == row["id"]
        assert float(row["value"]) <= -1
    path = tmp_path / "readings.csv"
    path.write_text(text, encoding="utf-8")
    survey = read_survey(path, parse_site(SITE.format(names=FORMULAS)))
    assert [survey.sensor_names[index] for index in survey.sensor] == FORMULAS
    assert survey.values.tolist() == [reading.value for reading in readings]
