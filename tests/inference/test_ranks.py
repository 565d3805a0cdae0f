"""One-step-ahead ranks: the predictive distribution function, uniform under the right model."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

from dowsax.inference import with_horizon
from dowsax.inference.presets import PLAIN
from dowsax.inference.ranks import NUM_DRAWS, predictive_rank
from dowsax.types import Station
from dowsax.world import Jump, benchmark_model, wander

LENGTH = 12


def run(model, key, path, readings, keep_ranks=True, jump=None):
    """The belief after all readings."""
    preset = PLAIN.with_particles(512).with_horizon(LENGTH)
    filter_ = (preset.with_ranks() if keep_ranks else preset).build(model, transition=jump)
    init_key, step_key = jax.random.split(key)

    def step(belief, now):
        key, position, reading = now
        return filter_.step(key, belief, Station(position), reading)[0], None

    keys = jax.random.split(step_key, len(readings))
    return jax.lax.scan(step, filter_.init(init_key), (keys, path, readings))[0]


def test_a_rank_is_the_predictive_distribution_function(key):
    """Of a belief in one source, whose readings are normal."""
    model = benchmark_model("electric")
    theta = model.prior.sample(key)
    belief = PLAIN.with_particles(64).with_horizon(2).build(model).init(key)
    belief = replace(belief, particles=jnp.tile(theta, (64, 1)))
    station = Station(jnp.array([3.0, 4.0]))
    intensity = model.intensity(theta, station)
    sigmas = jnp.array([-1.0, 0.0, 2.0])
    readings = intensity + sigmas * model.sensor.scale(intensity)
    rank = jax.vmap(lambda key, reading: predictive_rank(key, model, belief, station, reading), (0, None))
    ranks = jax.vmap(rank, (None, 0))(jax.random.split(key, 200), readings)
    expected = norm.cdf(sigmas)
    # The mean of (below + uniform) / (draws + 1).
    means = (NUM_DRAWS * expected + 0.5) / (NUM_DRAWS + 1)
    deviations = np.sqrt(expected * (1 - expected) / NUM_DRAWS / 200) + 1e-4
    assert (np.abs(np.asarray(ranks).mean(axis=1) - means) < 5 * deviations).all()


@pytest.mark.parametrize(
    "jump", [None, pytest.param(Jump(0.1), marks=pytest.mark.slow)], ids=["stays", "jumps"]
)
def test_ranks_are_uniform_and_independent_under_the_right_model(key, jump):
    """Of counts, which tie, also where the source jumps; by Kolmogorov and Smirnov's test."""
    model, number = benchmark_model("energy"), 100

    def ranks(key):
        theta_key, path_key, noise_key, filter_key = jax.random.split(key, 4)
        path = wander(path_key, LENGTH)

        def read(theta, now):
            key, position, may_jump = now
            source_key, which_key, reading_key = jax.random.split(key, 3)
            if jump is not None:
                other = jump.for_prior(model.prior).sample(source_key, model.prior, theta)
                jumps = may_jump & jax.random.bernoulli(which_key, jump.hazard)
                theta = jnp.where(jumps, other, theta)
            return theta, model.sample_reading(reading_key, theta, Station(position))

        now = jax.random.split(noise_key, LENGTH), path, jnp.arange(LENGTH) > 0
        _, readings = jax.lax.scan(read, model.prior.sample(theta_key), now)
        return run(model, filter_key, path, readings, jump=jump).ranks

    found = np.asarray(jax.jit(lambda keys: jax.lax.map(ranks, keys))(jax.random.split(key, number)))
    assert ((found > 0) & (found < 1)).all()
    assert kstest(found.ravel(), "uniform").pvalue > 1e-3
    scores = norm.ppf(found)
    for lag in (1, 3):
        correlation = np.mean(scores[:, lag:] * scores[:, :-lag])
        assert abs(correlation) < 5 / np.sqrt(number * (LENGTH - lag))


def test_a_filter_that_keeps_ranks_gives_the_same_belief(key):
    model, path = benchmark_model("temperature"), wander(key, LENGTH)
    readings = jax.random.uniform(key, (LENGTH,))
    kept, plain = (
        jax.jit(lambda keep=keep: run(model, key, path, readings, keep))() for keep in (True, False)
    )
    assert plain.ranks is None
    np.testing.assert_array_equal(kept.particles, plain.particles)
    np.testing.assert_array_equal(kept.log_weights, plain.log_weights)
    longer = with_horizon(kept, LENGTH + 3)
    assert longer.ranks is not None
    assert longer.ranks.shape == (LENGTH + 3,)
    np.testing.assert_array_equal(longer.ranks[:LENGTH], kept.ranks)
