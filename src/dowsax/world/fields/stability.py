"""Plume widths: Briggs' formulas for open country, interpolated between Pasquill's classes."""

import math

import jax.numpy as jnp

from dowsax.types import Scalar

CLASSES = "ABCDEF"
"""Pasquill's classes: 0 is A (very unstable), 3 is D (neutral), 5 is F (stable)."""
# Slopes at the source, and σy/r = s/√(1 + r/10 km) for all classes.
_LATERAL_SLOPES = (0.22, 0.16, 0.11, 0.08, 0.06, 0.04)
_VERTICAL_SLOPES = (0.20, 0.12, 0.08, 0.06, 0.03, 0.016)
_LATERAL_LENGTH_M = 1e4
# σz/r = s Π (1 + r/length)^−power; the length [m], and the power of each class.
_VERTICAL_BENDS = (
    (1 / 0.0002, (0.0, 0.0, 0.5, 0.0, 0.0, 0.0)),
    (1 / 0.0015, (0.0, 0.0, 0.0, 0.5, 0.0, 0.0)),
    (1 / 0.0003, (0.0, 0.0, 0.0, 0.0, 1.0, 1.0)),
)


def lateral_slope(stability: Scalar, distance: Scalar, log_growth: Scalar | float = 0.0) -> Scalar:
    r"""$\sigma_y/r$, times $e^g$; its logarithm is linear between two classes."""
    slope = jnp.exp(_between(stability, tuple(map(math.log, _LATERAL_SLOPES))) + log_growth)
    return slope * jnp.sqrt(_LATERAL_LENGTH_M / (_LATERAL_LENGTH_M + distance))


def vertical_slope(stability: Scalar, distance: Scalar, log_growth: Scalar | float = 0.0) -> Scalar:
    r"""$\sigma_z/r$, times $e^g$; its logarithm is linear between two classes."""
    log_slope = _between(stability, tuple(map(math.log, _VERTICAL_SLOPES))) + log_growth
    for length, powers in _VERTICAL_BENDS:
        log_slope = log_slope - _between(stability, powers) * jnp.log1p(distance / length)
    return jnp.exp(log_slope)


def _between(stability: Scalar, values: tuple[float, ...]) -> Scalar:
    """Interpolate linearly between the classes, by weights: a look-up would be a slow gather."""
    held = jnp.clip(stability, 0.0, len(CLASSES) - 1.0)
    weights = (jnp.maximum(1.0 - jnp.abs(held - at), 0.0) for at in range(len(CLASSES)))
    return sum((weight * value for weight, value in zip(weights, values, strict=True)), start=jnp.zeros(()))
