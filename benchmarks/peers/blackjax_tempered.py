"""Adaptive tempered SMC by blackjax (1.7 or later) on all readings at once, from prior to posterior."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from blackjax import rmh
from blackjax.smc import adaptive_tempered, resampling
from jax import Array

from benchmarks.peers import model, model_jax
from benchmarks.peers.result import PeerResult, Stopwatch


def _random_walk(key: Array, state, log_density, factor: Array):
    """One `rmh` step whose proposal is Normal(θ, LLᵀ)."""

    def propose(noise_key: Array, theta: Array) -> Array:
        return theta + factor @ jax.random.normal(noise_key, theta.shape)

    return rmh.build_kernel()(key, state, log_density, propose)


def _factor(particles: Array, weights: Array, scale: float) -> Array:
    """Cholesky factor of the population's covariance, times `scale`."""
    centred = particles - weights @ particles
    covariance = (centred * weights[:, None]).T @ centred
    return scale * jnp.linalg.cholesky(covariance + 1e-8 * jnp.eye(7))


@cache
def _compiled(
    field: str, num_readings: int, num_particles: int, num_moves: int, target_ess: float, scale: float
):
    """The whole sampler, compiled for one field and one length of survey."""

    def sample(key: Array, particles: Array, positions: Array, readings: Array) -> tuple[Array, Array]:
        kernel = adaptive_tempered.build_kernel(
            model_jax.log_prior,
            lambda theta: model_jax.log_likelihood(field, theta, positions, readings),
            _random_walk,
            rmh.init,
            resampling.systematic,
            target_ess,
        )

        def step(carry):
            key, state = carry
            key, step_key = jax.random.split(key)
            parameters = {"factor": _factor(state.particles, state.weights, scale)[None]}
            state, _ = kernel(step_key, state, num_moves, parameters)
            return key, state

        start = adaptive_tempered.init(particles)._replace(tempering_param=jnp.zeros(()))
        _, state = jax.lax.while_loop(lambda carry: carry[1].tempering_param < 1, step, (key, start))
        return state.particles, state.weights

    shapes = [(num_particles, 7), (num_readings, 2), (num_readings,)]
    arrays = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    return jax.jit(sample).lower(jax.random.key(0), *arrays).compile()


def run(
    field: str,
    positions: np.ndarray,
    readings: np.ndarray,
    seed: int,
    *,
    num_particles: int = 5000,
    num_moves: int = 10,
    target_ess: float = 0.5,
    scale: float = 2.38 / 7**0.5,
) -> PeerResult:
    """`num_moves` moves a temperature, which falls so that ESS = `target_ess`·n."""
    sample = _compiled(field, len(readings), num_particles, num_moves, target_ess, scale)
    key = jax.random.key(seed)
    with Stopwatch() as stopwatch:
        drawn = model.sample_prior(np.random.default_rng(seed), num_particles)
        start = jnp.asarray(model.to_coordinates(drawn), jnp.float32)
        survey = jnp.asarray(positions, jnp.float32), jnp.asarray(readings, jnp.float32)
        particles, weights = (np.asarray(part, float) for part in sample(key, start, *survey))
    return PeerResult(model.from_coordinates(particles), weights / weights.sum(), stopwatch.seconds)
