"""Numbers as crews say them: exact where that means something, and never surer than a belief can be."""

import math

import numpy as np
import pytest

from dowsax.geo.formatting import (
    count_digits,
    format_chance,
    format_estimate,
    format_factor,
    format_length,
    format_odds,
    format_outside,
)
from dowsax.geo.local import LocalCoordinates


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (0.95, "about 19 to 1"),
        (0.5, "about 1 to 1"),
        (0.97, "about 32 to 1"),
        (0.998, "about 500 to 1"),
        (0.9991, "more than 1,000 to 1"),
        (1.0, "more than 1,000 to 1"),
    ],
)
def test_odds(probability, words):
    assert format_odds(probability) == words


def test_factors():
    assert format_factor(math.log(21)) == "21 times"
    assert format_factor(math.log(2980.4)) == "2,980 times"
    assert format_factor(1.0) == "2.7 times"
    assert format_factor(1e6) == "more than a million times"


def test_chances():
    assert format_chance(0.004) == "about 1 time in 250"
    assert format_chance(0.0) == "less than 1 time in 1,000"


@pytest.mark.parametrize(
    ("length", "words"), [(3.14159, "3.14 m"), (2500.0, "2.5 km"), (4e7, "40,000 km"), (1e29, "1e+26 km")]
)
def test_lengths(length, words):
    assert format_length(length) == words


def test_places_are_in_degrees_where_there_are_any():
    """At 52.1° N, 100 m are 0.000899° of latitude."""
    frame = LocalCoordinates((52.1, -5.1))
    assert format_estimate(frame, (0.0, 100.0)) == "(0, 100) m, 52.100899° N, 5.100000° W"
    assert format_estimate(LocalCoordinates(), np.array([12.345, -6.789])) == "(12.3, -6.8) m"


def test_how_far_outside():
    area = ((0.0, 0.0), (20.0, 10.0))
    assert (
        format_outside(LocalCoordinates(), area, (23.0, 14.0))
        == "(23, 14) m is 5 m outside the area from (0, 0) m to (20, 10) m"
    )
    assert " is 1.99 km outside the area from (0, 0) m, 52.1" in format_outside(
        LocalCoordinates((52.1, 5.1)), area, (0.0, 2000.0)
    )


@pytest.mark.parametrize(
    ("ends", "digits"),
    [
        ((1.23, 3.46), 3),
        ((1.999, 2.001), 4),
        ((1.99999, 2.00001), 6),
        ((2.0, 2.0), 3),
        ((2.0000001, 2.0000002), 3),
        ((-48216.0, -48211.0), 4),
    ],
)
def test_digits_tell_the_ends_of_an_interval_apart(ends, digits):
    assert count_digits(*ends) == digits
    assert count_digits(*ends, fewest=4) == max(digits, 4)
