"""The findings of a mission: those of its advice, also where readings err together."""

import numpy as np
import pytest
from made_missions import MODEL, hill_site, read

from dowsax.console.snapshots import ParticleSamples
from dowsax.inference.summaries import credible_radius
from dowsax.mission.advisor import Advisor
from dowsax.report.mission_findings import findings_of, posterior_of

RUN_LENGTH, NUM_RUNS = 8, 4


@pytest.fixture(scope="module")
def errs_together():
    """A mission in which eight readings in a row have nearly the same error."""
    advisor = Advisor(hill_site("default"), "infotaxis", model=MODEL, warm_up=False)
    places = np.random.default_rng(1).uniform(12, 19, (NUM_RUNS * RUN_LENGTH, 2))
    errors = np.repeat([0.3, -0.3, 0.3, -0.3], RUN_LENGTH)
    for number, (place, error) in enumerate(zip(places, errors, strict=True)):
        advisor.observe(place, read(number, place) + error)
    assert advisor.state.redundancy > 1.2
    return advisor


def test_advice_and_exports_have_the_same_wider_belief(errs_together):
    """Disc, intervals and samples are of one belief, √κ times as wide as that of the filter."""
    advice, found = errs_together.latest, findings_of(errs_together, hill_site(), "infotaxis")
    narrow = float(credible_radius(errs_together.belief, 0.95))
    assert found.radius == pytest.approx(np.sqrt(errs_together.state.redundancy) * narrow, rel=0.02)
    assert found.radius == pytest.approx(advice.region.radius, rel=1e-3)
    low, high = found.posterior.interval(0.95)
    np.testing.assert_allclose([low, high], [advice.estimate.low, advice.estimate.high], rtol=1e-3)
    held = found.posterior.weights @ found.regions[0.95].contains(found.posterior.samples[:, :2])
    assert held == pytest.approx(0.95, abs=0.03)


def test_the_console_shows_the_same(errs_together):
    """Its samples spread as the belief of the exports, within five standard errors of 400 draws."""
    samples = ParticleSamples.of(errs_together.reported_belief).thetas
    expected = posterior_of(errs_together).std
    error = 5 * expected / np.sqrt(2 * len(samples))
    np.testing.assert_array_less(np.abs(samples.std(axis=0) - expected), error + 1e-6)


def test_a_mission_whose_readings_err_one_by_one_is_not_widened():
    advisor = Advisor(hill_site("default"), "infotaxis", model=MODEL, warm_up=False)
    for number, place in enumerate([(14.0, 11.0), (13.0, 13.0)]):
        advisor.observe(place, read(number, place))
    assert advisor.reported_belief is advisor.belief
