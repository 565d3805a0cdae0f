"""Moves of the population: how many, when they end, and how their length adapts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference.proposals import DifferentialEvolution, RandomWalk, freeze
from dowsax.inference.rejuvenation import (
    TARGET_ACCEPTANCE,
    Density,
    adapt_step_size,
    log_target,
    metropolis_step,
    rejuvenate,
    start_correlation,
)

NUM_PARTICLES = 256
ONE = jnp.ones(())
WALK = RandomWalk()


def standard_normal(columns):
    """N(0, I) in three parts."""
    value = -0.5 * jnp.sum(columns**2, axis=0)
    return Density(0.5 * value, 0.25 * value, 0.25 * value)


def moves(num_moves, max_moves, forgetting=0.3, proposal=WALK):
    """A compiled function (key, columns, step size) -> Moved, on the standard normal."""

    def run(key, columns, step_size):
        return rejuvenate(
            key,
            freeze(columns),
            standard_normal(columns),
            ONE,
            step_size,
            proposals=(proposal,),
            evaluate=standard_normal,
            num_moves=num_moves,
            max_moves=max_moves,
            forgetting=forgetting,
        )

    return jax.jit(run)


def test_remembered_is_the_largest_correlation(key):
    start_key, now_key = jax.random.split(key)
    start = jnp.array([[100.0], [1.0], [1e-3]]) * jax.random.normal(start_key, (3, 200)) + 50.0
    now = jnp.array([[0.2], [-0.9], [0.6]]) * (start - 50.0) / start.std(axis=1, keepdims=True)
    now = now + jax.random.normal(now_key, (3, 200)) - 7.0
    expected = max(np.corrcoef(np.asarray(start[row]), np.asarray(now[row]))[0, 1] for row in range(3))
    assert abs(float(start_correlation(start, now)) - expected) < 1e-3
    assert abs(float(start_correlation(start, start)) - 1) < 1e-3
    assert abs(float(start_correlation(start, -start)) + 1) < 1e-3


def test_a_coordinate_without_width_remembers_nothing(key):
    """No division by zero, and no end put off for ever."""
    flat = jnp.ones((1, 50))
    assert float(start_correlation(flat, flat)) == 0
    values = jax.random.normal(key, (1, 50))
    assert (
        abs(float(start_correlation(jnp.concatenate([flat, values]), jnp.concatenate([flat, values]))) - 1)
        < 1e-5
    )


def test_adapted_is_at_rest_at_the_wanted_acceptance():
    step_size = jnp.float32(0.8)
    assert abs(float(adapt_step_size(step_size, jnp.float32(TARGET_ACCEPTANCE))) - 0.8) < 1e-6
    rates = jnp.linspace(0, 1, 11)
    sizes = np.asarray(jax.vmap(lambda rate: adapt_step_size(step_size, rate))(rates))
    assert (np.diff(sizes) > 0).all()
    # It stays in bounds however long all or none are accepted.
    low = high = step_size
    for _ in range(100):
        low, high = adapt_step_size(low, jnp.zeros(())), adapt_step_size(high, ONE)
    assert 0 < low < 0.8 < high < 10


@pytest.mark.parametrize("num_moves", [1, 3, 10])
def test_a_fixed_number_of_moves_is_kept(num_moves, key):
    columns = jax.random.normal(key, (2, NUM_PARTICLES))
    done = moves(num_moves, num_moves)(key, columns, ONE)
    assert done.num_moves == num_moves
    assert 0 < done.acceptance_rate < 1
    # What is kept of the density is the density where the particles are.
    for ours, exact in zip(done.density, standard_normal(done.columns), strict=True):
        np.testing.assert_allclose(ours, exact, rtol=1e-5, atol=1e-6)


def test_acceptance_counts_the_particles_that_moved(key):
    columns = jax.random.normal(key, (2, NUM_PARTICLES))
    done = moves(1, 1)(key, columns, ONE)
    share = np.mean(np.any(np.asarray(done.columns != columns), axis=0))
    assert abs(float(done.acceptance_rate) - share) < 1e-6


def test_moves_end_when_the_start_is_forgotten(key):
    """At the first move after which the correlation is small enough, and not one before."""
    columns = jax.random.normal(key, (2, NUM_PARTICLES))
    done = moves(1, 60)(key, columns, ONE)
    count = int(done.num_moves)
    assert 2 < count < 60
    assert float(start_correlation(columns, done.columns)) <= 0.3
    # The same key leads the same way.
    earlier = moves(count - 1, count - 1)(key, columns, ONE)
    assert float(start_correlation(columns, earlier.columns)) > 0.3


def test_the_least_and_the_most_moves_are_kept(key):
    columns = jax.random.normal(key, (2, NUM_PARTICLES))
    assert moves(4, 9, forgetting=-2.0)(key, columns, ONE).num_moves == 9
    assert moves(4, 9, forgetting=2.0)(key, columns, ONE).num_moves == 4


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("proposal", [RandomWalk(), DifferentialEvolution()], ids=["walk", "evolution"])
@pytest.mark.parametrize("start", [0.15, 2.8])
def test_step_size_finds_the_wanted_acceptance(proposal, start, key):
    """From steps too short and too long, in six dimensions: the mean rate of the last 40 rounds."""
    columns = jax.random.normal(key, (6, NUM_PARTICLES))
    run = moves(4, 4, proposal=proposal)

    def number(step_size, key):
        done = run(key, columns, step_size)
        return adapt_step_size(step_size, done.acceptance_rate), done.acceptance_rate

    _, rates = jax.jit(lambda keys: jax.lax.scan(number, jnp.float32(start), keys))(jax.random.split(key, 80))
    late = np.asarray(rates[40:], float)
    # At rest the log step sizes of the late rounds drift no further than their bounds allow.
    assert abs(late.mean() - TARGET_ACCEPTANCE) < 5 * late.std() / 40**0.5 + 0.01
    assert abs(float(rates[0]) - TARGET_ACCEPTANCE) > 0.1


@pytest.mark.parametrize("value", [-jnp.inf, jnp.nan])
def test_impossible_proposals_are_rejected(value, key):
    """A density of zero, or none at all, is never accepted; all others are accepted as before."""

    def evaluate(columns):
        return standard_normal(columns)._replace(past_log_likelihood=jnp.where(columns[0] > 0, 0.0, value))

    columns = jnp.abs(jax.random.normal(key, (2, NUM_PARTICLES)))
    propose = lambda key, at: (at + jax.random.normal(key, at.shape), jnp.zeros(at.shape[1]))  # noqa: E731
    step = jax.jit(lambda key: metropolis_step(key, columns, evaluate(columns), ONE, propose, evaluate))
    new, density, accepted = step(key)
    assert (np.asarray(new[0]) > 0).all()
    assert np.isfinite(log_target(density, ONE)).all()
    assert 0.1 < np.mean(accepted) < 0.9
    assert (np.asarray(new == columns).all(axis=0) == ~np.asarray(accepted)).all()
