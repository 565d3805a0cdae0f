"""Tables say what was counted, and CSV gives the numbers back."""

import csv
import io

from made_searches import gaussian_searches

from dowsax.evaluate.metrics import summarise
from dowsax.evaluate.paired import compare
from dowsax.evaluate.stop_calibration import calibrate_stops
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.tables import (
    curve_csv,
    paired_csv,
    paired_table,
    search_csv,
    search_table,
    signal_table,
    spread_table,
)

SEARCHES = gaussian_searches(30, 12, seed=1)
RULES = TraceRule("credible", 0.6), TraceRule("contraction", 0.01)
LABELS = {"policy": "still", "field": "toy", "scenario": "id"}
CELLS = [({**LABELS, "stop": str(rule)}, summarise(SEARCHES, rule)) for rule in RULES]


def cells_of(table: str) -> list[dict[str, str]]:
    """The lines of a Markdown table by heading."""
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    headings, _, *rows = [[cell.strip() for cell in line] for line in lines]
    return [dict(zip(headings, row, strict=True)) for row in rows]


def test_a_line_a_cell_and_common_labels_once():
    table = search_table(CELLS)
    assert table.startswith("Field toy, scenario id. Brackets are 95 % intervals.\n")
    stopped, silent = cells_of(table)
    assert (stopped["policy"], stopped["stop"], stopped["episodes"]) == ("still", "credible-0.6", "30")
    value, low, high, _ = CELLS[0][1].stop_rate
    assert stopped["stop rate"] == f"{value:.3f} [{low:.3f}, {high:.3f}]"
    assert silent["path, stopped [m]"] == silent["false stops, of stops"] == "none"
    assert "nan" not in table.lower()


def test_csv_gives_the_numbers_back():
    stopped, silent = csv.DictReader(io.StringIO(search_csv(CELLS)))
    assert {name: stopped[name] for name in LABELS} == LABELS
    assert float(stopped["error_all"]) == float(f"{CELLS[0][1].error_all.value:.9g}")
    assert silent["path_length_stopped"] == silent["path_length_stopped_high"] == ""
    assert silent["path_length_stopped_n"] == "0"


def test_differences_have_signs():
    pairs = [({"difference": "still − still", "stop": str(RULES[0])}, compare(SEARCHES, SEARCHES, RULES[0]))]
    (line,) = cells_of(paired_table(pairs))
    assert line["difference"] == "still − still"
    assert line["stop rate"].startswith("+0.000 [-")
    (numbers,) = csv.DictReader(io.StringIO(paired_csv(pairs)))
    assert float(numbers["path_length_both"]) == 0.0


def test_calibration_of_stops_in_tables():
    cells = [(LABELS, calibrate_stops(SEARCHES, RULES, 12))]
    (line,) = cells_of(spread_table(cells))
    assert line["reading 10 (searches)"].endswith("(30)")
    assert [line["stop"] for line in cells_of(signal_table(cells))] == [str(rule) for rule in RULES]
    curves = list(csv.DictReader(io.StringIO(curve_csv(cells))))
    assert {line["stop"] for line in curves} == {"contraction", "credible"}
    assert len(curves) == 15 + 12


def test_nothing_is_an_empty_table():
    assert cells_of(search_table([])) == []
    assert search_csv([]) == ""
