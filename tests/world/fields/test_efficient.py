"""Sensors that differ: what they multiply, and what they leave as it was measured."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import UniformBox, compose, without_source

BOX = UniformBox((0.0, 0.0), (100.0, 100.0))
THETA = jnp.float32([40.0, 60.0, 5e4, 0.0, 0.5])
"""A source of radiation: attenuation and height are known to the models below by their columns."""


@eqx.filter_jit
def intensity(model, theta, station):
    return model.intensity(theta, station)


@eqx.filter_jit
def log_likelihood(model, theta, station, reading):
    return model.log_likelihood(theta, station, reading)


def station(**measured):
    numbers = {name: jnp.float32(number) for name, number in measured.items()}
    return Station(jnp.float32([50.0, 50.0]), altitude=jnp.float32(1.0), **numbers)


def radiation(**given):
    return compose("radiation", BOX, noise={"noise_ratio": 0.0}, shielded=0.0, variation=0.0, **given)


def test_multiplies_the_source_and_a_background_that_all_share():
    """ε (c + b) of one place; but a background of each sensor, and one of each reading, is as it was read."""
    plain = float(intensity(radiation(background=None), THETA, station()))
    for background, added in ((None, 0.0), (7.0, 2.5 * 7.0), ("measured", 12.0)):
        model = radiation(background=background, efficiency="measured")
        found = float(intensity(model, THETA, station(efficiency=2.5, background=12.0)))
        assert found == pytest.approx(2.5 * plain + added, rel=1e-6)
        null = float(intensity(without_source(model), THETA, station(efficiency=2.5, background=12.0)))
        assert null == pytest.approx(added, rel=1e-6)
    model = radiation(background=7.0, sensors=("A", "B"), efficiency="measured")
    here = replace(station(efficiency=2.5), sensor=jnp.int32(1))
    assert float(intensity(model, THETA, here)) == pytest.approx(2.5 * plain + 7.0, rel=1e-6)


def test_a_level_is_that_of_the_multiplied_power():
    theta = jnp.float32([40.0, 60.0, -20.0, 2.0, 1.0, 0.0, 0.0, 3.0])
    plain, doubled = compose("level", BOX), compose("level", BOX, efficiency="measured")
    raised = float(intensity(doubled, theta, station(efficiency=2.0)) - intensity(plain, theta, station()))
    assert raised == pytest.approx(10 * np.log10(2), abs=1e-4)
    loud = compose("level", BOX, background=-40.0, efficiency="measured")
    powers = sum(2 * 10 ** (level / 10) for level in (float(intensity(plain, theta, station())), -40.0))
    found = float(intensity(loud, theta, station(efficiency=2.0)))
    assert found == pytest.approx(10 * np.log10(powers), abs=1e-4)


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("robust", [False, True])
def test_a_plume_in_a_swaying_wind_is_read_in_other_units(robust):
    """Where all of the noise scales as well: log p_ε(b + ε z) = log p(b + z) − log ε, at the edges too."""
    factor, floor = 3.0, 0.02
    theta = jnp.float32([40.0, 50.0, 4.0, 1.0, 3.0, 1.0, 1.0, 0.3, 0.0, 1.0])

    def model(scale, **given):
        noise = {"noise_ratio": 0.3, "noise_floor": scale * floor}
        settings = {"noise": noise, "robust": robust, "direction_error": 8.0, "edge": 0.1, "gas": "methane"}
        return compose("gas-plume", BOX, **settings, background="measured", **given)

    one, other = model(1.0), model(factor, efficiency="measured")
    for off in (-20.0, 0.0, 6.0):
        place = jnp.float32([70.0, 50.0 + off])
        wind, two = jnp.float32([3.0, 0.2]), jnp.float32(2.0)
        plain = Station(place, wind=wind, background=two)
        strong = Station(place, wind=wind, background=two, efficiency=jnp.float32(factor))
        for excess in (-0.01, 0.5, 40.0):
            expected = float(log_likelihood(one, theta, plain, jnp.float32(2.0 + excess))) - np.log(factor)
            found = float(log_likelihood(other, theta, strong, jnp.float32(2.0 + factor * excess)))
            assert found == pytest.approx(expected, rel=1e-4, abs=2e-3)


def test_what_was_not_measured_fails_while_it_is_traced():
    for name, given in (
        ("efficiency", {"efficiency": "measured"}),
        ("background", {"background": "measured"}),
    ):
        with pytest.raises(ValueError, match=rf"give `Station\.{name}`"):
            jax.eval_shape(radiation(**given).intensity, THETA, station())


def test_a_known_background_is_the_same_whether_of_the_site_or_of_the_reading():
    """Of every kind, of levels and of a benchmark field; readings, likelihoods and the null model agree."""
    key, reading = jax.random.key(3), jnp.float32(20.0)
    for kind in ("radiation", "level", "magnetic-dipole", "temperature"):
        known, measured = (compose(kind, BOX, background=given) for given in (9.0, "measured"))
        assert known.prior.parameters == measured.prior.parameters
        theta, here = eqx.filter_jit(known.prior.sample)(key), station(background=9.0)
        for one, other in ((known, measured), (without_source(known), without_source(measured))):
            likelihoods = [float(log_likelihood(model, theta, here, reading)) for model in (one, other)]
            assert likelihoods[0] == pytest.approx(likelihoods[1], rel=1e-5)
            draws = [float(eqx.filter_jit(model.sample_reading)(key, theta, here)) for model in (one, other)]
            assert draws[0] == pytest.approx(draws[1], rel=1e-5)
