"""Numbers as crews say them: odds instead of probabilities near one, round factors, lengths, places."""

import math

import numpy as np

from dowsax.geo.local import Frame

_SUREST = 1000.0
"""Odds beyond which nothing is said: a belief of a thousand particles knows no greater ones."""
_MOST = 1e6
"""Factors beyond it are not told: their digits say nothing."""


def odds(probability: float) -> str:
    """How sure something is, as odds: `about 32 to 1`, and never more than `more than 1,000 to 1`."""
    ratio = probability / max(1 - probability, 1e-12)
    if ratio >= _SUREST:
        return f"more than {_SUREST:,.0f} to 1"
    return f"about {float(f'{ratio:.2g}'):g} to 1"


def times(log_factor: float) -> str:
    """A factor, given by its logarithm."""
    if log_factor >= math.log(_MOST):
        return "more than a million times"
    factor = float(f"{math.exp(log_factor):.3g}")
    return f"{factor:,.0f} times" if factor >= 10 else f"{factor:.2g} times"


def chance(share: float) -> str:
    """A small share in words: `1 time in 40`, and never less than `less than 1 time in 1,000`."""
    return "less than 1 time in 1,000" if share < 1e-3 else f"about 1 time in {float(f'{1 / share:.2g}'):,g}"


def metres(length: float) -> str:
    """A length in words."""
    if 1e6 <= length < 1e9:
        return f"{length / 1000:,.0f} km"
    return f"{length / 1000:.3g} km" if length >= 1000 else f"{length:.3g} m"


def about(frame: Frame, position) -> str:
    """A place that is estimated: degrees where there are any, else metres to a decimetre."""
    if frame.is_geographic:
        return frame.words(position)
    return frame.words([round(float(number), 1) for number in position])


def outside(frame: Frame, area, position) -> str:
    """That a place lies outside of the area [m], and how far."""
    low, high, place = (np.asarray(corner, np.float64) for corner in (*area, position))
    distance = float(np.hypot(*np.maximum(np.maximum(low - place, place - high), 0)))
    return (
        f"{frame.words(place)} is {metres(distance)} outside the area from {frame.words(low)} to "
        f"{frame.words(high)}"
    )
