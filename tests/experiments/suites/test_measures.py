"""The numbers of the tables, by hand and against what is known."""

import numpy as np
import pytest
from scipy import stats

from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.trace import Episode, Row
from dowsax.experiments.run import CONTRACTION
from dowsax.experiments.suites.fixed_walks import walk_numbers
from dowsax.experiments.suites.measures import (
    Line,
    bootstrap,
    correlation,
    mean_difference,
    numbers_of,
    ratio,
    require_decided,
)
from dowsax.experiments.suites.printed import Printed
from dowsax.experiments.suites.suite import Suite
from dowsax.experiments.suites.tables import csv_of, text_of
from dowsax.experiments.walks import Walks


def search(spread, error, mass=None, max_readings=200):
    """A search of unit steps."""
    column = lambda values: np.asarray(values, np.float32)  # noqa: E731
    number = len(spread)
    nothing, places = np.zeros(number, np.float32), np.zeros((number, 2), np.float32)
    sure = nothing if mass is None else column(mass)
    walked = np.arange(number, dtype=np.float32)
    rows = Row(places, nothing, walked, places, column(error), column(spread), sure, nothing, sure, nothing)
    return Episode(np.zeros(7, np.float32), np.zeros(7, np.float32), rows, 1.0, max_readings)


def test_a_line_by_hand():
    """One right stop after two moves, one false stop after one, one search that never stops."""
    searches = [
        search([3.0, 2.0, 0.4, 0.3], [5.0, 4.0, 0.5, 0.2]),
        search([3.0, 0.1, 0.1, 0.1], [5.0, 2.0, 2.0, 2.0]),
        search([3.0, 3.0, 3.0, 3.0], [5.0, 5.0, 5.0, 7.0]),
    ]
    numbers = numbers_of(searches, CONTRACTION)
    values = {name: numbers[name].value for name in numbers}
    assert values["OCE"] == pytest.approx(2 / 3)
    assert values["false stops"] == values["GT-success"] == 0.5
    assert values["ADE"] == 1.5
    assert values["ADE, all"] == 2.0
    assert values["LPS"] == 1.25
    assert values["LPS, all"] == pytest.approx((0.5 + 2 + 7) / 3)
    assert values["readings"] == 2.5
    assert values["REV"] == pytest.approx((3 / 4 + 2 / 4 + 1) / 3)
    assert all(one.low <= one.value <= one.high for one in numbers.values())


def test_correlations_are_turned_that_positive_is_good():
    """A belief whose probability falls as its error grows; independently scipy's correlation of the two."""
    generator = np.random.default_rng(3)
    searches = []
    for _ in range(20):
        error = generator.uniform(0, 4, 15)
        searches.append(
            search(generator.uniform(0, 4, 15), error, mass=1 / (1 + error + generator.uniform(0, 2, 15)))
        )
    errors, masses = (
        np.concatenate([getattr(one.rows, name) for one in searches]) for name in ("error", "mass")
    )
    found = correlation(searches, "mass")
    assert found.value == pytest.approx(-stats.spearmanr(masses, errors)[0])
    assert found.low > 0
    assert correlation(searches, "max_weight").value == pytest.approx(found.value)


def test_the_drop_is_that_of_the_same_searches():
    """Where every search fares alike at home and elsewhere there is no drop, and no doubt about it."""
    home = np.array([True, True, False, True] * 25)
    assert mean_difference(home, [home, home]) == (0.0, 0.0, 0.0, 100)
    west, east = home & (np.arange(100) > 20), home
    expected = home.mean() - (west.mean() + east.mean()) / 2
    assert mean_difference(home, [west, east]).value == pytest.approx(expected)


def test_a_ratio_of_the_same_searches():
    still = np.array([True] * 8 + [False] * 2)
    assert ratio(still, still)[:3] == (1.0, 1.0, 1.0)
    assert ratio(still & (np.arange(10) < 6), still).value == pytest.approx(0.75)
    assert ratio(still, np.zeros(10, bool)).value is None


def test_the_interval_of_a_statistic_covers_it():
    """The median of exponentials in 60 samples of 80: in 95 %, within five standard errors and a little."""
    generator = np.random.default_rng(11)
    inside = 0
    for _ in range(60):
        found = bootstrap(generator.exponential(size=80), np.median)
        inside += found.low <= np.log(2) <= found.high
    assert abs(inside / 60 - 0.95) < 5 * np.sqrt(0.95 * 0.05 / 60) + 0.01


def test_walks_by_hand():
    walks = Walks(
        error=np.array([[9.0, 3.0], [9.0, 4.0]]),
        std=np.array([[[9, 9], [1.0, 2.0]], [[9, 9], [3.0, 4.0]]]),
        ess=np.array([[9.0, 10.0], [9.0, 30.0]]),
        evaluations=np.array([100.0, 300.0]),
        inside=np.array([[True, True], [True, False]]),
        seconds=np.array([0.002, 0.002]),
    )
    reference = walks._replace(std=walks.std / 2)
    values = {name: one.value for name, one in walk_numbers(walks, reference).items()}
    assert values["RMSE@20"] == pytest.approx(np.sqrt(12.5))
    assert values["ESS@20"] == 20
    assert values["likelihood evaluations"] == 200
    assert values["wall time"] == pytest.approx(2.0)
    assert values["coverage"] == 0.75
    assert values["std ratio"] == pytest.approx(2.0)
    assert "std ratio" not in walk_numbers(walks, None)
    sure = walk_numbers(walks._replace(inside=np.ones((2, 2), bool)), None)["coverage"]
    assert sure.value == 1
    assert sure.low < 1


def test_a_record_that_ends_too_early_is_refused():
    require_decided([search([3.0, 2.0], [1.0, 1.0], max_readings=2)], CONTRACTION)
    with pytest.raises(ValueError, match="1 searches end too early"):
        require_decided([search([3.0, 2.0], [1.0, 1.0], max_readings=3)], CONTRACTION)


@pytest.fixture
def suite():
    nothing = lambda store: []  # noqa: E731
    return Suite("one", "A title", "tab:one", nothing, ("OCE", "false stops", "ADE"), "columns")


def test_a_table_has_theirs_first_and_false_stops_beside_stops(suite):
    numbers = {
        "OCE": Estimate(0.5, 0.4, 0.6, 90),
        "false stops": Estimate(0.25, 0.2, 0.3, 45),
        "ADE": Estimate(None, None, None, 0),
    }
    lines = [Line("ours", "gas", "paper", "contraction-0.5", numbers)]
    theirs = {("ours", "gas", "OCE"): Printed(0.9, 0.05, "", "0.90 ± 0.05")}
    table = text_of(suite, lines, theirs)
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if "| ours" in line
    ]
    assert rows[0] == ["ours", "the paper", "0.90 ± 0.05"]
    assert rows[1][2] == "0.500 [0.400, 0.600]; false 0.250 [0.200, 0.300]"
    assert rows[2][2] == "none"
    written = csv_of(suite, lines, theirs).splitlines()
    assert written[1] == "one,ours,gas,paper,contraction-0.5,0,OCE,0.5,0.4,0.6,90,0.9,0.05,"
    assert written[3] == "one,ours,gas,paper,contraction-0.5,0,ADE,,,,0,,,"
