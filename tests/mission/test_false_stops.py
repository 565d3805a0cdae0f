"""The measured rates of false stops that ship are those of the searches in the docs."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from dowsax.mission.plan import Plan
from dowsax.mission.stop_statistics import find_false_stops, read_false_stops
from dowsax.site import parse_site
from dowsax.world import Jump

DATA = Path(__file__).parents[2] / "results"
SITE = parse_site(
    """
area = {low = [0, 0], high = [25, 25]}
field = {kind = "gas"}
search = {radius = 1}
"""
)


def test_the_table_is_that_of_the_docs():
    if not DATA.exists():
        pytest.skip("the docs are not part of an installed package")
    rows = []
    # Planners come from their own table, so theirs are the last word.
    for name in ("learned.csv", "searches.csv"):
        with (DATA / name).open(newline="") as file:
            rows += [row for row in csv.DictReader(file) if row["stop"] == "credible-0.95"]
    expected = {
        (row["policy"], row["field"]): tuple(
            float(row[f"false_stop_given_stop{end}"]) for end in ("", "_low", "_high", "_n")
        )
        for row in rows
        if row["scenario"] == "id"
    }
    shipped = {
        (row.policy, row.field): (row.rate, row.low, row.high, row.stops) for row in read_false_stops()
    }
    assert shipped.keys() == expected.keys()
    for cell, numbers in shipped.items():
        assert numbers == pytest.approx(expected[cell], abs=5e-5)


def test_only_what_was_measured_is_told():
    """The same field, filter, rule and policy, and a source that stays."""
    plan = Plan.of(SITE)
    row = find_false_stops(plan, "infotaxis")
    assert (row.field, row.policy, row.radius) == ("gas", "infotaxis", 1.0)
    assert f"{100 * row.rate:.1f} % were wrong" in row.sentence()
    assert find_false_stops(plan, "att-pfrl").stops > 900
    assert find_false_stops(plan, "att-pfrl-ood") is None
    assert find_false_stops(replace(plan, radius=2.0), "infotaxis") is None
    assert find_false_stops(plan.with_particles(64), "infotaxis") is None
    assert find_false_stops(replace(plan, jump=Jump()), "infotaxis") is None
