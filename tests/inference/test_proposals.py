"""Proposals for moves: their laws, and the ratio of the one that is not symmetric, by brute force."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference.proposals import (
    AttentionLangevin,
    DifferentialEvolution,
    Population,
    Proposal,
    RandomWalk,
    SourceEvolution,
    freeze,
)

NUM_DRAWS = 4000
LOW, HIGH = 0.3, 1.3


def many(proposal, key, current, population, step_size=1.0):
    """(draws, d, n) proposals and (draws, n) log ratios from independent keys."""
    propose = jax.jit(
        jax.vmap(lambda key: proposal(key, current, population, jnp.asarray(step_size, jnp.float32)))
    )
    proposed, log_ratios = propose(jax.random.split(key, NUM_DRAWS))
    return np.asarray(proposed, float), np.asarray(log_ratios, float)


@pytest.mark.parametrize("proposal", [RandomWalk(), DifferentialEvolution(), AttentionLangevin()])
def test_meets_the_protocol(proposal):
    assert isinstance(proposal, Proposal)


def test_freeze_factors_the_covariance(key):
    factor = jnp.array([[2.0, 0.0], [30.0, 5.0]])
    columns = factor @ jax.random.normal(key, (2, 500))
    population = freeze(columns)
    covariance = np.cov(np.asarray(columns, float), ddof=0)
    floor = 1e-6 * np.trace(covariance) / 2
    expected = np.linalg.cholesky(covariance + floor * np.eye(2))
    np.testing.assert_allclose(population.factor, expected, rtol=1e-4, atol=1e-3)


def test_freeze_counts_particles_by_their_weights(key):
    """Against NumPy's weighted covariance."""
    columns = jax.random.normal(key, (3, 200)) * jnp.array([1.0, 20.0, 0.3])[:, None]
    log_weights = jax.nn.log_softmax(jax.random.normal(jax.random.fold_in(key, 1), (200,)))
    expected = np.cov(np.asarray(columns, float), ddof=0, aweights=np.exp(np.asarray(log_weights, float)))
    factor = np.asarray(freeze(columns, log_weights).factor, float)
    np.testing.assert_allclose(factor @ factor.T, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "columns",
    [
        jnp.ones((3, 20)),
        jnp.zeros((3, 20)).at[0].set(jnp.arange(20.0)),
        jnp.ones((3, 20)).at[1, 3].set(jnp.inf),
        jnp.ones((3, 20)).at[1].set(1e30),
    ],
    ids=["a point", "a line", "an infinity", "huge"],
)
def test_a_population_without_width_gives_a_finite_factor(columns):
    assert np.isfinite(freeze(columns).factor).all()


def test_random_walk_has_the_population_covariance(key):
    r"""$E[\delta\delta^\top] = h^2 E[s^2] \Sigma$, $E[s^2] = (b^2 - a^2)/(2 \ln(b/a))$ for log-uniform s."""
    factor = jnp.array([[2.0, 0.0], [-3.0, 0.5]])
    step_size, num_particles = 0.7, 3
    current = jnp.ones((2, num_particles))
    population = Population(current, factor, None)
    proposed, log_ratios = many(RandomWalk((LOW, HIGH)), key, current, population, step_size)
    assert (log_ratios == 0).all()
    scale = step_size * 2.38 / math.sqrt(2)
    whitened = np.linalg.solve(np.asarray(factor, float), proposed - 1) / scale
    second = (HIGH**2 - LOW**2) / (2 * math.log(HIGH / LOW))
    # One particle of each draw: those of one draw may share their scale.
    for particle in range(num_particles):
        products = np.einsum("ki,kj->kij", whitened[:, :, particle], whitened[:, :, particle])
        error = products.std(0) / NUM_DRAWS**0.5
        assert (np.abs(products.mean(0) - second * np.eye(2)) < 5 * error).all()
        steps = whitened[:, :, particle]
        assert (np.abs(steps.mean(0)) < 5 * steps.std(0) / NUM_DRAWS**0.5).all()


def test_differential_evolution_takes_two_others(key):
    """With the unit vectors as population the step itself says which particles were taken.

    Every ordered pair of two others is as likely as the next, so the reverse step is as likely too.
    """
    num_particles = 6
    population = Population(jnp.eye(num_particles), jnp.eye(num_particles), None)
    current = jnp.full((num_particles, num_particles), 9.0)
    proposed, log_ratios = many(DifferentialEvolution((LOW, HIGH)), key, current, population, 0.5)
    assert (log_ratios == 0).all()
    steps = proposed - 9
    plus, minus = steps.argmax(axis=1), steps.argmin(axis=1)
    own = np.arange(num_particles)[None, :]
    assert (plus != own).all()
    assert (minus != own).all()
    assert (np.sum(np.abs(steps) > 1e-4, axis=1) == 2).all()
    gamma = steps.max(axis=1)
    np.testing.assert_allclose(-steps.min(axis=1), gamma, rtol=1e-4)
    share = gamma / (0.5 * 2.38 / math.sqrt(2 * num_particles))
    assert share.min() > LOW * 0.999
    assert share.max() < HIGH * 1.001
    num_pairs = (num_particles - 1) * (num_particles - 2)
    for particle in (0, 3, 5):
        pairs = plus[:, particle] * num_particles + minus[:, particle]
        counts = np.bincount(pairs, minlength=num_particles**2)
        counts = counts[counts > 0]
        assert len(counts) == num_pairs
        assert np.abs(counts / NUM_DRAWS - 1 / num_pairs).max() < 5 / math.sqrt(num_pairs * NUM_DRAWS)


