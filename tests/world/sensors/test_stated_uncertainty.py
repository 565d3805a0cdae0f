"""Readings that state their uncertainty: as a sensor with the larger floor, whatever is around it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import UniformBox, compose
from dowsax.world.distributions import LogUniform

BOX = UniformBox((0.0, 0.0), (100.0, 100.0))
PLACE, WIND = jnp.float32([70.0, 52.0]), jnp.float32([3.0, 0.2])
HERE = Station(PLACE, wind=WIND)
STATED = Station(PLACE, wind=WIND, uncertainty=jnp.float32(0.3))
PLUME = jnp.float32([40.0, 50.0, 4.0, 1.0, 3.0, 1.0, 1.0, 0.3, 0.0, 1.0])
LEVEL = jnp.float32([40.0, 50.0, -20.0, 2.0, 1.0, 0.5, -0.5])


@pytest.mark.slow_after(3)
@pytest.mark.parametrize(
    ("kind", "theta", "given"),
    [
        ("level", LEVEL, {}),
        ("level", LEVEL, {"robust": True}),
        ("gas-plume", PLUME, {"background": 2.0, "gas": "methane"}),
        ("gas-plume", PLUME, {"background": 2.0, "gas": "methane", "edge": 0.2, "redundancy": 2.0}),
        ("gas-plume", PLUME, {"gas": "methane", "background": None, "edge": 0.2, "direction_error": 8.0}),
    ],
)
def test_is_the_sensor_with_the_larger_floor(kind, theta, given):
    """The root of the sum of squares: the same densities, and the same draws."""
    ratio = {"noise_ratio": 0.2} if kind == "gas-plume" else {}
    wide = compose(kind, BOX, noise={**ratio, "noise_floor": 0.5}, **given)
    stated = compose(kind, BOX, noise={**ratio, "noise_floor": 0.4}, uncertainty="measured", **given)
    key = jax.random.key(1)
    assert stated.sample_reading(key, theta, STATED) == pytest.approx(wide.sample_reading(key, theta, HERE))
    for reading in (-50.0, 0.1, 3.0):
        one = float(wide.log_likelihood(theta, HERE, jnp.float32(reading)))
        other = float(stated.log_likelihood(theta, STATED, jnp.float32(reading)))
        assert other == pytest.approx(one, rel=1e-4)


def test_the_floor_may_be_unknown():
    """It is a column of Θ, and what a reading states adds to it."""
    model = compose(
        "level", BOX, noise={"noise_floor": LogUniform(0.1, 9.0), "correlation": 0.0}, uncertainty="measured"
    )
    mean = float(model.intensity(LEVEL, HERE))
    for floor in (0.4, 4.0):
        found = float(model.log_likelihood(jnp.append(LEVEL, floor), STATED, jnp.float32(mean)))
        assert found == pytest.approx(-np.log(np.hypot(floor, 0.3) * np.sqrt(2 * np.pi)), rel=1e-4)


def test_what_has_no_use_is_refused():
    with pytest.raises(ValueError, match="not for counts"):
        compose("radiation", BOX, uncertainty="measured")
    with pytest.raises(ValueError, match='`uncertainty` must be "measured"'):
        compose("level", BOX, uncertainty="yes")
    with pytest.raises(ValueError, match="takes no `uncertainty`"):
        compose("gas", BOX, uncertainty="measured")
    model = compose("level", BOX, uncertainty="measured")
    with pytest.raises(ValueError, match=r"give `Station\.uncertainty`"):
        model.log_likelihood(jnp.append(LEVEL, 1.0), HERE, jnp.float32(0.0))
