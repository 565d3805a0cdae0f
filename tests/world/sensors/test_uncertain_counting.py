"""Counts with model error: against scipy's negative binomial, Poisson's limit, and over a background."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.types import Station
from dowsax.world import Model, UniformBox, compose, without_source
from dowsax.world.sensors import Counting, UncertainCounting

HERE = Station(jnp.zeros(2))
BOX = UniformBox((0.0, 0.0), (100.0, 100.0))


@eqx.filter_jit
def each_log_prob(sensor, counts, intensity, background):
    return jax.vmap(lambda count: sensor.log_prob_over(count, intensity, background, HERE))(counts)


def log_probs(sensor, counts, intensity, background):
    return np.asarray(
        each_log_prob(sensor, np.asarray(counts, np.float32), intensity, background), np.float64
    )


@eqx.filter_jit
def log_likelihood(model, *reading):
    return model.log_likelihood(*reading)


@pytest.mark.parametrize("ratio", [0.01, 0.15, 0.7, 1.5])
@pytest.mark.parametrize("mean", [0.01, 1.0, 30.0, 1e4, 1e6])
def test_is_the_negative_binomial_to_float32(mean, ratio):
    """From four standard deviations below the mean to four above; a millionth of the count per rounding."""
    shape, deviation = ratio**-2, np.sqrt(mean + (ratio * mean) ** 2)
    counts = np.unique(np.maximum(np.round(mean + deviation * np.linspace(-4, 4, 17)), 0))
    exact = stats.nbinom.logpmf(counts, shape, shape / (shape + mean))
    ours = log_probs(UncertainCounting(Counting(), ratio), counts, jnp.float32(mean), jnp.float32(0.0))
    np.testing.assert_allclose(ours, exact, rtol=1e-5, atol=2e-3)


def test_without_errors_it_is_poissons_law():
    """Also for the part of the background, which errs by its own share."""
    counts = np.arange(0, 400, 7)
    log_prob = jax.jit(jax.vmap(lambda count: Counting(1e-4).log_prob(count, jnp.float32(150.0), HERE)))
    exact = np.asarray(log_prob(np.float32(counts)))
    for sensor, background in (
        (UncertainCounting(Counting(1e-4), 0.0), 50.0),
        (UncertainCounting(Counting(1e-4), 0.5), 150.0),
        (UncertainCounting(Counting(1e-4), 0.0, variation=0.5), 0.0),
    ):
        ours = log_probs(sensor, counts, jnp.float32(150.0), jnp.float32(background))
        np.testing.assert_allclose(ours, exact, rtol=1e-4, atol=1e-3)


def test_the_variance_is_that_of_counting_and_of_both_errors(key):
    """Of 40,000 draws: mean and variance within five standard errors, the latter by fourth moments."""
    sensor, intensity, background = UncertainCounting(Counting(1e-3), 0.2, 0.1), 300.0, 100.0
    draw = jax.vmap(
        lambda key: sensor.sample_over(key, jnp.float32(intensity), jnp.float32(background), HERE)
    )
    draws = np.asarray(jax.jit(draw)(jax.random.split(key, 40_000)), np.float64)
    mean, slope = intensity / 1.3, 1 / 1.3**2
    variance = mean + slope**2 * ((0.2 * 200.0) ** 2 + (0.1 * 100.0) ** 2)
    assert abs(draws.mean() - mean) < 5 * draws.std() / 200
    squares = (draws - mean) ** 2
    assert abs(squares.mean() - variance) < 5 * squares.std() / 200


ERRING = UncertainCounting(Counting(), 0.3, 0.05, shielded=0.1)


@jax.jit
def exact_and_quick_draws(keys, intensity):
    place = intensity, jnp.float32(1.0), HERE
    exact = jax.vmap(lambda key: ERRING.sample_over(key, *place))(keys[0])
    return exact, jax.vmap(lambda key: ERRING.sketch_over(key, *place))(keys[1])


@pytest.mark.parametrize("intensity", [3.0, 40.0, 5000.0])
def test_quick_draws_are_nearly_exact(intensity, key):
    """Their distribution function is within 0.02 of that of exact draws, noise of 20,000 draws included."""
    one, other = exact_and_quick_draws(jax.random.split(key, (2, 20_000)), jnp.float32(intensity))
    assert stats.ks_2samp(one, other).statistic < 0.02 + 1.95 * (2 / 20_000) ** 0.5


def test_a_model_knows_which_part_is_the_background():
    """A count beside the source, and one of the null model: as the sensor alone, told the background."""
    model = compose(
        "radiation", BOX, background=20.0, noise={"noise_ratio": 0.3}, shielded=0.0, variation=0.1
    )
    theta = jnp.array([50.0, 50.0, 4e4, 0.0, 0.0])
    station = Station(jnp.array([50.0, 60.0]), dwell=jnp.float32(2.0), altitude=jnp.float32(0.0))
    source = 4e4 / (100.0 + 0.1**2)
    for each, rate, ratio in ((model, source, 0.3), (without_source(model), 0.0, 0.3)):
        assert isinstance(each, Model)
        total = rate + 20.0
        shape = total**2 / ((ratio * rate) ** 2 + (0.1 * 20.0) ** 2)
        for count in (30.0, 500.0):
            exact = stats.nbinom.logpmf(count, shape, shape / (shape + 2 * total))
            assert float(log_likelihood(each, theta, station, jnp.float32(count))) == pytest.approx(
                exact, rel=1e-4
            )


@pytest.mark.parametrize(
    ("given", "words"), [({"variation": -0.1}, "at least 0"), ({"shielded": 1.0}, r"in \[0, 1\)")]
)
def test_shares_without_sense_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        compose("radiation", BOX, **given)