def test_moves_of_several_sources_leave_the_other_parts_alone(key):
    """All rows, those of one source, or those that sources share; each is drawn as often as it says."""
    columns = jax.random.normal(key, (7, 40))
    proposal = SourceEvolution(((0, 1), (5, 6)))
    proposed, log_ratios = many(proposal, key, columns, Population(columns, jnp.eye(7), None))
    assert (log_ratios == 0).all()
    moved = (proposed != np.asarray(columns)).all(axis=2)
    expected = {(0, 1): 0.2, (5, 6): 0.2, (2, 3, 4): 0.2, tuple(range(7)): 0.4}
    drawn = [tuple(np.flatnonzero(each).tolist()) for each in moved]
    assert set(drawn) == set(expected)
    for rows, share in expected.items():
        assert abs(drawn.count(rows) / NUM_DRAWS - share) < 5 * math.sqrt(share * (1 - share) / NUM_DRAWS)
    # Sources that share nothing have no fourth kind of move.
    alone = many(
        SourceEvolution(((0, 1, 2), (3, 4, 5, 6))), key, columns, Population(columns, jnp.eye(7), None)
    )
    assert np.isfinite(alone[0]).all()


def direction(point, own, columns, gradients, factor, num_neighbours):
    """The attention-weighted gradient at a point, one particle at a time, in double precision."""
    centre = columns.mean(axis=1)
    whiten = np.linalg.inv(factor)
    query = whiten @ (point - centre)
    others = [other for other in range(columns.shape[1]) if other != own]
    embedded = {other: whiten @ (columns[:, other] - centre) for other in others}
    nearest = sorted(others, key=lambda other: np.sum((embedded[other] - query) ** 2))[:num_neighbours]
    scores = np.array([query @ embedded[other] / math.sqrt(len(query)) for other in nearest])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    return sum(share * gradients[:, other] for share, other in zip(shares, nearest, strict=True))


def log_normal(point, centre, covariance):
    offset = point - centre
    return -0.5 * offset @ np.linalg.solve(covariance, offset)


@pytest.mark.parametrize(("num_neighbours", "step_size"), [(5, 1.0), (16, 0.6), (64, 1.5)])
def test_langevin_ratio_is_that_of_the_two_densities(num_neighbours, step_size, key):
    r"""$\log q(\Theta \mid \Theta') - \log q(\Theta' \mid \Theta)$, both densities written out."""
    draw_key, gradient_key, current_key, move_key = jax.random.split(key, 4)
    factor = jnp.array([[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [-5.0, 3.0, 4.0]])
    columns = factor @ jax.random.normal(draw_key, (3, 30))
    gradients = jnp.linalg.inv(factor).T @ (2 * jax.random.normal(gradient_key, (3, 30)))
    # Not at the start any more: the frozen population and the present particles are two things.
    current = columns + factor @ (0.5 * jax.random.normal(current_key, (3, 30)))
    population = freeze(columns, gradients=gradients)
    proposal = AttentionLangevin(num_neighbours, step=0.8)
    proposed, log_ratios = jax.jit(proposal)(move_key, current, population, jnp.float32(step_size))
    frozen = [np.asarray(part, float) for part in (columns, gradients, population.factor)]
    old, new = np.asarray(current, float), np.asarray(proposed, float)
    step = 0.8 * step_size
    covariance = frozen[2] @ frozen[2].T
    for own in range(30):
        there = old[:, own] + 0.5 * step**2 * covariance @ direction(
            old[:, own], own, *frozen, num_neighbours
        )
        back = new[:, own] + 0.5 * step**2 * covariance @ direction(new[:, own], own, *frozen, num_neighbours)
        expected = log_normal(old[:, own], back, step**2 * covariance)
        expected -= log_normal(new[:, own], there, step**2 * covariance)
        # Squares of a few tens in float32, whitened by a factor with a condition number of about thirty.
        assert abs(float(log_ratios[own]) - expected) < 1e-3 * (1 + abs(expected))
    assert np.abs(log_ratios).max() > 0.3


def test_langevin_follows_the_gradient(key):
    """With the same gradient everywhere the drift is half the squared step times Σ times it."""
    draw_key, move_key = jax.random.split(key)
    columns = jax.random.normal(draw_key, (2, 40))
    gradient = np.array([3.0, -1.0])
    population = freeze(columns, gradients=jnp.asarray(np.repeat(gradient[:, None], 40, axis=1), jnp.float32))
    proposed, _ = many(AttentionLangevin(step=0.5), move_key, columns, population)
    covariance = np.asarray(population.factor, float) @ np.asarray(population.factor, float).T
    drift = proposed.mean(0) - np.asarray(columns, float)
    error = proposed.std(0) / NUM_DRAWS**0.5
    assert (np.abs(drift - 0.125 * (covariance @ gradient)[:, None]) < 5 * error).all()
