"""A wind that was written the wrong way round is found out when the readings say so, and only then."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.survey.reversed_wind import STRONG, flipped_wind, reversed_wind
from dowsax.types import Station


def test_strong_evidence_for_the_reversed_wind_is_a_flip():
    check = flipped_wind(-100.0, -90.0)
    assert check.flipped
    assert check.log_odds == 10.0
    for words in ("reversed", "22,000 times", "FROM"):
        assert words in check.words


@pytest.mark.parametrize(
    ("log_odds", "flipped", "words"),
    [
        (STRONG, True, "looks reversed"),
        (STRONG - 0.01, False, "do not tell"),
        (0.0, False, "do not tell"),
        (0.01 - STRONG, False, "do not tell"),
        (-STRONG, False, "agrees"),
        (1e4, True, "more than a million"),
    ],
)
def test_the_words_follow_the_odds(log_odds, flipped, words):
    check = flipped_wind(-7.0, -7.0 + log_odds)
    assert check.flipped == flipped
    assert words in check.words


def test_a_reading_that_one_wind_cannot_explain():
    assert flipped_wind(-math.inf, -5.0).flipped
    assert not flipped_wind(-5.0, -math.inf).flipped
    assert "do not tell" in flipped_wind(-math.inf, -math.inf).words
    with pytest.raises(ValueError, match="NaN"):
        flipped_wind(math.nan, 0.0)


def test_reversing_twice_is_nothing():
    stations = Station(jnp.zeros((3, 2)), wind=jnp.arange(6.0).reshape(3, 2), altitude=jnp.ones(3))
    there = reversed_wind(stations)
    np.testing.assert_array_equal(there.wind, -stations.wind)
    np.testing.assert_array_equal(reversed_wind(there).wind, stations.wind)
    assert there.altitude is stations.altitude
    with pytest.raises(ValueError, match="no wind"):
        reversed_wind(Station(jnp.zeros((3, 2))))
