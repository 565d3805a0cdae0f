"""Where the readings show no source, the reason says how strong one could be."""

import numpy as np
import pytest

from dowsax.mission.advice import Estimate
from dowsax.mission.advisor import Advisor
from dowsax.mission.plan import Plan
from dowsax.mission.weak_sources import describe_limit, prior_strength
from dowsax.site import parse_site

SITE = """
[area]
low = [0.0, 0.0]
high = [20.0, 20.0]
[field]
kind = "radiation"
[prior]
q = [1.0, 1e4]
height = 1.0
[background]
mode = "known"
value = 5.0
[start]
position = [10.0, 10.0]
[budget]
readings = 6
[search]
radius = 1.0
particles = 256
"""


@pytest.fixture(scope="module")
def plan():
    return Plan.of(parse_site(SITE, "site.toml"))


def _estimate(high):
    """An estimate whose strength ends here."""
    return Estimate(
        ("x", "y", "q"), ("m", "m", "counts/s"), (1.0, 2.0, 3.0), (0.0, 0.0, 1.0), (4.0, 4.0, high)
    )


def test_only_a_limit_that_excludes_a_fifth_of_the_prior_is_said(plan):
    """Of strengths with a uniform logarithm over four decades, that is 10^3.2 = 1,585 and less."""
    text = describe_limit(plan.strength, _estimate(1500.0))
    source = "If there is one, its count rate 1 m from the source"
    assert text == f"{source} is below 1,500 counts/s (probability 97.5 %)."
    assert describe_limit(plan.strength, _estimate(1800.0)) == ""
    assert describe_limit(plan.strength, _estimate(np.inf)) == ""


def test_a_known_strength_has_no_limit():
    known = Plan.of(parse_site(SITE.replace("q = [1.0, 1e4]", "q = 100.0"), "site.toml"))
    assert prior_strength(known.model.prior) is None
    assert describe_limit(known.strength, _estimate(1.0)) == ""


def test_a_mission_without_a_source_ends_with_it(plan):
    """Six readings of the background over the whole area: a strong source would have shown."""
    advisor = Advisor(plan, "location-gain", seed=3, warm_up=False)
    for place in ((10.0, 10.0), (4.0, 4.0), (16.0, 4.0), (16.0, 16.0), (4.0, 16.0), (10.0, 4.0)):
        advice = advisor.observe(place, 5.0)
    assert advice.status == "inconclusive"
    assert "If there is one, its count rate 1 m from the source is below " in advice.why
    limit = float(advice.why.split(" is below ")[1].split()[0].replace(",", ""))
    # At most 8.5 m from a reading, where 20 counts/s more than 5 are seen: 20 times 8.5² + 1.
    assert 5.0 < limit < 20 * (8.5**2 + 1)
