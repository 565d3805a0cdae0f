"""Live missions of sensors that only detect, or only rank: the belief finds the side of the source."""

import math

import numpy as np
import pytest

from dowsax.console.expected_field import expected_field
from dowsax.console.snapshots import ParticleSamples
from dowsax.inference.posterior import MIN_FIT
from dowsax.mission.advisor import Advisor
from dowsax.site import parse_site

SOURCE_M = (30.0, 40.0)
WIND_M_S = (3.0, 0.0)
"""To the east: what is west of the source never smells of it."""
SITE = """
area = {{low = [0, 0], high = [120, 80]}}
field = {{kind = "gas-plume", unit = "ppm", gas = "methane"}}
wind = {{direction_error = 0}}
search = {{preset = "default", particles = 128}}
noise = {{fluctuation = 0.5}}
[sensor]
reading = "{reading}"
threshold = 1.0
[prior]
q = [0.1, 10]
height = 1.0
stability = 3
lateral = 1.0
vertical = 1.0
meander = 0.1
turn = 0.0
speed = 1.0
"""
ROUNDS = 2
"""Of all places."""


def smell(place):
    """About what a plume along the wind has there: a cone downwind of the source, which thins out."""
    east, north = place[0] - SOURCE_M[0], place[1] - SOURCE_M[1]
    if east <= 0:
        return 0.0
    return 1e3 / east**2 * math.exp(-0.5 * (north / (0.08 * east)) ** 2)


def places():
    """Rows across the wind, the last ones west of the source."""
    return [(east, north) for east in (90.0, 60.0, 45.0, 20.0) for north in (20.0, 35.0, 40.0, 45.0, 60.0)]


READ = {
    "binary": lambda value: float(value > 0.1),
    # Any increasing function of it will do, also one with numbers that would be odd as concentrations.
    "rank": lambda value: -999.0 + math.log1p(1e6 * value) ** 5,
}


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("reading", READ)
def test_the_belief_contracts_to_the_side_of_the_source(reading):
    advisor = Advisor(parse_site(SITE.format(reading=reading)), "random", seed=2, warm_up=False)
    radii = []
    for place in ROUNDS * places():
        advice = advisor.observe(place, READ[reading](smell(place)), wind=WIND_M_S)
        numbers = (*advice.estimate.mean, *advice.estimate.low, *advice.estimate.high, advice.region.radius)
        assert np.isfinite(numbers).all()
        radii.append(advice.region.radius)
    assert radii[-1] < 0.5 * radii[0]
    assert math.dist(advice.estimate.position, SOURCE_M) < radii[-1]
    digest = advisor.state.digest(len(advisor.readings))
    assert float(digest.fit) >= MIN_FIT
    field = expected_field(advisor.plan, ParticleSamples.of(advisor.reported_belief), advisor.readings)
    assert np.isfinite(field["values"]).all()
    assert field["comparable"] is (reading == "binary")
