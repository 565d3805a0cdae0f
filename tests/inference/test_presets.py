"""The two named filters are what their names say."""

from collections.abc import Callable
from dataclasses import replace

import conjugate
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.inference import DEFAULT, PAPER, PRESETS, FilterConfig, RandomWalk
from dowsax.inference.filter import ParticleFilter
from dowsax.types import Station
from dowsax.world import Identity, benchmark_model

MODEL = benchmark_model("temperature")


def algorithm_of(filter_) -> ParticleFilter:
    """Return what a filter was assembled from."""
    return filter_.step.__self__


def test_paper_is_algorithm_1_as_printed():
    """N = 500, η = 0.6, ε = 0.2, m = 16, one move, attention after resampling, in Θ as it is."""
    config = PAPER.config
    assert (config.num_particles, config.ess_ratio) == (500, 0.6)
    assert (config.attention.epsilon, config.attention.num_neighbours) == (0.2, 16)
    assert config.attention.drop_mass is None
    assert (config.num_moves, config.max_moves) == (1, 1)
    assert not config.smooth_first
    assert not config.temper
    assert config.mixing == 0
    assert PAPER.proposals == (RandomWalk(scales=(1.0, 1.0)),)
    algorithm = algorithm_of(PAPER.build(MODEL))
    assert isinstance(algorithm.coordinates, Identity)
    assert algorithm.transition is None
    assert algorithm.budget is None


class Listening(eqx.Module):
    """A proposal that stays where it is and hands out the covariance it was given."""

    heard: Callable = eqx.field(static=True)
    needs_gradients: bool = eqx.field(default=False, static=True)

    def __call__(self, key, current, population, step_size):
        jax.debug.callback(self.heard, population.columns, population.factor)
        return current, jnp.zeros(current.shape[1])


def test_the_moves_of_algorithm_1_take_their_covariance_from_the_smoothed_weights(key):
    """Line 11 smooths, line 12 moves with the Σ of the smoothed weights, which are not equal."""
    heard = []
    preset = replace(PAPER, proposals=(Listening(lambda *parts: heard.append(parts)),))
    algorithm = algorithm_of(preset.with_horizon(4).build(MODEL))
    stage = algorithm.predict(key, algorithm.init(key), Station(jnp.array([12.0, 12.0])), jnp.float32(0.5))
    smoothed = algorithm.smooth(algorithm.resample(algorithm.reweight(stage)))
    weights = np.exp(np.asarray(smoothed.belief.log_weights, float))
    assert weights.std() > 0.1 * weights.mean()
    jax.block_until_ready(algorithm.move(smoothed))
    jax.effects_barrier()
    columns, factor = (np.asarray(part, float) for part in heard[0])
    expected = np.cov(columns, ddof=0, aweights=weights)
    np.testing.assert_allclose(factor @ factor.T, expected, rtol=1e-3, atol=1e-5 * expected.max())
    assert not np.allclose(factor @ factor.T, np.cov(columns, ddof=0), rtol=1e-2)


def test_the_paper_may_learn_its_projection():
    assert replace(PRESETS["paper-learned"], projection=None) == PAPER
    assert PRESETS["paper-learned"].projection is not None


POSITIONS = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 2.0], [0.0, 1.0]])
READINGS = np.array([1.2, 0.3, -2.1, 0.4])
NUM_RUNS = 40


def errors(preset, num_particles, key):
    """(runs, 4): how far mean and standard deviation are from those of the linear Gaussian model."""
    filter_ = preset.with_particles(num_particles).with_horizon(4).build(conjugate.MODEL)
    (means, stds, _), _, _ = conjugate.repeat(filter_, key, POSITIONS, READINGS, NUM_RUNS)
    mean, covariance, _ = conjugate.posterior(POSITIONS, READINGS)
    return np.concatenate([means - mean, stds - np.sqrt(np.diag(covariance))], axis=1)


def has_limit(errors) -> bool:
    """Whether errors of independent runs are centred on zero, within five standard errors each."""
    return bool(np.all(np.abs(errors.mean(0)) < 5 * errors.std(0, ddof=1) / len(errors) ** 0.5))


def test_default_is_exact_in_the_limit(key):
    """With 16 times the particles the error is a quarter, and what is left of it has mean zero.

    The interval is that of a ratio of two standard deviations of 40 runs, at 1e-5 for each of four numbers.
    """
    few, many = (errors(DEFAULT, number, key) for number in (64, 1024))
    ratio = few.std(0, ddof=1) / many.std(0, ddof=1)
    low, high = np.sqrt(stats.f(NUM_RUNS - 1, NUM_RUNS - 1).ppf([1e-5, 1 - 1e-5]))
    assert ((ratio > 4 * low) & (ratio < 4 * high)).all()
    assert has_limit(many)


def test_mixing_has_another_limit(key):
    """The same check sees a bias: weights that are mixed with uniform ones, however many particles."""
    mixed = replace(DEFAULT, config=replace(DEFAULT.config, mixing=0.2, smooth_first=False))
    assert not has_limit(errors(mixed, 1024, key))


@pytest.mark.parametrize("name", PRESETS)
def test_particles_and_horizon_are_all_that_changes(name):
    preset = PRESETS[name]
    changed = preset.with_particles(64).with_horizon(9)
    assert changed.config.num_particles == 64
    assert changed.config.horizon == 9
    restored = changed.with_particles(preset.config.num_particles).with_horizon(preset.config.horizon)
    assert restored == preset
    assert isinstance(changed.config, FilterConfig)


def test_paper_smooths_after_every_reading(key):
    """A reading that tells nothing resamples nothing, yet attention changes the weights."""
    filter_ = PAPER.with_particles(64).with_horizon(2).build(conjugate.MODEL)
    belief = filter_.init(key)
    uneven = jax.nn.log_softmax(0.3 * jax.random.normal(key, (64,)))
    belief = eqx.tree_at(lambda at: at.log_weights, belief, uneven)
    nowhere = Station(jnp.zeros(2))
    after, info = eqx.filter_jit(filter_.step)(key, belief, nowhere, jnp.zeros(()))
    assert not info.resampled
    assert info.acceptance_rate == 0
    assert (after.particles == belief.particles).all()
    assert np.abs(np.exp(after.log_weights) - np.exp(uneven)).max() > 1e-4
    np.testing.assert_allclose(np.exp(after.log_weights).sum(), 1, rtol=1e-5)
