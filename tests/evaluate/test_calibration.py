"""Calibration passes exact posteriors and fails wrong ones; the whole chain runs on a small filter."""

import json

import jax
import numpy as np
import pytest

from dowsax.evaluate.calibration import calibrate, own_surveys, pooled_coverage, verdict
from dowsax.evaluate.ranks import Scores, score
from dowsax.evaluate.surveys import pursuing_survey, simulate_surveys, wandering_survey
from dowsax.evaluate.tables import calibration_table
from dowsax.world import Model, benchmark_model

NAMES = ("x", "y", "q")
CASES = 200


def conjugate(scale: float, shift: float = 0.0):
    r"""θ ~ N(0, I), z ~ N(θ, 4I): the posterior is N(z/5, 4/5 I). Its draws, wrong by `scale` and `shift`.

    The particles are drawn from a wider law and weighted, as those of a filter are.
    """
    generator = np.random.default_rng(2)
    truths = generator.normal(size=(CASES, 3))
    readings = truths + 2 * generator.normal(size=truths.shape)
    noise = generator.normal(scale=1.2, size=(CASES, 400, 3))
    log_weights = -0.5 * np.sum(noise**2 - (noise / 1.2) ** 2, axis=2)
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    samples = readings[:, None, :] / 5 + 0.8**0.5 * (scale * noise + shift)
    return score(truths, samples, weights / weights.sum(axis=1, keepdims=True), seed=0)


def test_an_exact_posterior_passes():
    report = verdict(NAMES, conjugate(1.0))
    assert report.passed
    for parameter in report.parameters:
        for probability, share in parameter.coverage.items():
            assert abs(share.value - probability) < 5 * (probability * (1 - probability) / CASES) ** 0.5


@pytest.mark.parametrize(
    ("scale", "shift"), [(0.7, 0.0), (1.5, 0.0), (1.0, 0.4)], ids=["narrow", "wide", "biased"]
)
def test_a_wrong_posterior_fails(scale, shift):
    report = verdict(NAMES, conjugate(scale, shift))
    assert not report.passed
    assert all(parameter.p_value < 0.05 for parameter in report.parameters)


def test_a_narrow_posterior_covers_too_little():
    """P(|N(0, 1)| < 0.7·1.645) = 0.750."""
    for parameter in verdict(NAMES, conjugate(0.7)).parameters:
        share = parameter.coverage[0.9]
        assert abs(share.value - 0.750) < 5 * (0.75 * 0.25 / CASES) ** 0.5
        assert share.interval[1] < 0.9


def test_pooled_coverage_has_the_error_of_surveys_not_of_parameters():
    """Three copies of one parameter tell no more than one: a binomial error over the surveys alone."""
    scores = conjugate(1.0)
    copied = Scores(
        **{
            name: values[:, [0, 0, 0]] if values.ndim == 2 else values
            for name, values in vars(scores).items()
        }
    )
    pooled = pooled_coverage([verdict(NAMES, copied), verdict(NAMES, copied)])
    for probability, share in pooled.items():
        value = scores.covered(probability)[:, 0].mean()
        assert share.n == 2 * CASES
        assert share.value == pytest.approx(value)
        half = 1.96 * (value * (1 - value) / (2 * CASES - 1)) ** 0.5
        assert (share.low, share.high) == pytest.approx((value - half, value + half))


@pytest.mark.slow
def test_paths_know_the_source_through_readings_alone(key):
    """Where nothing can be read, surveys of different sources are the same."""
    model = benchmark_model("energy")
    silent = Model(model.prior, lambda theta, station: 0 * theta[0], model.sensor)
    thetas = jax.vmap(model.prior.sample)(jax.random.split(jax.random.key(1), 2))
    for survey in (wandering_survey, pursuing_survey):
        pair = jax.jit(jax.vmap(lambda theta, survey=survey: survey(key, silent, theta, 12)))(thetas)
        jax.tree.map(lambda leaf: np.testing.assert_array_equal(leaf[0], leaf[1]), pair)


def test_surveys_are_walks_from_the_corner(key):
    surveys = simulate_surveys(key, benchmark_model("magnetic"), 60, 36)
    steps = np.abs(np.diff(surveys.positions, axis=1)).sum(axis=2)
    assert surveys.positions.shape == (60, 36, 2)
    assert (steps <= 1 + 1e-5).all()
    assert (surveys.positions[:, 0] < 5).all()


def test_pursuit_comes_nearer_than_wandering(key):
    """With a strong signal the walks that follow their readings come nearer to the source."""
    surveys = simulate_surveys(key, benchmark_model("magnetic"), 60, 36)
    offsets = surveys.positions - surveys.thetas[:, None, :2]
    nearest = np.linalg.norm(offsets, axis=2).min(axis=1)
    assert np.median(nearest[1::2]) < 0.5 * np.median(nearest[0::2])


@pytest.fixture(scope="module")
def small():
    model = benchmark_model("temperature")
    surveys = own_surveys(model, "temperature", 24, seed=3)
    reported = []
    report = calibrate(model, surveys, particles=64, seed=3, on_progress=reported.append)
    return surveys, report, reported


@pytest.mark.slow
def test_the_chain_from_surveys_to_report(small):
    surveys, report, reported = small
    assert sum(reported) == report.num_cases == len(surveys.thetas) == 24
    assert len(report.parameters) == 7
    assert -1 <= report.spearman <= 1
    assert report.contracted.trials == 24
    assert np.isfinite(report.scores.errors).all()


def test_the_report_is_strict_json_and_a_table(small):
    _, report, _ = small
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert list(document["parameters"]) == ["x", "y", "q", "ux", "uy", "alpha", "lambda"]
    assert np.array(document["ranks"]).shape == (24, 7)
    table = calibration_table("temperature", report)
    assert sum(line.startswith("|") for line in table.splitlines()) == 2 + 7


def test_seed_and_name_decide_the_surveys(small):
    surveys, _, _ = small
    again = own_surveys(benchmark_model("temperature"), "temperature", 24, seed=3)
    jax.tree.map(np.testing.assert_array_equal, again, surveys)
    other = own_surveys(benchmark_model("temperature"), "electric", 24, seed=3)
    assert not np.isclose(other.thetas, surveys.thetas).all(axis=1).any()
