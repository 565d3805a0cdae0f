"""Live missions with several sources, their number known or not."""

import numpy as np
import pytest

from dowsax.console.expected_field import expected_field
from dowsax.console.snapshots import ParticleSamples, add_particles
from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.report.mission_findings import posterior_of
from dowsax.site import parse_site

SOURCES_M = np.array([[12.0, 30.0], [45.0, 12.0]])
RATES = np.array([40_000.0, 20_000.0])
SITE = """
sources = {sources}
area = {{low = [0, 0], high = [60, 40]}}
field = {{kind = "radiation"}}
search = {{preset = "default", particles = 256, radius = 5.0}}
background = {{mode = "known", value = 10}}
noise = {{ratio = 0.1}}
sensor = {{dwell = 10}}
prior = {{q = [5000, 100000], height = 0.5, attenuation = 0.0093}}
"""


def counts(place):
    squared = np.sum((SOURCES_M - place) ** 2, axis=1) + 0.5**2 + 0.1**2
    rates = RATES * np.exp(-0.0093 * np.sqrt(squared)) / squared
    return float(np.round(10 * (10 + rates.sum())))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("sources", ["2", '"1-2"'])
def test_both_sources_are_found(sources):
    advisor = Advisor(parse_site(SITE.format(sources=sources)), "random", seed=1, warm_up=False)
    random = np.random.default_rng(5)
    for number in range(30):
        near = SOURCES_M[number % 2] + random.normal(0, 3, 2) if number >= 12 else random.uniform(0, [60, 40])
        place = tuple(np.clip(near, 0, [60, 40]).tolist())
        advice = advisor.observe(place, counts(np.array(place)))
    assert len(advice.sources) == 2
    for disc, source in zip(advice.sources, SOURCES_M, strict=True):
        assert np.linalg.norm(np.array(disc.centre) - source) < max(2 * disc.radius, 0.5)
    assert advice.status == "found"
    assert "2 sources" in advice.why
    assert advice.estimate.names[:6] == ("x1", "y1", "q1", "x2", "y2", "q2")
    assert (advice.number_probability is None) == (sources == "2")
    assert Advice.from_json(advice.to_json()) == advice
    posterior = posterior_of(advisor)
    assert posterior.num_sources == 2
    np.testing.assert_allclose(posterior.mean[:2], advice.estimate.mean[:2], atol=1e-2)
    samples = ParticleSamples.unpack(ParticleSamples.of(advisor.reported_belief).pack())
    regions = add_particles({}, samples, [[0.0, 0.0], [60.0, 40.0]])["regions"]
    assert len(regions["95"]) == 2
    assert np.isfinite(expected_field(advisor.plan, samples, advisor.readings)["values"]).all()
