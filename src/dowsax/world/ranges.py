"""Checks of numbers and ranges, with errors of one line."""

import math
from collections.abc import Sequence

import jax

from dowsax.types import Number

Pair = tuple[float, float]
Numbers = tuple[Number, Number]


def pair(values: Sequence[float | int]) -> Pair:
    """Convert two numbers to floats."""
    first, second = values
    return float(first), float(second)


def number(value: float | int) -> float:
    """Convert a number to a float."""
    return float(value)


def as_number(value: Number | int) -> Number:
    """Convert a number to a float; an argument of a program stays."""
    return value if isinstance(value, jax.Array) else float(value)


def as_numbers(values: Sequence[Number | int]) -> Numbers:
    """Convert two numbers to floats; arguments of a program stay."""
    first, second = values
    return as_number(first), as_number(second)


def require_positive(name: str, value: Number) -> None:
    if not 0 < value < float("inf"):
        raise ValueError(f"`{name}` must be > 0 and finite; got {value:g}.")


def require_range(name: str, bounds: Numbers) -> None:
    if not bounds[0] < bounds[1] or not abs(bounds[0]) + abs(bounds[1]) < float("inf"):
        raise ValueError(f"`{name}` must be a finite (low, high) with low < high; got {bounds}.")


def require_box(low: Numbers, high: Numbers) -> None:
    for axis, bounds in zip("xy", zip(low, high, strict=True), strict=True):
        require_range(f"box along {axis}", bounds)


def require_velocity(wind: Sequence[float | int]) -> Pair:
    """Return a velocity [m/s], or raise a ValueError."""
    if len(wind) != 2 or not all(math.isfinite(part) for part in wind):
        raise ValueError(f"`wind` as a velocity must be two finite numbers (east, north) [m/s]; got {wind}.")
    return float(wind[0]), float(wind[1])
