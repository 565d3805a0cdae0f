"""How much of a reading is taken in: as much as the ESS allows, at every scale of the likelihood."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference.tempering import next_exponent
from dowsax.inference.weights import normalise

NUM_PARTICLES = 400
exponent_after = jax.jit(next_exponent)


def size_after(log_weights, new_log_likelihood, step):
    """The ESS after a step, in double precision."""
    log_weights = np.asarray(log_weights, float) + float(step) * np.asarray(new_log_likelihood, float)
    weights = np.exp(log_weights - log_weights.max())
    return weights.sum() ** 2 / (weights**2).sum()


def step_from(log_weights, new_log_likelihood, exponent, wanted):
    exponent = jnp.float32(exponent)
    return exponent_after(log_weights, new_log_likelihood, exponent, jnp.float32(wanted)) - exponent


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("spread", [1.0, 30.0, 1e3, 1e6, 1e12])
def test_keeps_the_wanted_size(spread, share, key):
    """At the step the ESS is the wanted one or more; one hundredth of a decade on it is less.

    Three passes over sixteen points leave 15⁻³ of the bracket, which is fifteen decades at the most.
    """
    log_weights = normalise(jnp.zeros(NUM_PARTICLES))
    new_log_likelihood = spread * jax.random.normal(key, (NUM_PARTICLES,))
    wanted = share * NUM_PARTICLES
    step = float(step_from(log_weights, new_log_likelihood, 0.0, wanted))
    assert 0 < step <= 1
    assert size_after(log_weights, new_log_likelihood, step) > wanted * (1 - 1e-3)
    if step < 1:
        assert size_after(log_weights, new_log_likelihood, step * 10**0.01) < wanted


@pytest.mark.parametrize("spread", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("exponent", [0.0, 0.4, 0.99])
def test_is_one_when_the_rest_is_harmless(spread, exponent, key):
    log_weights = normalise(jnp.zeros(NUM_PARTICLES))
    new_log_likelihood = -1e3 + spread * jax.random.normal(key, (NUM_PARTICLES,))
    step = step_from(log_weights, new_log_likelihood, exponent, 0.5 * NUM_PARTICLES)
    assert jnp.float32(exponent) + step == 1


@pytest.mark.parametrize("exponent", [0.0, 1e-6, 0.1, 0.9])
@pytest.mark.parametrize("spread", [1.0, 30.0, 1e4])
def test_goes_on_from_any_exponent(spread, exponent, key):
    """Every step is forward and none beyond one, as long as float32 can tell the two exponents apart."""
    log_weights = normalise(jnp.zeros(NUM_PARTICLES))
    new_log_likelihood = spread * jax.random.normal(key, (NUM_PARTICLES,))
    step = float(step_from(log_weights, new_log_likelihood, exponent, 0.5 * NUM_PARTICLES))
    assert step > 0
    assert exponent + step < 1 + 1e-6


def test_impossible_particles_do_not_count(key):
    """Particles that the reading excludes are lost at the smallest step; the rest decides on its length."""
    log_weights = normalise(jnp.zeros(NUM_PARTICLES))
    new_log_likelihood = 50 * jax.random.normal(key, (NUM_PARTICLES,)).at[:100].set(-jnp.inf)
    wanted = 0.5 * NUM_PARTICLES
    step = float(step_from(log_weights, new_log_likelihood, 0.0, wanted))
    assert 0 < step < 1
    assert size_after(log_weights[100:], new_log_likelihood[100:], step) > wanted * (1 - 1e-3)
    assert size_after(log_weights[100:], new_log_likelihood[100:], step * 10**0.01) < wanted


def test_still_goes_on_when_too_few_are_possible(key):
    """No step keeps the wanted size: the smallest is taken, and particles are drawn again."""
    new_log_likelihood = 50 * jax.random.normal(key, (NUM_PARTICLES,)).at[10:].set(-jnp.inf)
    step = float(step_from(normalise(jnp.zeros(NUM_PARTICLES)), new_log_likelihood, 0.0, 0.5 * NUM_PARTICLES))
    assert 0 < step < 1


def test_inactive_particles_do_not_count(key):
    """The likelihoods of particles outside the budget change nothing, whatever they are."""
    new_log_likelihood = 50 * jax.random.normal(key, (NUM_PARTICLES,))
    log_weights = normalise(jnp.zeros(NUM_PARTICLES).at[200:].set(-jnp.inf))
    steps = [
        float(step_from(log_weights, new_log_likelihood.at[200:].set(value), 0.0, 100.0))
        for value in (0.0, 1e6, -1e9, -jnp.inf)
    ]
    assert steps[0] > 0
    assert len(set(steps)) == 1
    assert size_after(log_weights[:200], new_log_likelihood[:200], steps[0]) > 100 * (1 - 1e-3)
