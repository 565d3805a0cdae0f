"""The sites that are rehearsed for the docs: understood, one of each kind, and told as they came out."""

import pytest

from benchmarks import site_stops
from dowsax.mission.advice import FOUND, INCONCLUSIVE
from dowsax.mission.rehearsal import Rate, Rehearsal, SimulatedMission
from dowsax.site import parse_site


@pytest.mark.parametrize("kind", site_stops.SITES)
def test_every_site_is_of_its_kind_and_ends(kind):
    site = parse_site(site_stops.SITES[kind], f"{kind}.toml")
    assert site.kind == kind
    assert site.budget.readings is not None
    assert site.found_radius < site.step_length


def test_a_line_tells_rates_and_the_middle_of_the_stops():
    """Missions that did not stop, or had nothing to find, do not count among the stops."""
    missions = [
        SimulatedMission(status, source, (1.0, 1.0), None, 1.0, readings, 5.0, 9.0)
        for status, source, readings in [
            (FOUND, (1.0, 1.0), 4),
            (FOUND, (1.0, 1.0), 9),
            (FOUND, (1.0, 1.0), 30),
            (INCONCLUSIVE, (1.0, 1.0), 60),
            (FOUND, None, 2),
        ]
    ]
    rates = Rate(3, 4, 0.3, 0.954), Rate(0, 3, 0.0, 0.561), Rate(4, 4, 0.51, 1.0), Rate(1, 4, 0.046, 0.7)
    made = Rehearsal(
        *("", "", "", "", ""), 0, 1.0, 2.0, 0.95, (), *rates, Rate(1, 1, 0.207, 1.0), tuple(missions)
    )
    assert site_stops.row("level", made) == (
        "level",
        "0.750 [0.300, 0.954] (3 of 4)",
        "0.000 [0.000, 0.561] (0 of 3)",
        "1.000 [0.510, 1.000] (4 of 4)",
        "1.000 [0.207, 1.000] (1 of 1)",
        "9",
    )
    assert site_stops.share(Rate(0, 0, 0.0, 1.0)) == "none"
