"""Briggs' spreads: the table at the classes, and in between the geometric mean."""

import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.world.fields.stability import CLASSES, lateral_slope, vertical_slope

TABLE = {
    "A": (lambda r: 0.22 * r / np.sqrt(1 + 0.0001 * r), lambda r: 0.20 * r),
    "B": (lambda r: 0.16 * r / np.sqrt(1 + 0.0001 * r), lambda r: 0.12 * r),
    "C": (lambda r: 0.11 * r / np.sqrt(1 + 0.0001 * r), lambda r: 0.08 * r / np.sqrt(1 + 0.0002 * r)),
    "D": (lambda r: 0.08 * r / np.sqrt(1 + 0.0001 * r), lambda r: 0.06 * r / np.sqrt(1 + 0.0015 * r)),
    "E": (lambda r: 0.06 * r / np.sqrt(1 + 0.0001 * r), lambda r: 0.03 * r / (1 + 0.0003 * r)),
    "F": (lambda r: 0.04 * r / np.sqrt(1 + 0.0001 * r), lambda r: 0.016 * r / (1 + 0.0003 * r)),
}
SLOPES = (lateral_slope, vertical_slope)


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("distance", [1.0, 100.0, 5000.0])
def test_is_the_table_at_the_classes(name, distance):
    for slope, expected in zip(SLOPES, TABLE[name], strict=True):
        ours = slope(jnp.float32(CLASSES.index(name)), jnp.float32(distance)) * distance
        assert float(ours) == pytest.approx(expected(distance), rel=1e-5)


@pytest.mark.parametrize("lower", range(5))
def test_is_the_geometric_mean_between_two_classes(lower):
    distance = jnp.float32(700.0)
    for slope in SLOPES:
        below, above = slope(jnp.float32(lower), distance), slope(jnp.float32(lower + 1), distance)
        between = slope(jnp.float32(lower + 0.5), distance)
        assert float(between) == pytest.approx(float(jnp.sqrt(below * above)), rel=1e-5)


def test_is_held_beyond_the_classes():
    distance = jnp.float32(50.0)
    for slope in SLOPES:
        assert slope(jnp.float32(-3.0), distance) == slope(jnp.float32(0.0), distance)
        assert slope(jnp.float32(9.0), distance) == slope(jnp.float32(5.0), distance)
