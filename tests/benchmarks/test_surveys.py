"""Scores against a reference, on samples whose answers are known."""

import numpy as np
import pytest

from benchmarks import surveys


def case(mean=(10.0, 12.0), std=(0.5, 2.0), theta=(10.0, 12.0)):
    """A case of which only the location matters."""
    rest = np.ones(5)
    columns = (np.concatenate([np.asarray(part, float), rest]) for part in (theta, mean, std))
    return surveys.Case("survey", "gas", 0, np.zeros((3, 2)), np.zeros(3), *columns)


def test_exact_draws_of_the_reference_score_well():
    """Gap near 0, ratio near 1, within five standard errors; the truth at the centre is covered."""
    count = 20_000
    samples = np.random.default_rng(1).normal((10.0, 12.0), (0.5, 2.0), (count, 2))
    one = surveys.score(case(), samples, np.full(count, 1 / count))
    assert one.gap < 5 / count**0.5
    assert np.abs(one.std_ratio - 1).max() < 5 / (2 * count) ** 0.5
    assert one.covered.all()
    assert not one.localised


def test_gap_is_the_worse_axis_in_reference_units():
    """One metre off on x at 0.5 m is 2; on y at 2 m it is 0.5."""
    samples = np.array([[11.0, 13.0], [11.0, 13.0]])
    assert surveys.score(case(), samples, np.array([0.5, 0.5])).gap == pytest.approx(2.0)


def test_weights_count():
    """A weighted sample scores as the sample with repeated members."""
    samples = np.array([[9.0, 11.0], [10.0, 12.0], [12.0, 15.0]])
    weighted = surveys.score(case(), samples, np.array([0.5, 0.25, 0.25]))
    repeated = surveys.score(case(), samples[[0, 0, 1, 2]], np.full(4, 0.25))
    assert weighted.gap == pytest.approx(repeated.gap)
    np.testing.assert_allclose(weighted.std_ratio, repeated.std_ratio)


def test_quantiles_invert_the_distribution_function():
    """A tenth of the mass at each of ten values."""
    values = np.arange(10.0)[::-1]
    np.testing.assert_allclose(surveys.quantiles(values, np.full(10, 0.1), (0.05, 0.5, 0.95)), [0, 4, 9])


def test_summary_pools_axes_and_separates_fields():
    """Coverage counts both axes; `overall` holds every field."""
    scores = [
        surveys.Score(1.0, np.array([1.0, 2.0]), np.array([True, False]), True),
        surveys.Score(3.0, np.array([3.0, 4.0]), np.array([True, True]), False),
    ]
    cases = [case(), case()._replace(field="noise")]
    summaries = surveys.summarise_by_field(cases, scores)
    assert list(summaries) == ["gas", "noise", "overall"]
    assert summaries["overall"].coverage == 0.75
    assert summaries["overall"].gap_median == 2.0
    assert summaries["overall"].localised_gap_median == 1.0
    assert np.isnan(summaries["noise"].localised_gap_median)


def test_missing_references_are_said_in_one_line(tmp_path):
    """The message names the folder and the option."""
    message = surveys.missing(tmp_path / "nowhere")
    assert "--gold" in message
    assert "\n" not in message
    assert surveys.missing(tmp_path) is None
