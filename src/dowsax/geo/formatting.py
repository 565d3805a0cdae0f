"""Numbers and positions as people say them: odds, round factors, lengths, places."""

import math

import numpy as np

from dowsax.geo.local import LocalCoordinates

_MAX_ODDS = 1000.0
"""A belief of a thousand particles knows no greater odds."""
_MAX_DIGITS = 6
"""Of the ends of an interval."""
_MAX_FACTOR = 1e6
"""The digits of greater factors say nothing."""


def format_odds(probability: float) -> str:
    """Return a probability as odds: `about 32 to 1`, at most `more than 1,000 to 1`."""
    odds = probability / max(1 - probability, 1e-12)
    if odds >= _MAX_ODDS:
        return f"more than {_MAX_ODDS:,.0f} to 1"
    return f"about {float(f'{odds:.2g}'):g} to 1"


def format_factor(log_factor: float) -> str:
    """Return a factor, given by its logarithm, as in `20 times`."""
    if log_factor >= math.log(_MAX_FACTOR):
        return "more than a million times"
    factor = float(f"{math.exp(log_factor):.3g}")
    return f"{factor:,.0f} times" if factor >= 10 else f"{factor:.2g} times"


def format_chance(share: float) -> str:
    """Return a small probability as in `1 time in 40`, at least `less than 1 time in 1,000`."""
    return "less than 1 time in 1,000" if share < 1e-3 else f"about 1 time in {float(f'{1 / share:.2g}'):,g}"


def count_digits(low: float, high: float, fewest: int = 3) -> int:
    """Return to how many significant digits the ends of an interval differ: `fewest` or more, at most 6.

    `fewest` where more would not tell them apart.
    """
    for digits in range(fewest, _MAX_DIGITS + 1):
        if f"{low:.{digits}g}" != f"{high:.{digits}g}":
            return digits
    return fewest


def format_number(number: float, digits: int = 3) -> str:
    """Return a number to this many digits, without powers of ten below a million."""
    rounded = float(f"{number:.{digits}g}")
    return f"{rounded:,.0f}" if 10**digits <= abs(rounded) < 1e6 else f"{number:.{digits}g}"


def format_length(length: float) -> str:
    """Return a length [m] with its unit."""
    if 1e6 <= length < 1e9:
        return f"{length / 1000:,.0f} km"
    return f"{length / 1000:.3g} km" if length >= 1000 else f"{length:.3g} m"


def format_estimate(coordinates: LocalCoordinates, position) -> str:
    """Return an estimated position (2,) [m] to a decimetre, and in degrees where the site has them."""
    return coordinates.format_both([round(float(number), 1) for number in position])


def format_outside(coordinates: LocalCoordinates, area, position) -> str:
    """Return how far a position (2,) [m] lies outside the area [m]."""
    low, high, place = (np.asarray(corner, np.float64) for corner in (*area, position))
    distance = float(np.hypot(*np.maximum(np.maximum(low - place, place - high), 0)))
    outside, south_west, north_east = map(coordinates.format_both, (place, low, high))
    return f"{outside} is {format_length(distance)} outside the area from {south_west} to {north_east}"
