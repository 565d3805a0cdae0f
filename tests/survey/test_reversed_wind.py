"""A wind that was written the wrong way round is found out when the readings say so, and only then."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.survey.reversed_wind import MIN_LOG_ODDS, check_wind, reverse_wind
from dowsax.types import Station


def test_strong_evidence_for_the_reversed_wind_is_a_flip():
    check = check_wind(-100.0, -90.0)
    assert check.is_reversed
    assert check.log_odds == 10.0
    for words in ("reversed", "22,000 times", "FROM"):
        assert words in check.message


@pytest.mark.parametrize(
    ("log_odds", "flipped", "words"),
    [
        (MIN_LOG_ODDS, True, "looks reversed"),
        (MIN_LOG_ODDS - 0.01, False, "do not tell"),
        (0.0, False, "do not tell"),
        (0.01 - MIN_LOG_ODDS, False, "do not tell"),
        (-MIN_LOG_ODDS, False, "agrees"),
        (1e4, True, "more than a million"),
    ],
)
def test_the_words_follow_the_odds(log_odds, flipped, words):
    check = check_wind(-7.0, -7.0 + log_odds)
    assert check.is_reversed == flipped
    assert words in check.message


def test_a_reading_that_one_wind_cannot_explain():
    assert check_wind(-math.inf, -5.0).is_reversed
    assert not check_wind(-5.0, -math.inf).is_reversed
    assert "do not tell" in check_wind(-math.inf, -math.inf).message
    with pytest.raises(ValueError, match="NaN"):
        check_wind(math.nan, 0.0)


def test_reversing_twice_is_nothing():
    stations = Station(jnp.zeros((3, 2)), wind=jnp.arange(6.0).reshape(3, 2), altitude=jnp.ones(3))
    there = reverse_wind(stations)
    np.testing.assert_array_equal(there.wind, -stations.wind)
    np.testing.assert_array_equal(reverse_wind(there).wind, stations.wind)
    assert there.altitude is stations.altitude
    with pytest.raises(ValueError, match="no wind"):
        reverse_wind(Station(jnp.zeros((3, 2))))
