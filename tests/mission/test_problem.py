"""A site as a search problem: missions with too many readings on the way are not simulated."""

import pytest
from made_sites import site

from dowsax.mission.plan import Plan
from dowsax.mission.problem import build_problem, find_simulation_fault

TOO_MANY = {
    "in the time": ("time = 900", "3,600"),
    "within the distance": ("distance = 600", "2,400"),
    "between the readings": ("readings = 3", "3,000"),
    "without a limit": ("", "500,000"),
}


@pytest.mark.parametrize(("limit", "number"), TOO_MANY.values(), ids=TOO_MANY)
def test_more_readings_on_the_way_than_can_be_simulated(limit, number):
    """A plan of a real mission has them; simulations refuse, and say what to change."""
    plan = Plan.of(site(f"[step]\nreading_interval = 0.25\n[budget]\n{limit}\n"))
    fault = find_simulation_fault(plan)
    assert fault is not None
    assert fault.startswith(f"A mission may take {number} readings on the way, and at most 2,000 can be")
    assert fault.endswith("or limit distance, time or readings in [budget].")
    with pytest.raises(ValueError, match=rf"^A mission may take {number} readings"):
        build_problem(plan, plan.site_policy("infotaxis"))


@pytest.mark.parametrize(
    "text",
    [
        "[budget]\ntime = 500\n[step]\nreading_interval = 0.25\n",
        "[budget]\nreadings = 3\n[step]\nlongest = 100\nreading_interval = 0.25\n",
        "[budget]\ntime = 1e6\n",
    ],
)
def test_as_many_readings_on_the_way_as_can_be_simulated(text):
    assert find_simulation_fault(Plan.of(site(text))) is None
