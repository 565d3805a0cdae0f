"""The tests by which recomputed numbers agree with published ones."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from dowsax.evaluate.metrics import NOTHING, Estimate, means
from dowsax.experiments.suites.check import least_p_value, mean_p_value, share_p_value


def share(hits, number):
    return Estimate(hits / number, 0.0, 1.0, number)


def test_shares_by_hand():
    """3 of 3 and 0 of 3: of the 20 tables with these margins the two outermost are as unlikely."""
    assert share_p_value(share(3, 3), share(0, 3)) == pytest.approx(2 / 20)
    assert share_p_value(share(40, 100), share(40, 100)) == 1.0


def test_means_as_the_t_test_of_the_searches():
    """The variance comes back from the bootstrap interval, so p-values are those of the values nearly."""
    first, second = np.random.default_rng(0).normal([[20.0], [20.7]], 3.0, (2, 300))
    given = [means(values)[0] for values in (first, second)]
    expected = ttest_ind(first, second).pvalue
    assert 1e-4 < expected < 0.1
    assert mean_p_value(*given) == pytest.approx(expected, rel=0.3)


def test_few_searches_differ_less_readily():
    one, other = Estimate(20.0, 19.0, 21.0, 300), Estimate(30.0, 26.0, 34.0, 3)
    many = other._replace(n=30)
    assert mean_p_value(one, many) < 1e-3 < mean_p_value(one, other)


def test_where_nothing_can_be_compared_nothing_differs():
    mean = Estimate(20.0, 19.0, 21.0, 300)
    assert share_p_value(NOTHING, share(3, 3)) == share_p_value(share(3, 3), NOTHING) == 1.0
    assert mean_p_value(NOTHING, mean) == mean_p_value(mean, NOTHING) == 1.0
    assert mean_p_value(mean, Estimate(99.0, 99.0, 99.0, 1)) == 1.0


def test_means_without_spread():
    mean = Estimate(5.0, 5.0, 5.0, 40)
    assert mean_p_value(mean, mean) == 1.0
    assert mean_p_value(mean, Estimate(6.0, 6.0, 6.0, 40)) == 0.0


def skewed(generator, number):
    return generator.exponential(20.0, number)


def seldom_long(generator, number):
    """Paths of which one in 300 is seven times as long."""
    return np.where(generator.uniform(size=number) < 1 / 300, 150.0, generator.normal(22.0, 4.0, number))


@pytest.mark.parametrize("draw", [skewed, seldom_long])
def test_true_numbers_differ_as_seldom_as_is_said(draw):
    """30 paths against 300: the test may be no more ready to differ than its level, by much."""
    generator = np.random.default_rng(1)
    pairs = [(draw(generator, 300), draw(generator, 30)) for _ in range(200)]
    least = least_p_value(5)
    differing = sum(mean_p_value(*(means(values)[0] for values in pair)) < least for pair in pairs)
    # 6 in 200 is 2.8 standard deviations above 0.01.
    assert differing <= 6


def test_the_level_is_divided_by_the_number_of_comparisons():
    assert least_p_value(30) == pytest.approx(0.05 / 30)
    assert least_p_value(0) == pytest.approx(0.05)
