"""What intervals hold of other runs: order statistics of independent draws."""

import numpy as np

from benchmarks.repeated_runs import compare_runs, held_by_intervals

NUM_RUNS, NUM_DRAWS = 400, 39


def uniform_runs():
    values = np.random.default_rng(4).uniform(size=(NUM_RUNS, NUM_DRAWS))
    return values, np.full(values.shape, 1 / NUM_DRAWS)


def test_intervals_of_independent_draws_hold_what_order_statistics_do():
    """Of 39 draws the interval goes from draw 2 to draw 38 (F = 2/39 ≥ 0.05, 38/39 ≥ 0.95).

    It holds Beta(36, 4) of the distribution, 36/40 in the mean. The runs it is compared with are shared, so
    the tolerance is five standard errors of one run's interval and of one common sample.
    """
    values, weights = uniform_runs()
    held = held_by_intervals(values, weights, 0.9)
    error = (36 * 4 / (40**2 * 41) / NUM_RUNS) ** 0.5
    common = (0.9 * 0.1 / (NUM_RUNS * NUM_DRAWS)) ** 0.5
    assert abs(held.mean() - 0.9) < 5 * (error + common)


def test_weights_count_as_repetitions():
    values, _ = uniform_runs()
    counts = np.random.default_rng(5).integers(1, 4, size=values.shape)
    totals = counts.sum(axis=1)
    repeated = [np.repeat(row, count) for row, count in zip(values[:20], counts[:20], strict=True)]
    weights = counts / totals[:, None]
    held = held_by_intervals(values[:20], weights[:20], 0.5)
    for run, row in enumerate(repeated):
        low, high = np.quantile(row, [0.25, 0.75], method="inverted_cdf")
        others = [np.mean((other >= low) & (other <= high)) for at, other in enumerate(repeated) if at != run]
        assert abs(held[run] - np.mean(others)) < 1e-9


def test_the_variance_ratio_of_independent_draws_is_one_over_their_number():
    """Var(mean)/(Var + Var(mean)) = 1/(n + 1), with a relative error of √(2/(r − 1)) + √(0.8/rn)."""
    values, weights = uniform_runs()
    ratios, _ = compare_runs(values[:, :, None], weights)
    tolerance = 5 * ((2 / (NUM_RUNS - 1)) ** 0.5 + (0.8 / values.size) ** 0.5)
    # The variance within runs is short by a factor 1 − 1/n.
    assert abs(ratios[0] * NUM_DRAWS - 1) < tolerance + 1 / NUM_DRAWS
