"""Calibration of stops: against scipy, and on a model whose posterior is known."""

import numpy as np
import pytest
from made_searches import gaussian_searches, search
from scipy import stats

from dowsax.evaluate.stop_calibration import (
    calibrate_stops,
    spread_against_error,
    stop_curve,
    stop_signals,
    weighted_spearman,
)
from dowsax.evaluate.stops import TraceRule

READINGS = 40


@pytest.fixture(scope="module")
def searches():
    return gaussian_searches(1500, READINGS, seed=5)


def test_spearman_is_scipys(searches):
    some = searches[:60]
    spread, error = (
        np.concatenate([getattr(one.rows, name) for one in some]) for name in ("spread", "error")
    )
    assert spread_against_error(some).value == pytest.approx(stats.spearmanr(spread, error).statistic)
    spread, error = (np.array([getattr(one.rows, name)[9] for one in some]) for name in ("spread", "error"))
    at_ten = spread_against_error(some, 10)
    assert at_ten.value == pytest.approx(stats.spearmanr(spread, error).statistic)
    assert at_ten.low < at_ten.value < at_ten.high
    assert at_ten.n == 60


def test_weights_are_repetitions():
    """With ties, as in every resample."""
    generator = np.random.default_rng(6)
    first, second = generator.integers(8, size=(2, 50))
    weights = generator.integers(4, size=50)
    expected = stats.spearmanr(np.repeat(first, weights), np.repeat(second, weights)).statistic
    assert weighted_spearman(first, second, weights.astype(float)) == pytest.approx(expected)


def test_the_interval_of_spearman_covers_it():
    """60 samples of 60 Gaussian pairs with ρ = 0.5, whose Spearman correlation is 6/π · asin(ρ/2)."""
    generator = np.random.default_rng(7)
    covered = []
    for _ in range(60):
        spread, noise = generator.normal(size=(2, 60))
        error = 0.5 * spread + 0.75**0.5 * noise
        _, low, high, _ = spread_against_error([search([s], [e]) for s, e in zip(spread, error, strict=True)])
        covered.append(low <= 6 / np.pi * np.arcsin(0.25) <= high)
    assert np.mean(covered) > 0.95 - 5 * (0.95 * 0.05 / 60) ** 0.5


def test_what_has_no_correlation_has_no_number():
    constant = [search([1.0, 1.0], [0.1 * at, 0.2 * at]) for at in range(9)]
    assert spread_against_error(constant) == (None, None, None, 9)
    assert spread_against_error(constant, 3).n == 0


def test_a_dead_belief_counts_as_the_widest():
    """Infinite spread is a rank like any other."""
    records = [search([0.1, np.inf], [0.1, 9.0]), search([0.2, 0.3], [0.2, 0.3]), search([0.4], [0.4])]
    assert spread_against_error(records).value == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["credible", "contraction"])
def test_right_beliefs_have_the_false_stops_they_expect(searches, name):
    """At every threshold, within five standard errors; the credible rule keeps its level."""
    thresholds = (0.5, 0.8, 0.9) if name == "credible" else (0.5, 0.6, 1.0)
    points = stop_curve(searches, name, thresholds)
    assert [point.threshold for point in points] == list(thresholds)
    for threshold, point in zip(thresholds, points, strict=True):
        error = (point.expected * (1 - point.expected) / point.false_stops.n) ** 0.5
        assert point.false_stops.value == pytest.approx(point.expected, abs=5 * error)
        if name == "credible":
            assert point.expected <= 1 - threshold
            assert point.false_stops.low <= 1 - threshold


def test_known_false_stops():
    """Equal noise stops all searches at the same reading, where e^{−1/2σ²} is the rate of false stops."""
    generator = np.random.default_rng(8)
    sigma = np.array([2.0, 1.0, 0.6])
    mass = -np.expm1(-0.5 / sigma**2)
    errors = sigma * np.linalg.norm(generator.normal(size=(2000, 3, 2)), axis=2)
    records = [search(sigma, error, mass=mass) for error in errors]
    (point,) = stop_curve(records, "credible", [0.7])
    rate = np.exp(-0.5 / 0.36)
    assert point.expected == pytest.approx(rate, rel=1e-5)
    assert point.false_stops.value == pytest.approx(rate, abs=5 * (rate * (1 - rate) / 2000) ** 0.5)


def test_overconfidence_is_seen():
    records = gaussian_searches(1500, READINGS, seed=9, confidence=2.0)
    (point,) = stop_curve(records, "credible", [0.9])
    error = (point.expected * (1 - point.expected) / point.false_stops.n) ** 0.5
    assert point.false_stops.value > point.expected + 5 * error
    assert point.false_stops.low > 0.1


def test_precision_and_recall_by_hand():
    """Of five readings, without the starts: met at three, of which two are right; right at three."""
    records = [
        search([0.1, 0.1, 2.0, 0.1], [0.1, 0.5, 0.5, 0.5]),
        search([0.1, 0.1, 2.0], [0.1, 1.0, 3.0]),
    ]
    (signal,) = stop_signals(records, [TraceRule("contraction", 0.5)])
    assert signal.precision[::3] == (pytest.approx(2 / 3), 3)
    assert signal.recall[::3] == (pytest.approx(2 / 3), 3)


def test_unanimous_signals_keep_a_width():
    """Forty searches right at every stop: Wilson's interval of 40 out of 40, however many readings."""
    records = [search([2.0, 0.1, 0.1, 0.1], [3.0, 0.5, 0.5, 0.5])] * 40
    signal, silent = stop_signals(records, [TraceRule("contraction", 0.5), TraceRule("contraction", 0.01)])
    low = stats.binomtest(40, 40).proportion_ci(method="wilson").low
    assert signal.precision[:2] == (1.0, pytest.approx(low))
    assert silent.precision.value is None
    assert silent.recall.value == 0.0


def test_the_whole_report(searches):
    rules = [TraceRule("credible", 0.9), TraceRule("contraction", 0.5)]
    report = calibrate_stops(searches[:200], rules, READINGS)
    assert list(report.spearman_at) == [10, 20, 40]
    assert report.spearman.low > 0
    assert list(report.signals) == rules
    # Every record lasts until the readings run out, so no threshold is too strict to tell.
    assert [len(points) for points in report.curves.values()] == [15, 12]
    cut = [one._replace(rows=type(one.rows)(*(leaf[:20] for leaf in one.rows))) for one in searches[:200]]
    assert len(calibrate_stops(cut, rules, READINGS).curves["contraction"]) < 15
