"""The score is proper, and training finds what there is to gain and nothing where there is nothing."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.projection_learner import (
    ProjectionConfig,
    build,
    energy_score,
    population_score,
    smoothed_weights,
    updates,
)
from benchmarks.projection_populations import Reweighted
from dowsax.inference.weights import normalise

NUM_PARTICLES, NUM_COLUMNS, NUM_POPULATIONS = 32, 3, 512
CONFIG = ProjectionConfig(
    num_steps=200, batch_size=64, learning_rate=1e-2, num_neighbours=8, width=16, learn_epsilon=True
)


def test_energy_score_is_the_double_sum(key):
    particles = jax.random.normal(key, (20, 3))
    log_weights = normalise(2 * particles[:, 0]).at[4].set(-jnp.inf)
    theta = jnp.array([0.3, -1.0, 2.0])
    weights = np.exp(np.asarray(log_weights, np.float64))
    weights /= weights.sum()
    points = np.asarray(particles, np.float64)
    expected = sum(w * np.linalg.norm(p - np.asarray(theta)) for w, p in zip(weights, points, strict=True))
    for first, a in zip(weights, points, strict=True):
        expected -= 0.5 * sum(first * w * np.linalg.norm(a - b) for w, b in zip(weights, points, strict=True))
    # Sums of 400 float32 terms of size one.
    np.testing.assert_allclose(energy_score(particles, log_weights, theta), expected, rtol=1e-5)


def test_nothing_scores_better_than_the_law_of_theta(key):
    """With Θ one of the particles, drawn by weights P, no other weights have a lower expected score."""
    particle_key, weight_key, other_key = jax.random.split(key, 3)
    particles = jax.random.normal(particle_key, (24, 2))
    law = normalise(2 * jax.random.normal(weight_key, (24,)))
    others = jax.vmap(normalise)(law[None, :] + jax.random.normal(other_key, (200, 24)))

    @jax.jit
    def expected(log_weights):
        return jnp.exp(law) @ jax.vmap(energy_score, (None, None, 0))(particles, log_weights, particles)

    assert (np.asarray(jax.lax.map(expected, others)) > float(expected(law))).all()


def made_populations(key, noise) -> Reweighted:
    """Θ is one of the particles, drawn by weights that are then disturbed by noise in their logarithm."""

    def one(key):
        particle_key, theta_key, noise_key = jax.random.split(key, 3)
        particles = jax.random.normal(particle_key, (NUM_PARTICLES, NUM_COLUMNS))
        log_law = normalise(-jnp.sum(particles**2, axis=1))
        theta = particles[jax.random.categorical(theta_key, log_law)]
        disturbance = noise * jax.random.normal(noise_key, (NUM_PARTICLES,))
        return Reweighted(particles, log_law, normalise(log_law + disturbance), theta, jnp.ones(NUM_COLUMNS))

    return jax.jit(jax.vmap(one))(jax.random.split(key, NUM_POPULATIONS))


@eqx.filter_jit
def held_out_gains(smoother, populations):
    def gain(population):
        log_weights = smoothed_weights(smoother, population, CONFIG.num_neighbours)
        before = population_score(population, population.log_weights, CONFIG.rest_weight)
        return before - population_score(population, log_weights, CONFIG.rest_weight)

    return jax.lax.map(gain, populations, batch_size=64)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "helps"), [(3.0, True), (0.0, False)])
def test_training_helps_where_weights_are_noisy_and_only_there(key, noise, helps):
    """On held-out populations, against five standard errors of the mean gain.

    Where the weights are the law of Θ the score is proper, and the best smoothing is none.
    """
    init_key, train_key, test_key, update_key = jax.random.split(key, 4)
    state = build(NUM_COLUMNS, CONFIG).init(init_key)
    assert float(state.smoother.epsilon) == pytest.approx(CONFIG.epsilon, abs=1e-6)
    state, infos = updates(update_key, state, made_populations(train_key, noise), CONFIG, CONFIG.num_steps)
    assert all(np.isfinite(leaf).all() for leaf in infos)
    gains = np.asarray(held_out_gains(state.smoother, made_populations(test_key, noise)))
    error = gains.std() / np.sqrt(NUM_POPULATIONS)
    if helps:
        assert gains.mean() > 5 * error
    else:
        assert gains.mean() < 5 * error
        assert float(state.smoother.epsilon) < CONFIG.epsilon


@pytest.mark.parametrize(
    "wrong", [{"num_steps": 0}, {"epsilon": 1.0}, {"learning_rate": 0.0}, {"rest_weight": -1.0}]
)
def test_an_impossible_choice_is_refused(wrong):
    with pytest.raises(ValueError, match=r"must be|strictly"):
        ProjectionConfig(**wrong)
