"""The numbers of a summary, by hand."""

import json

import numpy as np
import pytest
from made_searches import gaussian_searches, search
from scipy import stats

from dowsax.evaluate.metrics import count_undecided, ends, means, share, summarise, summary_json
from dowsax.evaluate.statistics import resample_counts
from dowsax.evaluate.stops import TraceRule

CONTRACTION = TraceRule("contraction", 0.5)
# Stops at reading 3, right; at reading 2, a metre off; never.
SEARCHES = [
    search([2.0, 0.9, 0.4, 0.2], [3.0, 2.0, 0.5, 0.1], seconds=1.0),
    search([0.3, 0.3, 0.3], [4.0, 1.0, 0.0], seconds=2.0),
    search([2.0, 1.0, 0.5, 0.5, 0.6], [5.0, 4.0, 3.0, 2.0, 0.3], seconds=6.0),
]


def test_a_summary_by_hand():
    summary = summarise(SEARCHES, CONTRACTION)
    values = {name: estimate.value for name, estimate in summary._asdict().items()}
    assert values == pytest.approx(
        {
            "stop_rate": 2 / 3,
            "path_length_stopped": (2 + 1) / 2,
            "path_length_all": (2 + 1 + 4) / 3,
            "error_stopped": (0.5 + 1.0) / 2,
            "error_all": (0.5 + 1.0 + 0.3) / 3,
            "success_given_stop": 1 / 2,
            "success_all": 1 / 3,
            "false_stop_given_stop": 1 / 2,
            "false_stop_all": 1 / 3,
            "seconds_per_episode": 3.0,
            "readings_stopped": (3 + 2) / 2,
        }
    )
    counts = {name: estimate.n for name, estimate in summary._asdict().items()}
    assert {name for name, number in counts.items() if number == 2} == {
        "path_length_stopped",
        "error_stopped",
        "success_given_stop",
        "false_stop_given_stop",
        "readings_stopped",
    }
    assert set(counts.values()) == {2, 3}


def test_right_and_false_share_out_the_stops():
    end = ends(gaussian_searches(200, 12, seed=1), TraceRule("credible", 0.6))
    np.testing.assert_array_equal(end.right ^ end.false, end.stopped)
    assert end.stopped.any()
    assert not end.stopped.all()


def test_no_stop_is_no_number_and_strict_json():
    document = summary_json(summarise(SEARCHES, TraceRule("contraction", 0.01)))
    json.dumps(document, allow_nan=False)
    nothing = {"value": None, "low": None, "high": None, "n": 0}
    assert document["path_length_stopped"] == document["false_stop_given_stop"] == nothing
    assert document["stop_rate"]["value"] == document["stop_rate"]["low"] == 0.0
    assert document["path_length_all"]["value"] == pytest.approx((3 + 2 + 4) / 3)


def test_no_search_is_no_number():
    assert all(estimate.value is None for estimate in summarise([], CONTRACTION))


@pytest.mark.parametrize(
    ("last_spread", "max_readings", "expected"), [(0.6, 5, 1), (0.6, 3, 0), (np.inf, 5, 0), (0.4, 5, 0)]
)
def test_a_record_that_ends_early_leaves_a_stricter_rule_open(last_spread, max_readings, expected):
    """Unless the rule spoke, the readings ran out or no particle is left."""
    record = search([2.0, 1.0, last_spread], [1.0, 1.0, 1.0], max_readings=max_readings)
    assert count_undecided([record], CONTRACTION) == expected


@pytest.mark.parametrize(("max_readings", "stop"), [(3, None), (4, 3)])
def test_a_search_that_takes_all_its_readings_has_not_stopped(max_readings, stop):
    """OCE is the share with k_stop < K_max."""
    record = search([2.0, 1.0, 0.4], [1.0, 1.0, 0.3], max_readings=max_readings)
    assert CONTRACTION.first_stop(record) == stop
    assert ends([record], CONTRACTION).stopped.tolist() == [stop is not None]
    assert ends([record], CONTRACTION).reading.tolist() == [3]


def test_shares_have_wilsons_interval():
    estimate = share(np.arange(40) < 7)
    expected = stats.binomtest(7, 40).proportion_ci(method="wilson")
    assert estimate == pytest.approx((7 / 40, *expected, 40))
    assert share(np.zeros(40, bool)).low == 0.0
    assert share(np.ones(40, bool)).high == 1.0


def test_counts_of_resamples_are_multinomial():
    """Each row sums to n; each value is drawn once on average with variance 1 − 1/n, within five errors."""
    counts = resample_counts(30, 4000)
    assert (counts.sum(axis=1) == 30).all()
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=5 / 4000**0.5)
    # The fourth central moment of such a count is below 4, so its variance has an error below 2/√4000.
    np.testing.assert_allclose(counts.var(axis=0), 1 - 1 / 30, atol=5 * 2 / 4000**0.5)


def test_the_interval_of_a_mean_covers_it():
    """In 95 % of 400 samples of 100 skew values, less five standard errors of that share."""
    samples = np.random.default_rng(2).gamma(4.0, size=(400, 100))
    covered = [low <= 4.0 <= high for _, low, high, _ in means(*samples)]
    assert np.mean(covered) > 0.95 - 5 * (0.95 * 0.05 / 400) ** 0.5
    assert means(*samples)[0].value == pytest.approx(samples[0].mean())
