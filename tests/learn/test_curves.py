"""The curve against sums by hand."""

import csv

import numpy as np

from dowsax.learn.curves import MEASURES, measures, thin_rows, write_csv


def made_rows(number, seed=0):
    """Rows of a run as training makes them; no search ends in the first."""
    draws = np.random.default_rng(seed)
    rows = []
    for at in range(number):
        stopped = int(at and draws.integers(1, 20))
        rows.append(
            {
                "updates": at + 1,
                "steps": 100 * (at + 1),
                "seconds": 0.5 * (at + 1),
                "entropy": float(draws.uniform(0, 1.3)),
                "ended": stopped + int(at and draws.integers(0, 5)),
                "stopped": stopped,
                "false_stops": int(draws.integers(0, stopped + 1)),
                "path_length": 30.0 * stopped,
            }
        )
    return rows


def test_measures_are_ratios_of_sums_over_the_window():
    rows = made_rows(12)
    found = measures(rows, window=3)
    recent = rows[7:10]
    ended, stopped, wrong = (sum(row[name] for row in recent) for name in ("ended", "stopped", "false_stops"))
    expected = {
        "stop_rate": stopped / ended,
        "success": (stopped - wrong) / ended,
        "false_stops": wrong / stopped,
        "path_length": 30.0,
        "entropy": np.mean([row["entropy"] for row in recent]),
    }
    assert tuple(expected) == MEASURES
    for name, number in expected.items():
        np.testing.assert_allclose(found[name][9], number)
    assert np.isnan(found["stop_rate"][0])


def test_csv_has_a_line_an_update(tmp_path):
    rows = made_rows(5)
    write_csv(tmp_path / "curves.csv", rows)
    read = list(csv.DictReader((tmp_path / "curves.csv").read_text().splitlines()))
    assert [int(row["steps"]) for row in read] == [row["steps"] for row in rows]
    assert set(read[0]) == set(rows[0]) | {f"recent_{name}" for name in MEASURES}
    assert [path.name for path in tmp_path.iterdir()] == ["curves.csv"]


def test_sums_by_field_have_its_name(tmp_path):
    rows = [row | {"field_stopped_0": 1, "field_stopped_1": 2} for row in made_rows(2)]
    write_csv(tmp_path / "curves.csv", rows, ("gas", "energy"))
    read = next(csv.DictReader((tmp_path / "curves.csv").read_text().splitlines()))
    assert (read["gas_stopped"], read["energy_stopped"]) == ("1", "2")


def test_a_card_holds_few_points_and_the_last():
    rows = made_rows(400)
    few = thin_rows(rows, num_points=20)
    assert {len(column) for column in few.values()} == {20}
    assert few["steps"][-1] == rows[-1]["steps"]
    assert np.isfinite(list(few.values())).all()
    assert thin_rows(rows[:1])["steps"] == [100.0]
