"""The cases of the olfactory search, by the formulas of the paper."""

import math

import numpy as np
import pytest
from scipy.special import k0

from dowsax.leaderboards.otto import CASES

SMALL, LARGE, MEDIUM, LOW = CASES


def test_the_cases_are_those_of_the_paper():
    assert [case.shape for case in CASES] == [(19, 19), (53, 53), (81, 41), (81, 41)]
    assert [case.num_hits for case in CASES] == [3, 4, 2, 2]
    assert [case.start for case in CASES] == [(9, 9), (26, 26), (65, 20), (65, 20)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_readings_have_probabilities_everywhere(case):
    """They sum to one, but for the cell of the source."""
    total = case.table.sum(axis=0)
    assert total[case.shape[0] - 1, case.shape[1] - 1] == 0
    assert np.sum(total == 0) == 1
    np.testing.assert_allclose(total[total > 0], 1.0)


def test_the_mean_of_the_hits_is_that_of_the_formulas():
    """Without wind K₀(d / L) / ln 2L; with wind more downwind of the source than upwind."""
    (none, *_), distance = SMALL.table[:, 18 - 3, 18 + 2], math.hypot(3, 2)
    assert none == pytest.approx(math.exp(-k0(distance) / math.log(2)))
    length = math.sqrt(150 / 4 / (1 + 150 / 4))
    # The source is 5 cells west of the searcher, which is downwind.
    none, hit = MEDIUM.table[:, 80 - 5, 40]
    assert none == pytest.approx(math.exp(-2.5 / 5 * math.exp(5 - 5 / length)))
    assert hit > MEDIUM.table[1, 80 + 5, 40]
    assert LOW.table[1, 80 - 5, 40] < hit


def test_the_first_hit_comes_from_anywhere():
    """At least one hit; of one and more as often as a plane of sources gives them, by quadrature in rings."""
    radii = np.arange(1, 200)
    means = k0(radii) / math.log(2)
    one = np.sum(radii * means * np.exp(-means))
    more = np.sum(radii * (1 - np.exp(-means) * (1 + means)))
    np.testing.assert_allclose(SMALL.first_hits, [0, one / (one + more), more / (one + more)])
    assert MEDIUM.first_hits.tolist() == [0, 1]


def test_slugs_are_words():
    assert [case.slug for case in CASES] == [
        "isotropic-19x19",
        "isotropic-53x53",
        "windy-medium",
        "windy-low",
    ]
