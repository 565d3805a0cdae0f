"""Stop statistics: the shipped tables are those of the docs, and apply only where they were measured."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import false_stops, site_stops
from dowsax.evaluate.statistics import wilson_interval
from dowsax.inference import PRESETS
from dowsax.mission.plan import Plan
from dowsax.mission.site_policy import SITE_POLICY
from dowsax.mission.stop_statistics import (
    StandardStops,
    describe_stops,
    find_false_stops,
    find_standard_stops,
    read_false_stops,
    read_standard_stops,
)
from dowsax.policies.shipped import BEST_POLICY
from dowsax.site import new_site, parse_site
from dowsax.world import MODALITIES, Jump

DATA = Path(__file__).parents[2] / "results"
TEXT = """
area = {low = [0, 0], high = [25, 25]}
field = {kind = "gas"}
search = {radius = 1}
"""
SITE = parse_site(TEXT)


def test_the_table_is_that_of_the_docs():
    if not DATA.exists():
        pytest.skip("the docs are not part of an installed package")
    shipped = {
        (row.policy, row.field): (row.rate, row.low, row.high, row.stops) for row in read_false_stops()
    }
    expected = false_stops.rates(DATA)
    assert shipped.keys() == expected.keys()
    for cell, numbers in shipped.items():
        assert numbers == pytest.approx(tuple(expected[cell]), abs=5e-5)


@pytest.mark.parametrize("policy", [BEST_POLICY, "att-pfrl", "agdc-kld", "agdc-ent"])
def test_the_best_policies_have_rates_on_every_field(policy):
    """Of at least 250 stops; `att-pfrl-paper` and `agdc-ee` stop too rarely for that."""
    stops = {row.field: row.stops for row in read_false_stops() if row.policy == policy}
    assert stops.keys() == set(MODALITIES)
    assert min(stops.values()) >= 250


def test_only_measured_rates_are_found():
    """The same field, filter, rule and policy, and a source that stays."""
    plan = Plan.of(SITE)
    row = find_false_stops(plan, "infotaxis")
    assert (row.field, row.policy, row.radius) == ("gas", "infotaxis", 1.0)
    assert f"{100 * row.rate:.1f} % were wrong" in row.sentence()
    assert find_false_stops(plan, BEST_POLICY).stops >= 250
    assert find_false_stops(plan, "att-pfrl-ood") is None
    assert find_false_stops(replace(plan, radius=2.0), "infotaxis") is None
    assert find_false_stops(plan.with_particles(64), "infotaxis") is None
    assert find_false_stops(replace(plan, jump=Jump()), "infotaxis") is None


@pytest.fixture(scope="module")
def plans():
    """Of a new site of each kind, as if it were kept in a file."""
    return {kind: Plan.of(parse_site(new_site(kind), "here.toml")) for kind in site_stops.KINDS}


MEASURED = tuple(row.kind for row in read_standard_stops())
"""The kinds whose rates were measured with the present law of their readings."""


@pytest.mark.parametrize("kind", MEASURED)
def test_a_new_site_has_a_measured_rate(kind, plans):
    """By the policy that it has unless another is chosen, with the numbers of the very file."""
    plan = plans[kind]
    row = find_standard_stops(plan, SITE_POLICY)
    (west, south), (east, north) = plan.reach.area
    assert (row.width, row.height, row.step) == (east - west, north - south, plan.reach.steps.length)
    assert (row.radius, row.probability) == (plan.radius, plan.probability)
    assert (row.low, row.high) == pytest.approx(wilson_interval(row.wrong, row.stops), abs=1e-5)
    assert row.low <= row.rate <= row.high
    assert find_false_stops(plan, SITE_POLICY) is None
    told = describe_stops(plan, SITE_POLICY)
    assert told.startswith(
        f"in {row.rehearsals} rehearsals of the standard site of this kind (200 by 150 m, "
    )
    were = "was" if row.wrong == 1 else "were"
    assert f"{row.wrong} of {row.stops} stops {were} wrong: {100 * row.rate:.1f} % [" in told
    assert "not measured" not in told
    assert told.endswith("not rehearsed: `dowsax rehearse here.toml --policy location-gain` does")


def test_another_site_of_the_kind_quotes_the_standard_one(plans):
    """Other places, steps and radii are another site; other policies, filters and laws another question."""
    plan = plans["level"]
    assert find_standard_stops(replace(plan, radius=2.0), SITE_POLICY) is not None
    for other, policy in (
        (plan, "entrotaxis"),
        (plan.with_particles(64), SITE_POLICY),
        (replace(plan, probability=0.9), SITE_POLICY),
        (replace(plan, jump=Jump()), SITE_POLICY),
        (replace(plan, file=None), SITE_POLICY),
        (replace(plan, stations=replace(plan.stations, names=("altitude", "trail"))), SITE_POLICY),
    ):
        assert find_standard_stops(other, policy) is None
        assert "standard" not in describe_stops(other, policy)


def test_what_was_not_measured_is_named(plans):
    """The particles, the searchers, the policy; nothing where no table has the kind."""
    plan = plans["level"]
    few = plan.with_particles(64)
    assert "not measured for the filter survey, 64 particles, but for survey, 1024" in describe_stops(
        few, SITE_POLICY
    )
    team = describe_stops(few.with_searchers(2), SITE_POLICY)
    assert "not measured for 2 searchers and for the filter survey, 64 particles" in team
    assert "not measured for the policy entrotaxis" in describe_stops(plan, "entrotaxis")
    moves = describe_stops(replace(plan, jump=Jump(), probability=0.9), SITE_POLICY)
    assert "not measured for a source that may move and for a probability of 0.9" in moves
    assert "not measured for this field and rule" in describe_stops(replace(plan, kind="other"), SITE_POLICY)


@pytest.mark.parametrize("sources", ["2", '"1-2"'])
@pytest.mark.parametrize("kind", ["radiation", "gas"])
def test_several_sources_have_no_rate_of_one(kind, sources):
    """Neither that of the standard site nor that of a benchmark field, which have one source."""
    text = TEXT if kind == "gas" else new_site(kind)
    plan = Plan.of(parse_site(f"sources = {sources}\n{text}", "here.toml"))
    # By the filter whose rates were measured for one source.
    plan = replace(plan, preset_name="default", preset=PRESETS["default"]) if kind == "gas" else plan
    for policy in (SITE_POLICY, "infotaxis"):
        assert find_standard_stops(plan, policy) is None
        assert find_false_stops(plan, policy) is None
    expected = "how often such a stop is wrong was not measured for several sources: `dowsax rehearse"
    assert describe_stops(plan, SITE_POLICY).startswith(expected)


def test_one_line_a_kind(plans, tmp_path):
    """What is written comes back; lines of other kinds are kept."""
    assert set(MEASURED) <= set(site_stops.KINDS)
    assert len(set(MEASURED)) == len(MEASURED)
    path = tmp_path / "site_stops.csv"
    first, *others = read_standard_stops()
    site_stops.write(read_standard_stops(), path)
    site_stops.write([replace(first, wrong=first.stops)], path)
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + len(read_standard_stops())
    assert sum(line.startswith(tuple(row.kind for row in others)) for line in lines) == len(others)
    with pytest.raises(ValueError, match="must be from 1 to"):
        StandardStops("level", "", "", "", 1.0, 0.95, 1.0, 1.0, 1.0, 10, 0, 0, 0.0, 1.0)
