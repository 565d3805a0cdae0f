"""What ships of stops at the standard sites: of the very files of `dowsax site new`, and told as such."""

from dataclasses import replace

import pytest

from benchmarks import site_stops
from dowsax.evaluate.statistics import wilson_interval
from dowsax.mission.plan import Plan
from dowsax.mission.stop_statistics import (
    StandardStops,
    describe_stops,
    find_false_stops,
    find_standard_stops,
    read_standard_stops,
)
from dowsax.site import new_site, parse_site
from dowsax.world import Jump


@pytest.fixture(scope="module")
def plans():
    """Of a new site of each kind, as if it were kept in a file."""
    return {kind: Plan.of(parse_site(new_site(kind), "here.toml")) for kind in site_stops.KINDS}


@pytest.mark.parametrize("kind", site_stops.KINDS)
def test_a_new_site_has_a_measured_rate(kind, plans):
    """By the policy that it has unless another is chosen, with the numbers of the very file."""
    plan = plans[kind]
    row = find_standard_stops(plan, "infotaxis")
    (west, south), (east, north) = plan.action_space.area
    assert (row.width, row.height, row.step) == (east - west, north - south, plan.action_space.steps.length)
    assert (row.radius, row.probability) == (plan.radius, plan.probability)
    assert (row.low, row.high) == pytest.approx(wilson_interval(row.wrong, row.stops), abs=1e-5)
    assert row.low <= row.rate <= row.high
    assert find_false_stops(plan, "infotaxis") is None
    told = describe_stops(plan, "infotaxis")
    assert told.startswith(
        f"in {row.rehearsals} rehearsals of the standard site of this kind (200 by 150 m, "
    )
    assert f"{row.wrong} of {row.stops} stops were wrong: {100 * row.rate:.1f} % [" in told
    assert "not measured" not in told
    assert told.endswith("not rehearsed: `dowsax rehearse here.toml --policy infotaxis` does")


def test_another_site_of_the_kind_is_told_of_the_standard_one(plans):
    """Other places, steps and radii are another site; other policies, filters and laws another question."""
    plan = plans["level"]
    assert find_standard_stops(replace(plan, radius=2.0), "infotaxis") is not None
    for other, policy in (
        (plan, "entrotaxis"),
        (plan.with_particles(64), "infotaxis"),
        (replace(plan, probability=0.9), "infotaxis"),
        (replace(plan, jump=Jump()), "infotaxis"),
        (replace(plan, file=None), "infotaxis"),
        (replace(plan, stations=replace(plan.stations, names=("altitude", "trail"))), "infotaxis"),
    ):
        assert find_standard_stops(other, policy) is None
        assert "standard" not in describe_stops(other, policy)


def test_one_line_a_kind(plans, tmp_path):
    """What is written comes back; lines of other kinds are kept."""
    assert sorted(row.kind for row in read_standard_stops()) == sorted(site_stops.KINDS)
    path = tmp_path / "site_stops.csv"
    first, *others = read_standard_stops()
    site_stops.write(read_standard_stops(), path)
    site_stops.write([replace(first, wrong=first.stops)], path)
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + len(read_standard_stops())
    assert sum(line.startswith(tuple(row.kind for row in others)) for line in lines) == len(others)
    with pytest.raises(ValueError, match="must be from 1 to"):
        StandardStops("level", "", "", "", 1.0, 0.95, 1.0, 1.0, 1.0, 10, 0, 0, 0.0, 1.0)
