"""Sites that differ by numbers alone have the same programs: a mission at another site is ready at once."""

import textwrap

import pytest

from dowsax.mission.plan import Plan
from dowsax.mission.problem import build_problem
from dowsax.mission.state import build_null_filter
from dowsax.mission.tracker import Tracker
from dowsax.programs import describe_arguments
from dowsax.site import parse_site

AREA = """
[area]
low = [0.0, 0.0]
high = [{side}, 90.0]
"""
REST = """
[start]
position = [{start}, 12.0]
[step]
length = {step}
[budget]
distance = {distance}
readings = 100
time = {time}
[search]
radius = {radius}
probability = {probability}
"""
NUMBERS = (
    {"start": 10.0, "step": 10.0, "distance": 2000.0, "time": 1800.0, "radius": 5.0, "probability": 0.95},
    {"start": 17.5, "step": 7.0, "distance": 900.0, "time": 2500.0, "radius": 3.0, "probability": 0.9},
)
KINDS = {
    "gas-plume": (
        """
        field = {{kind = "gas-plume", gas = "methane", unit = "ppm"}}
        prior = {{q = [{0}, 10.0], height = [0.0, {1}]}}
        background = {{mode = "unknown", range = [1.7, {1}]}}
        wind = {{mode = "measured", direction_error = {2}}}
        sensor = {{height = {1}}}
        """,
        [(0.001, 2.5, 10.0), (0.01, 2.9, 7.0)],
    ),
    "gas-plume in a constant wind": (
        """
        field = {{kind = "gas-plume", gas = "methane", unit = "ppm"}}
        prior = {{q = [{0}, 10.0], height = {1}}}
        background = {{mode = "known", value = {2}}}
        wind = {{mode = "constant", speed = {1}, from = {2}}}
        """,
        [(0.001, 1.0, 1.9), (0.01, 0.5, 2.4)],
    ),
    "radiation": (
        """
        field = {{kind = "radiation"}}
        prior = {{q = [{0}, 1e6], height = [0.0, {1}]}}
        sensor = {{height = {1}}}
        noise = {{ratio = {2}}}
        """,
        [(100.0, 1.5, 0.2), (30.0, 0.8, 0.3)],
    ),
    "level": (
        """
        field = {{kind = "level"}}
        prior = {{level = [-60.0, {0}], exponent = {1}}}
        sensor = {{height = {1}}}
        """,
        [(0.0, 2.0), (20.0, 2.7)],
    ),
    "magnetic-dipole": (
        """
        field = {{kind = "magnetic-dipole", inclination = {0}}}
        prior = {{depth = [0.1, {1}]}}
        sensor = {{height = {1}}}
        """,
        [(65.0, 2.0), (40.0, 1.5)],
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_numbers_are_no_part_of_programs(name):
    text, numbers = KINDS[name]
    first, second = (
        _arguments(textwrap.dedent(text).format(*own) + AREA.format(side=side) + REST.format(**rest))
        for side, own, rest in zip((200.0, 150.0), numbers, NUMBERS, strict=True)
    )
    assert describe_arguments(first) == describe_arguments(second)


def _arguments(text: str) -> tuple:
    """Return the filters and the policy of a site, with the problem that is simulated."""
    plan = Plan.of(parse_site(text, "site.toml"))
    policy = plan.site_policy()
    rules = plan.model, plan.preset, plan.jump, Tracker(plan.model, plan.preset).widening
    return *rules, build_null_filter(plan), policy.policy, build_problem(plan, policy)
