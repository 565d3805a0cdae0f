"""Models of sensors without calibration: their columns, their null model, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import UniformBox, compose, without_source
from dowsax.world.earlier import recall_all
from dowsax.world.fields.wind import widened

BOX = UniformBox((0.0, 0.0), (100.0, 100.0))


def build(reading, **settings):
    return compose("gas-plume", BOX, gas="methane", reading=reading, **settings)


@pytest.mark.parametrize("reading", ["binary", "rank"])
def test_a_survey_has_a_likelihood_with_a_source_and_without(reading):
    """Finite for sources from the prior; without a source it does not depend on where one would be."""
    model = build(reading, direction_error=10.0)
    null, number = without_source(model), 12
    places = jnp.asarray(np.random.default_rng(0).uniform(0, 100, (number, 2)), jnp.float32)
    stations = Station(places, wind=jnp.tile(jnp.array([[2.0, 1.0]]), (number, 1)))

    @jax.jit
    def both(key):
        source_key, noise_key = jax.random.split(key)
        theta = model.prior.sample(source_key)
        readings = model.simulate(noise_key, theta, stations)
        at = recall_all(model.sensor, stations, readings)
        elsewhere = theta.at[:2].set(jnp.array([99.0, 1.0]))
        each = lambda one, source: jax.vmap(one.log_likelihood, (None, 0, 0))(source, at, readings)  # noqa: E731
        return each(model, theta), each(null, theta), each(null, elsewhere)

    own, none, moved = jax.vmap(both)(jax.random.split(jax.random.key(0), 50))
    assert np.isfinite(own).all()
    assert (np.asarray(own) <= 1e-6).all()
    np.testing.assert_allclose(none, moved, atol=1e-5)
    assert (np.abs(own - none).sum(axis=1) > 0.1).any()


def test_a_wider_plume_is_the_mean_over_directions():
    """Where it is narrow: the mean of the plume in 2,001 turned winds, within 2 % of its axis."""
    plume, sway = compose("gas-plume", BOX, gas="methane", background=None).field, 0.1
    theta = jnp.array([0.0, 50.0, 1.0, 1.0, 3.0, 1.0, 1.0, 0.05, 0.0, 1.0, 1e18, 0.0, 0.0, 0.0, 0.0])
    steps = jnp.linspace(-5, 5, 2001)
    share = jnp.exp(-(steps**2) / 2)

    @jax.jit
    def both(place):
        turned = lambda step: 3.0 * jnp.stack([jnp.cos(sway * step), jnp.sin(sway * step)])  # noqa: E731
        exact = jax.vmap(lambda step: plume.field(theta, Station(place, wind=turned(step))))(steps)
        wide = widened(plume.field, sway)(theta, Station(place, wind=jnp.array([3.0, 0.0])))
        return jnp.sum(share * exact) / jnp.sum(share), wide

    places = jnp.stack([jnp.full(9, 60.0), jnp.linspace(40, 60, 9)], axis=1)
    exact, wide = (np.asarray(part) for part in jax.vmap(both)(places))
    np.testing.assert_allclose(wide, exact, atol=0.02 * exact.max())


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"reading": "ranks"}, "did you mean 'rank'"),
        ({"reading": "rank", "background": 2.0}, "`background` is for readings with a value"),
        ({"reading": "binary", "robust": True}, "`robust` is for readings with a value"),
        ({"reading": "binary", "noise": {"threshold": 0.0}}, "`threshold` must be > 0"),
        ({"reading": "binary", "noise": {"false_alarms": -1.0}}, "`false_alarms` must be >= 0"),
        ({"reading": "rank", "noise": {"false_alarms": 1.0}}, "unknown name 'false_alarms'"),
        ({"reading": "rank", "wind": "unknown", "direction_error": 5.0}, "`direction_error` is for"),
    ],
)
def test_what_has_no_meaning_is_refused(settings, reason):
    with pytest.raises(ValueError, match=reason):
        build(**settings)


def test_other_kinds_and_benchmark_fields_have_values():
    with pytest.raises(ValueError, match="unknown reading 'rank' of radiation"):
        compose("radiation", BOX, reading="rank")
    with pytest.raises(ValueError, match="takes no `reading`"):
        compose("gas", BOX, reading="rank")
