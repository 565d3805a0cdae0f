"""Noise at the edge of a plume: its middle counts too, and where there is no plume there is no edge."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import UniformBox, without_source
from dowsax.world.compose import compose
from dowsax.world.sensors.fuzzy_edge import FuzzyEdge
from dowsax.world.sensors.redundant import Redundant

BOX = UniformBox((0.0, 0.0), (200.0, 200.0))
NOISE = {"noise_ratio": 0.3, "noise_floor": 0.01}
SHARE = 0.1


def model(edge=SHARE, **settings):
    return compose("gas-plume", BOX, unit="mg/m3", background=None, noise=NOISE, edge=edge, **settings)


def stations(theta, distances, angles, wind=(3.0, 0.0)):
    """At these distances from the source, and angles off the wind that blows east."""
    offsets = jnp.stack([distances * jnp.cos(angles), distances * jnp.sin(angles)], axis=-1)
    return Station(theta[None, :2] + offsets, wind=jnp.broadcast_to(jnp.array(wind), offsets.shape))


def test_the_axis_is_the_plume_straight_downwind(key):
    """At every angle the axis is what the plume is at the same distance straight downwind."""
    plume = model(distributions={"turn": 0.0, "speed": 1.0})
    theta = plume.prior.sample(key)
    distances, angles = jnp.array([20.0, 50.0, 90.0]), jnp.array([0.4, -0.2, 1.0])
    assert isinstance(plume.sensor, FuzzyEdge)
    axis = jax.jit(jax.vmap(plume.sensor.axis, in_axes=(None, 0)))(theta, stations(theta, distances, angles))
    straight = jax.jit(jax.vmap(plume.intensity, in_axes=(None, 0)))
    downwind = straight(theta, stations(theta, distances, jnp.zeros(3)))
    # Both by the same formula, but for the rounding of the squared offset.
    np.testing.assert_allclose(axis, downwind, rtol=1e-4)
    assert (straight(theta, stations(theta, distances, angles)) < axis).all()


def test_the_noise_is_that_of_the_share(key):
    """Against the sensor without an edge, its floor raised by hand."""
    fuzzy, plain = model(robust=True), model(edge=0.0, robust=True)
    theta = fuzzy.prior.sample(key)
    here = stations(theta, jnp.array([40.0]), jnp.array([0.3]))
    station = jax.tree.map(lambda leaf: leaf[0], here)
    intensity, reading = fuzzy.intensity(theta, station), jnp.float32(0.7)
    raised = NOISE["noise_floor"] + SHARE * NOISE["noise_ratio"] * fuzzy.sensor.axis(theta, station)
    by_hand = eqx.tree_at(lambda at: at.noise_floor, plain.sensor, raised)
    expected = by_hand.log_prob(reading, intensity, station)
    np.testing.assert_allclose(fuzzy.log_likelihood(theta, station, reading), expected, rtol=1e-5)
    drawn, by_hand_drawn = fuzzy.sample_reading(key, theta, station), by_hand.sample(key, intensity, station)
    np.testing.assert_allclose(drawn, by_hand_drawn, rtol=1e-5)


def test_the_wind_may_be_unknown(key):
    """The axis follows the wind of Θ: it is finite and positive, and above the plume off the axis."""
    fuzzy = model(wind="unknown")
    theta = fuzzy.prior.sample(key)
    station = Station(theta[:2] + jnp.array([30.0, 10.0]))
    axis = fuzzy.sensor.axis(theta, station)
    assert jnp.isfinite(axis)
    assert axis >= fuzzy.intensity(theta, station)


def test_without_a_source_there_is_no_edge():
    assert not isinstance(without_source(model()).sensor, FuzzyEdge)
    loose = without_source(model(redundancy=3))
    assert isinstance(loose.sensor, Redundant)
    assert not isinstance(loose.sensor.sensor, FuzzyEdge)


def test_what_has_no_edge_is_refused():
    with pytest.raises(ValueError, match="plumes in the wind"):
        compose("level", BOX, edge=0.1)
    with pytest.raises(ValueError, match="`edge`"):
        compose("gas", BOX, edge=0.1)
    with pytest.raises(ValueError, match=r"in \(0, 1\)"):
        model(edge=2.0)
