"""The beam of an antenna: its formula again in numpy, its half-power points, and every direction."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import UniformBox, compose
from dowsax.world.fields import Beam, LogDistance

PLAIN, YAGI = LogDistance(1.5, 0.1), LogDistance(1.5, 0.1, Beam(60.0, 20.0))
THETA = jnp.float32([10.0, -4.0, -30.0, 2.5, 1.0, 0.0, 0.7, -1.2])


def gain(bearing, heading, distance=40.0, theta=THETA):
    """The gain of an antenna that sees the source at this bearing [°, from north] and distance [m]."""
    angle = np.radians(bearing)
    place = theta[:2] - distance * jnp.float32([np.sin(angle), np.cos(angle)])
    at = Station(place, heading=jnp.float32(heading))
    return float(YAGI(theta, at) - PLAIN(theta, at))


def formula(off, width=60.0, front_to_back=20.0):
    behind = 10 ** (-front_to_back / 10)
    return 10 * np.log10(behind + (1 - behind) * 2 ** -((2 * off / width) ** 2))


@pytest.mark.parametrize("heading", [0.0, 77.0, -200.0, 359.0])
def test_is_the_formula_of_the_angle_off_the_heading(heading):
    """The antenna is half a metre higher than the source, 40 m away: at most 0.72° off the plane."""
    for off in (0.0, 5.0, 30.0, 45.0, 90.0, 135.0, 180.0):
        cosine = np.cos(np.radians(off)) * 40 / np.hypot(40, np.hypot(0.5, 0.1))
        expected = formula(np.degrees(np.arccos(cosine)))
        assert gain(heading + off, heading) == pytest.approx(expected, abs=2e-3)
        assert gain(heading - off, heading) == pytest.approx(expected, abs=2e-3)


def test_half_of_the_power_is_lost_at_half_the_width():
    """To the hundredth that comes in from behind; and straight behind it is all that does."""
    assert gain(30.0, 0.0) == pytest.approx(-10 * np.log10(2), abs=0.06)
    assert gain(0.0, 0.0) == pytest.approx(0.0, abs=0.01)
    assert gain(180.0, 0.0) == pytest.approx(-20.0, abs=0.01)


def test_a_source_straight_below_is_at_a_right_angle():
    at = Station(THETA[:2], heading=jnp.float32(123.0))
    assert float(YAGI(THETA, at) - PLAIN(THETA, at)) == pytest.approx(formula(90.0), abs=1e-3)


def test_is_smooth_everywhere():
    """Gradients by place and heading are finite, on the axis, behind it, and at the source itself."""

    @jax.jit
    @jax.vmap
    def gradient(place, heading):
        return jax.grad(lambda place, heading: YAGI(THETA, Station(place, heading=heading)), (0, 1))(
            place, heading
        )

    places = THETA[None, :2] + jnp.float32([[0, 0], [0, -50], [0, 50], [1e-3, 0], [300, 200]])
    for part in gradient(places, jnp.zeros(5)):
        assert np.isfinite(part).all()


def test_a_model_has_a_beam_by_its_options():
    """And without a heading it fails while it is traced."""
    model = compose("level", UniformBox(), options={"beam": 60.0, "front_to_back": 20.0, "standoff": 0.1})
    theta = jnp.concatenate([THETA[:5], THETA[6:8], jnp.float32([5.0, 0.0, 10.0])])
    at = Station(jnp.float32([3.0, 4.0]), heading=jnp.float32(20.0))
    assert float(model.intensity(theta, at)) == pytest.approx(float(YAGI(THETA, at)), rel=1e-5)
    with pytest.raises(ValueError, match=r"give `Station\.heading`"):
        model.intensity(theta, Station(jnp.zeros(2)))


@pytest.mark.parametrize(("given", "word"), [((0.0,), "beam"), ((181.0,), "beam"), ((60.0, 2.0), "front")])
def test_refuses_what_is_no_beam(given, word):
    with pytest.raises(ValueError, match=word):
        Beam(*given)
