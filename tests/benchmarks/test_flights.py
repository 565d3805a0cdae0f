"""Simulated flights with faults: nothing outside, no reading lost, and home in the end."""

import pytest

from benchmarks.flights import REQUIRED, count, table
from benchmarks.simulated_flights import Base, Case, SimulatedFlight

CASES = {
    "calm": Case(1),
    "lost packets in wind": Case(2, drop=0.15, wind=(5.0, -3.0)),
    "killed twice": Case(3, kills=((25.0, 2.0), (45.0, 1.0))),
    "lost link and a pilot": Case(4, cut=(40.0, 8.0), pilot=(15.0, 6.0)),
    "low battery": Case(5, drain=1.5),
}


@pytest.fixture(scope="module")
def base():
    return Base()


@pytest.fixture(scope="module")
def outcomes(base, tmp_path_factory):
    folder = tmp_path_factory.mktemp("flights")
    return {
        name: SimulatedFlight(base, case, folder / f"{case.seed}.log").run() for name, case in CASES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_a_flight_keeps_the_rules_and_ends_at_home(outcomes, name):
    outcome = outcomes[name]
    assert {what: getattr(outcome, what) for what in REQUIRED} == dict.fromkeys(REQUIRED, 0)
    assert outcome.is_home, outcome.ending
    assert not outcome.problems
    assert outcome.readings > 0


def test_each_fault_does_what_it_should(outcomes):
    assert outcomes["calm"].readings == 12
    assert "inconclusive" in outcomes["calm"].ending or "found" in outcomes["calm"].ending
    assert outcomes["lost packets in wind"].readings == 12
    assert outcomes["killed twice"].readings == 12
    assert outcomes["lost link and a pilot"].phases["taken over"] >= 1
    assert "battery" in outcomes["low battery"].ending


def test_the_table_counts_flights_of_each_fault(outcomes):
    found = list(outcomes.values())
    assert count(found)["flights"] == 5
    lines = table(found).splitlines()
    assert lines[-1].split()[:3] == ["all", "5", "5"]
    assert any(line.strip().startswith("low battery") for line in lines)
