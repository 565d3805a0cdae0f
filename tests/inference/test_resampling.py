"""Laws of resampling: unbiased, in range, blind to particles without weight."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference.resampling import (
    Resampler,
    expected_copies,
    multinomial,
    residual,
    running_copies,
    stratified,
    systematic,
)
from dowsax.inference.weights import normalise

SCHEMES = [systematic, stratified, multinomial, residual]
NUM_PARTICLES = 40
REPEATS = 4000


def uneven_log_weights(key):
    """Weights over three orders of magnitude, the first, the last and some more of them zero."""
    log_weights = 2 * jax.random.normal(key, (NUM_PARTICLES,))
    return normalise(log_weights.at[jnp.array([0, 7, 8, NUM_PARTICLES - 1])].set(-jnp.inf))


def copies_of(resample, key, log_weights, num_draws, num_active=None):
    """How often each particle was drawn among the draws that count, over many repetitions."""
    num_counted = num_draws if num_active is None else num_active
    active = None if num_active is None else jnp.asarray(num_active)

    def once(key):
        ancestors = resample(key, log_weights, num_draws, active)
        return jnp.bincount(ancestors[:num_counted], length=log_weights.shape[0])

    return np.asarray(jax.jit(jax.vmap(once))(jax.random.split(key, REPEATS)))


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(
    ("resample", "num_active"), [*((scheme, None) for scheme in SCHEMES), (systematic, 25), (residual, 25)]
)
def test_is_unbiased(resample, num_active, key):
    """The mean count of ancestor i is n·w_i, within five standard errors; zero weights are never drawn."""
    weight_key, draw_key = jax.random.split(key)
    log_weights = uneven_log_weights(weight_key)
    counts = copies_of(resample, draw_key, log_weights, 64, num_active)
    weights = np.exp(np.asarray(log_weights, np.float64))
    expected = (num_active or 64) * weights / weights.sum()
    error = np.abs(counts.mean(0) - expected)
    # An ancestor never seen has no spread of its own: take the Poisson one of its expectation.
    spread = np.maximum(counts.std(0), np.sqrt(np.minimum(expected, 1e-2)))
    assert (error <= 5 * spread / REPEATS**0.5 + 1e-5).all()
    assert (counts[:, weights == 0] == 0).all()
    assert (counts.sum(1) == (num_active or 64)).all()


def test_systematic_counts_are_the_neighbouring_integers(key):
    weight_key, draw_key = jax.random.split(key)
    log_weights = uneven_log_weights(weight_key)
    counts = copies_of(systematic, draw_key, log_weights, 64)
    expected = 64 * np.exp(np.asarray(log_weights, np.float64))
    assert (counts >= np.floor(expected - 1e-4)[None, :]).all()
    assert (counts <= np.ceil(expected + 1e-4)[None, :]).all()


@pytest.mark.parametrize("resample", [systematic, stratified, residual], ids=lambda f: f.__name__)
def test_uniform_weights_keep_every_particle(resample, key):
    log_weights = normalise(jnp.zeros(1000))
    ancestors = jax.jit(resample, static_argnums=2)(key, log_weights, 1000)
    if resample is stratified:
        # A point may fall on either side of an edge only by rounding.
        assert np.unique(ancestors).size >= 998
    else:
        assert (np.asarray(ancestors) == np.arange(1000)).all()


def test_running_sum_is_exact_for_many_particles(key):
    """At 100,000 particles the whole part and the fraction agree with float64 to a millionth of a copy."""
    num_particles = 100_000
    weights = jnp.exp(jax.random.normal(key, (num_particles,)))
    count = jnp.asarray(num_particles)
    copies = jax.jit(expected_copies)(weights, count)
    whole, part = jax.jit(running_copies)(copies, count)
    exact = np.cumsum(np.asarray(copies, np.float64))
    exact *= num_particles / exact[-1]
    np.testing.assert_allclose(np.asarray(whole, np.float64) + np.asarray(part, np.float64), exact, atol=1e-6)


@pytest.mark.parametrize("resample", [systematic, multinomial], ids=lambda f: f.__name__)
def test_many_particles_are_in_range_and_have_weight(resample, key):
    num_particles = 100_000
    log_weights = jax.random.normal(key, (num_particles,)).at[-1000:].set(-jnp.inf).at[::3].set(-jnp.inf)
    draw = jax.jit(resample, static_argnums=2)
    ancestors = np.asarray(draw(key, log_weights, num_particles))
    assert ancestors.min() >= 0
    assert ancestors.max() < num_particles
    assert np.isfinite(np.asarray(log_weights)[ancestors]).all()


@pytest.mark.parametrize("resample", SCHEMES, ids=lambda f: f.__name__)
def test_no_particle_left_still_gives_valid_indices(resample, key):
    ancestors = np.asarray(jax.jit(resample, static_argnums=2)(key, jnp.full(8, -jnp.inf), 8))
    assert isinstance(resample, Resampler)
    assert ((ancestors >= 0) & (ancestors < 8)).all()
