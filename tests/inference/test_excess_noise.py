"""Excess noise: what is usual is the prior's, a right model is rarely blamed, and nothing is then found."""

import math
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from dowsax.inference.belief import Belief, History
from dowsax.inference.excess_noise import (
    MAX_FALSE_ALARMS,
    describe_excess_noise,
    has_excess_noise,
    usual_noise,
)
from dowsax.inference.locate import locate
from dowsax.types import Station
from dowsax.world import UniformBox, benchmark_model, compose
from dowsax.world.distributions import LogNormal, LogUniform

MEDIAN, FACTOR = 0.15, 2.0
MODEL = compose(
    "temperature", UniformBox(), noise={"noise_ratio": LogNormal(MEDIAN, FACTOR), "noise_floor": 0.1}
)
BOTH = {"noise_ratio": LogUniform(0.02, 0.5), "noise_floor": LogUniform(0.001, 0.1)}


def belief_of(noise, weights=None) -> Belief:
    """A belief with these values of the noise; the rest of Θ does not matter."""
    (usual,) = usual_noise(MODEL.prior)
    particles = (
        jnp.ones((len(noise), len(MODEL.prior.parameters))).at[:, usual.column].set(jnp.asarray(noise))
    )
    weights = jnp.ones(len(noise)) if weights is None else jnp.asarray(weights)
    history = History(Station(jnp.zeros((1, 2))), jnp.zeros(1), jnp.asarray(1, jnp.int32))
    starts, zero = jnp.zeros(len(noise), jnp.int32), jnp.zeros(())
    return Belief(particles, jnp.log(weights), jnp.zeros(2), starts, history, zero, zero)


def test_what_is_usual_is_what_the_prior_says():
    """Quantiles of 4,000 draws, within five standard errors of those of the log-normal."""
    (usual,) = usual_noise(MODEL.prior)
    assert usual.parameter.name == "noise_ratio"
    for share, found in ((0.025, usual.low), (0.975, usual.high), (1 - MAX_FALSE_ALARMS, usual.limit)):
        score = math.log(found / MEDIAN) / math.log(FACTOR)
        assert norm.cdf(score) == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / 4000))


def test_several_noises_share_the_false_alarms_and_a_known_one_has_none():
    both = usual_noise(compose("temperature", UniformBox(), noise=BOTH).prior)
    share = 1 - MAX_FALSE_ALARMS / 2
    error = 5 * math.sqrt(share * (1 - share) / 4000)
    for usual, (low, high) in zip(both, ((0.02, 0.5), (0.001, 0.1)), strict=True):
        assert math.log(usual.limit / low) / math.log(high / low) == pytest.approx(share, abs=error)
    assert usual_noise(benchmark_model("temperature").prior) == ()


@pytest.mark.parametrize("error", [0.1, 0.5, 2.0])
def test_a_right_model_is_rarely_blamed(error):
    """The log of the noise from its prior, measured with a normal error: the exact posterior is normal."""
    (usual,) = usual_noise(MODEL.prior)
    random, number = np.random.default_rng(5), 20_000
    truth = random.normal(size=number)
    medians = (truth + error * random.normal(size=number)) / (1 + error**2)
    share = np.mean(MEDIAN * FACTOR**medians > usual.limit)
    # Five standard errors of the limit, from 4,000 draws, and of the share itself.
    assert share <= MAX_FALSE_ALARMS * (1 + 5 * math.sqrt(1 / (4000 * 0.025) + 1 / (number * 0.025)))


def test_the_median_of_a_belief_decides():
    (usual,) = usual_noise(MODEL.prior)
    noise = [usual.low, usual.limit * 1.01]
    assert not bool(has_excess_noise((usual,), belief_of(noise, [0.51, 0.49])))
    loud = belief_of(noise, [0.49, 0.51])
    assert bool(has_excess_noise((usual,), loud))
    assert not bool(has_excess_noise((), loud))
    words = describe_excess_noise((usual,), loud)
    assert words.startswith(
        "The readings scatter far more than is usual: noise as a share of what the source"
    )
    assert describe_excess_noise((usual,), belief_of(noise, [0.51, 0.49])) == ""


def test_a_posterior_with_excess_noise_has_not_found_the_source():
    """A noise of 0.1 is usual, and one of 5 is not."""
    random = np.random.default_rng(3)
    quiet = locate(random.uniform(0, 25, (4, 2)), np.full(4, 1.0), model=MODEL, particles=256)
    assert quiet.usual_noise == usual_noise(MODEL.prior)
    low, high = (one * np.ones((256, 1)) for one in (0.1, 5.0))
    column = quiet.names.index("noise_ratio")
    here = np.concatenate([quiet.samples[:, :column], low, quiet.samples[:, column + 1 :]], axis=1)
    here[:, :2] = 12.0 + 0.01 * random.normal(size=(256, 2))
    found = replace(quiet, samples=here, fit=np.array(0.5))
    assert bool(found.found)
    assert found.describe_excess_noise() == ""
    here = np.concatenate([here[:, :column], high, here[:, column + 1 :]], axis=1)
    loud = replace(found, samples=here)
    assert not bool(loud.found)
    assert "is 5, where 0.0" in loud.describe_excess_noise()
    assert loud.verdict().startswith("The readings scatter far more than is usual")
    batch = replace(loud, samples=np.stack([found.samples, here]), weights=np.stack([loud.weights] * 2))
    assert batch.has_excess_noise.tolist() == [False, True]
