"""One set of laws for every sensor: `sample` and `log_prob` are the same, normalised distribution."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.types import Station
from dowsax.world.base import Checked, Sensor
from dowsax.world.modalities import MODALITIES, Modality
from dowsax.world.sensors import Counting, StudentT, UncertainCounting

STATION = Station(jnp.zeros(2))
INTENSITIES = np.array([0.0, 0.004, 0.3, 20.0], np.float32)
NUM_DRAWS = 20_000
COUNTS = ("energy", "counts", "uncertain")
SENSORS = MODALITIES | {
    "outliers": Modality("outliers", StudentT(0.1, 0.01, 4.0), "", "Student's t, 10 % over a floor of 0.01"),
    "counts": Modality("counts", Counting(1e-3), "counts", "counts with a dead time of a millisecond"),
    "uncertain": Modality(
        "uncertain",
        UncertainCounting(Counting(), 0.3, shielded=0.2),
        "counts",
        "off by 30 %, a fifth shielded",
    ),
}


def reference_measure(name, intensity):
    """Points and weights of the measure a sensor's density refers to: atoms and the midpoint rule."""
    sigma = {
        "temperature": (0.1, 0.01),
        "magnetic": (0.05, 0.001),
        "electric": (0.1, 0.1),
        "gas": (0.2, 0.001),
    }
    if name == "outliers":
        # Tails of t with four degrees beyond e^12/2 scales hold 1e-19.
        edges = intensity + (0.1 * intensity + 0.01) * np.sinh(np.linspace(-12, 12, 4001))
        return (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    if name in COUNTS:
        return np.arange(200.0), np.ones(200)
    if name == "noise":
        low, high = (10 * np.log10(intensity + 1e-3) + side for side in (-8, 8))
    elif name == "concentration":
        edges = (intensity + 1e-3) * np.exp(np.linspace(-2, 2, 4001))
        return (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    else:
        ratio, floor = sigma[name]
        low, high = (intensity + side * (ratio * intensity + floor) for side in (-8, 8))
    if name == "gas":
        edges = np.linspace(max(low, 0.005), max(high, 0.006), 4001)
        points, weights = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        return np.r_[0.0, points], np.r_[1.0, weights]
    edges = np.linspace(low, high, 4001)
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def negative_binomial(z, mean, ratio):
    """The probability of a count whose mean is gamma distributed with this relative error."""
    return stats.nbinom.pmf(z, ratio**-2, 1 / (1 + mean * ratio**2))


@functools.cache
def compiled_log_prob(sensor):
    return jax.jit(jax.vmap(sensor.log_prob, in_axes=(0, None, None)))


def densities(sensor, readings, intensity):
    log_prob = compiled_log_prob(sensor)
    return np.exp(np.asarray(log_prob(jnp.float32(readings), jnp.float32(intensity), STATION), np.float64))


@pytest.fixture(params=list(SENSORS))
def modality(request):
    return SENSORS[request.param]


def test_meets_the_protocols(modality):
    assert isinstance(modality.sensor, Sensor)
    assert isinstance(modality.sensor, Checked)


def test_is_normalised(modality):
    """Up to the midpoint rule and to the rounding of a reading in float32 (2e-7 of 20 over σ = 1)."""
    for intensity in INTENSITIES:
        points, weights = reference_measure(modality.name, intensity)
        assert densities(modality.sensor, points, intensity) @ weights == pytest.approx(1, abs=2e-4)


@pytest.mark.slow_after(3)
def test_score_has_mean_zero(modality, key):
    """E[∂ log p(z|c)/∂c] = 0 under the sensor's own samples, within five standard errors.

    Not at zero intensity: there gas is heard once in four million readings.
    """
    sensor = modality.sensor

    @jax.jit
    def scores(key, intensity):
        def score(key):
            reading = sensor.sample(key, intensity, STATION)
            return jax.grad(lambda level: sensor.log_prob(reading, level, STATION))(intensity)

        return jax.vmap(score)(jax.random.split(key, NUM_DRAWS))

    for intensity in INTENSITIES[1:]:
        values = np.asarray(scores(key, jnp.float32(intensity)), np.float64)
        # Rounding of z and c shifts the score where c is far above σ; a millionth of its spread at most.
        tolerance = 5 * values.std() / NUM_DRAWS**0.5 + 1e-6
        assert abs(values.mean()) < tolerance


@pytest.mark.slow_after(3)
def test_samples_follow_the_density(modality, key):
    """Empirical against integrated distribution function, within the DKW band of level 1e-5."""
    sample = jax.jit(jax.vmap(modality.sensor.sample, in_axes=(0, None, None)))
    band = np.sqrt(np.log(2 / 1e-5) / (2 * NUM_DRAWS))
    for intensity in INTENSITIES:
        draws = np.sort(sample(jax.random.split(key, NUM_DRAWS), jnp.float32(intensity), STATION))
        points, weights = reference_measure(modality.name, intensity)
        cumulated = np.cumsum(densities(modality.sensor, points, intensity) * weights)
        upper = points if modality.name in (*COUNTS, "gas") else points + weights / 2
        if modality.name == "gas":
            upper = np.r_[0.0, points[1:] + weights[1:] / 2]
        # A draw on an edge may round either way: nudge the edges outwards by a float32 unit.
        empirical = np.searchsorted(draws, np.nextafter(np.float32(upper), np.float32(np.inf))) / NUM_DRAWS
        assert np.abs(empirical - cumulated).max() < band + 1e-3


def test_agrees_with_scipy(modality):
    """The table of the specification, written a second time."""
    z, c = 2.0, 1.5
    expected = {
        "temperature": stats.norm.logpdf(z, c, 0.10 * c + 0.01),
        "concentration": stats.lognorm.logpdf(z, 0.25, scale=c + 0.001),
        "magnetic": stats.norm.logpdf(z, c, 0.05 * c + 0.001),
        "electric": stats.norm.logpdf(z, c, 0.10 * c + 0.10),
        "gas": np.log(0.9) + stats.norm.logpdf(z, c, 0.20 * c + 0.001),
        "energy": stats.poisson.logpmf(z, c + 1.0),
        "noise": stats.norm.logpdf(z, 10 * np.log10(c + 0.001), 1.0),
        "outliers": stats.t.logpdf(z, 4, c, 0.10 * c + 0.01),
        "counts": stats.poisson.logpmf(z, c / (1 + 1e-3 * c)),
        "uncertain": np.log(
            0.8 * negative_binomial(z, c, 0.3) + 0.2 * negative_binomial(z, c / 3, 0.45**0.5)
        ),
    }
    ours = modality.sensor.log_prob(jnp.float32(z), jnp.float32(c), STATION)
    assert float(ours) == pytest.approx(expected[modality.name], rel=1e-5)


def test_is_never_nan(modality):
    """Finite, or −∞ for an impossible reading, with finite gradients, from no intensity to absurd ones."""
    readings = jnp.array([0.0, 0.01, 1.0, 7.0, -1.0, 3000.0])
    intensities = jnp.array([0.0, 1e-30, 1e-3, 1.0, 1e3, 1e12, 1e28])
    pairs = [grid.ravel() for grid in jnp.meshgrid(readings, intensities)]
    both = jax.value_and_grad(modality.sensor.log_prob, argnums=1)
    values, slopes = jax.jit(jax.vmap(both, in_axes=(0, 0, None)))(*pairs, STATION)
    faulty = np.array([modality.sensor.fault(np.array([z])) is not None for z in np.asarray(pairs[0])])
    assert np.array_equal(np.isneginf(values), faulty)
    assert np.isfinite(values[~faulty]).all()
    assert np.isfinite(slopes).all()
