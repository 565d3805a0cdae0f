"""The filter against posteriors and evidences in closed form, and what it says of itself."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conjugate import MODEL, Additive, StandardNormal, assert_centred, linear, posterior, repeat, runner
from scipy import stats

from dowsax.inference import (
    DEFAULT,
    AttentionConfig,
    AttentionLangevin,
    FilterConfig,
    KLDBudget,
    RandomWalk,
    build,
    multinomial,
    residual,
    stratified,
    systematic,
)
from dowsax.inference.grid import Grid
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Drift, Identity, Jump, Model, benchmark_model

NUM_RUNS = 40
SIZE = {"num_particles": 200, "horizon": 12}
POSITIONS = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 2.0], [0.0, 1.0], [2.0, 1.0], [1.0, -1.0]])
READINGS = np.array([1.2, 0.3, -2.1, 0.4, 2.5, 2.0])


@functools.cache
def as_it_comes():
    """The filter without any choice made, for any noise."""
    return runner(
        lambda noise: build(Model(StandardNormal(), linear, Additive(noise)), FilterConfig(**SIZE)), NUM_RUNS
    )


EXACT = {
    "as it comes": (FilterConfig(**SIZE), None),
    "no tempering": (FilterConfig(temper=False, **SIZE), {"proposals": (RandomWalk(), AttentionLangevin())}),
    "no moves": (FilterConfig(num_moves=0, **SIZE), {}),
    "plain": (FilterConfig(temper=False, num_moves=0, **SIZE), {"resample": systematic}),
    "stratified": (FilterConfig(temper=False, num_moves=0, **SIZE), {"resample": stratified}),
    "multinomial": (FilterConfig(temper=False, num_moves=0, **SIZE), {"resample": multinomial}),
    "residual": (FilterConfig(temper=False, num_moves=0, **SIZE), {"resample": residual}),
}


def assert_exact(results, positions, readings, noise=1.0):
    """Mean, standard deviation and evidence over independent runs."""
    means, stds, evidences = results
    mean, covariance, evidence = posterior(positions, readings, noise)
    std = np.sqrt(np.diag(covariance))
    assert_centred(means, mean, std)
    assert_centred(stds, std, std)
    # The evidence itself, not its logarithm, is estimated without bias.
    assert_centred(np.exp(evidences - evidence), 1.0, 1.0)


def no_nan(tree):
    return all(
        not np.isnan(np.asarray(leaf)).any()
        for leaf in jax.tree.leaves(tree)
        if jnp.issubdtype(leaf.dtype, jnp.floating)
    )


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("name", EXACT)
def test_matches_the_conjugate_posterior(name, key):
    """Mean, spread and evidence of a linear Gaussian model, whatever parts the filter is made of."""
    config, parts = EXACT[name]
    if parts is None:
        results, beliefs, infos = as_it_comes()(key, POSITIONS, READINGS)
    else:
        results, beliefs, infos = repeat(build(MODEL, config, **parts), key, POSITIONS, READINGS, NUM_RUNS)
    assert_exact(results, POSITIONS, READINGS)
    assert no_nan((beliefs, infos))
    assert np.asarray(infos.explained).all()
    np.testing.assert_allclose(np.asarray(infos.log_evidence).sum(1), beliefs.log_evidence, rtol=1e-4)
    assert (np.asarray(infos.ess) >= 1 - 1e-3).all()
    assert (np.asarray(infos.ess) <= SIZE["num_particles"] * (1 + 1e-3)).all()
    unique, resampled = np.asarray(infos.unique_ancestors), np.asarray(infos.resampled)
    assert (unique[~resampled] == SIZE["num_particles"]).all()
    assert ((unique >= 1) & (unique <= SIZE["num_particles"])).all()
    assert (np.asarray(infos.stages) >= 1).all()
    if not config.temper:
        assert (np.asarray(infos.stages) == 1).all()
    rates = np.asarray(infos.acceptance_rate)
    assert ((rates > 0) == (resampled & (config.num_moves > 0))).all()
    assert (np.asarray(infos.evaluations) >= SIZE["num_particles"]).all()
    assert (np.asarray(beliefs.history.size) == len(READINGS)).all()
    np.testing.assert_allclose(np.exp(beliefs.log_weights).sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("name", ["as it comes", "no moves", "plain"])
def test_resamples_just_below_the_threshold(name, key):
    """At every reading that leaves an effective sample size below η·n, and at no other."""
    config, parts = EXACT[name]
    if parts is None:
        _, _, infos = as_it_comes()(key, POSITIONS, READINGS)
    else:
        _, _, infos = repeat(build(MODEL, config, **parts), key, POSITIONS, READINGS, NUM_RUNS)
    share, resampled = np.asarray(infos.ess) / SIZE["num_particles"], np.asarray(infos.resampled)
    assert (resampled == (share < config.ess_ratio)).all()
    # There are cases on both sides near enough to tell one threshold from another.
    assert ((share > 0.6 * config.ess_ratio) & resampled).any()
    assert ((share < 1.4 * config.ess_ratio) & ~resampled).any()


@pytest.mark.slow
def test_what_no_reading_tells_is_drawn_again(key):
    """The diffusivity, given what the field depends on: new after every move, and uniform as under the prior.

    Copies of a particle would otherwise carry the same number on and on.
    """
    model = benchmark_model("temperature")
    filter_ = DEFAULT.with_particles(256).with_horizon(3).build(model)
    step, belief = jax.jit(filter_.step), filter_.init(key)
    for at, (position, reading) in enumerate([((9.0, 9.0), 3.0), ((12.0, 11.0), 9.0), ((12.0, 12.0), 30.0)]):
        step_key = jax.random.fold_in(key, at)
        belief, info = step(step_key, belief, Station(jnp.array(position)), jnp.asarray(reading))
    assert bool(info.resampled)
    assert int(info.unique_ancestors) < 200
    free = np.asarray(jax.vmap(model.prior.coordinates.forward)(belief.particles)[:, -1], float)
    # A few draws may agree in single precision; copies would.
    assert len(np.unique(np.asarray(belief.particles)[:, 5])) > 250
    assert stats.kstest(free, "uniform").pvalue > 1e-4


def test_kept_log_likelihoods_are_those_of_the_particles(key):
    """After moves, resampling and parts of readings, the sum kept is that over all readings."""
    _, beliefs, _ = as_it_comes()(key, POSITIONS, READINGS)
    intensities = np.asarray(beliefs.particles, float) @ POSITIONS.T
    expected = np.sum(-0.5 * (READINGS - intensities) ** 2 - 0.5 * np.log(2 * np.pi), axis=-1)
    np.testing.assert_allclose(beliefs.log_likelihoods, expected, rtol=1e-4, atol=1e-3)


def test_constant_field(key):
    """Six readings of mean 2, unit noise: the posterior is N(12/7, 1/7), the other column stays N(0, 1)."""
    positions = np.tile([1.0, 0.0], (6, 1))
    readings = 2 + np.array([0.5, -0.5] * 3)
    mean, covariance, _ = posterior(positions, readings)
    np.testing.assert_allclose(mean, [12 / 7, 0], atol=1e-12)
    np.testing.assert_allclose(np.diag(covariance), [1 / 7, 1], atol=1e-12)
    results, _, _ = as_it_comes()(key, positions, readings)
    assert_exact(results, positions, readings)


def test_hugely_informative_readings_are_assimilated_in_parts(key):
    """Noise of a thousandth of the prior: no prior draw explains the readings, the parts lead there."""
    noise = 1e-3
    readings = POSITIONS @ np.array([1.5, -0.5]) + noise * np.array([0.5, -1.0, 0.3, 1.2, -0.4, 0.1])
    results, beliefs, infos = as_it_comes()(key, POSITIONS, readings, noise)
    assert_exact(results, POSITIONS, readings, noise)
    assert no_nan((beliefs, infos))
    assert (np.asarray(infos.stages)[:, :2] > 4).all()
    assert np.asarray(infos.explained).all()


def test_budget_keeps_fewer_particles_and_the_posterior(key):
    """With as many moves as it takes to forget the start."""
    budget = KLDBudget(error=0.1, minimum=64, grid=Grid((-4.0, -4.0), (4.0, 4.0)))
    config = FilterConfig(num_particles=400, horizon=12, num_moves=1, max_moves=20)
    filter_ = build(MODEL, config, budget=budget, proposals=(RandomWalk(),))
    results, beliefs, infos = repeat(filter_, key, POSITIONS, READINGS, NUM_RUNS)
    assert_exact(results, POSITIONS, READINGS)
    active = np.sum(np.asarray(beliefs.log_weights) > -np.inf, axis=1)
    assert (active >= 64).all()
    assert active.mean() < 200
    assert no_nan((beliefs, infos))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    "choices",
    [
        {"attention": AttentionConfig(), "mixing": 0.1, "smooth_first": True},
        {"attention": AttentionConfig(), "smooth_first": False, "temper": False},
    ],
    ids=["attention and mixing before", "attention after"],
)
def test_smoothing_keeps_a_valid_belief(choices, key):
    """It may bias the weights, which moves mend in part; the mean stays within one standard deviation."""
    filter_ = build(MODEL, FilterConfig(**SIZE, **choices))
    (means, stds, evidences), beliefs, infos = repeat(filter_, key, POSITIONS, READINGS, 10)
    assert no_nan((beliefs, infos))
    np.testing.assert_allclose(np.exp(beliefs.log_weights).sum(1), 1, rtol=1e-4)
    mean, covariance, _ = posterior(POSITIONS, READINGS)
    std = np.sqrt(np.diag(covariance))
    assert (np.abs(means.mean(0) - mean) < std).all()
    assert (stds.mean(0) > 0.5 * std).all()
    assert np.isfinite(evidences).all()


def test_full_uniform_mixing_forgets_the_readings(key):
    """ρ = 1 after every reading and no moves: the particles are prior draws of equal weight."""
    filter_ = build(
        MODEL, FilterConfig(mixing=1.0, smooth_first=False, temper=False, num_moves=0, ess_ratio=1e-6, **SIZE)
    )
    _, beliefs, _ = repeat(filter_, key, POSITIONS, READINGS, 2)
    np.testing.assert_allclose(beliefs.log_weights, -np.log(SIZE["num_particles"]), rtol=1e-5)


class Bounded(eqx.Module):
    """Uniform noise on ±1: most particles are impossible after a reading."""

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return intensity + jax.random.uniform(key, minval=-1.0, maxval=1.0)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return jnp.where(jnp.abs(reading - intensity) <= 1, -jnp.log(2.0), -jnp.inf)


BOUNDED = Model(StandardNormal(), linear, Bounded())


@functools.cache
def bounded(**choices):
    return runner(lambda _: build(BOUNDED, FilterConfig(**SIZE, **choices)), NUM_RUNS)


def test_impossible_particles_leave_a_truncated_posterior(key):
    """The readings allow the first column only [0.5, 1.8]: a truncated normal, its mass the evidence."""
    positions, readings = np.tile([1.0, 0.0], (3, 1)), np.array([1.5, 0.8, 0.8])
    (means, stds, evidences), beliefs, infos = bounded()(key, positions, readings)
    exact = stats.truncnorm(0.5, 1.8)
    assert_centred(means, [exact.mean(), 0.0], [exact.std(), 1.0])
    assert_centred(stds, [exact.std(), 1.0], [exact.std(), 1.0])
    mass = stats.norm.cdf(1.8) - stats.norm.cdf(0.5)
    assert_centred(np.exp(evidences) / (mass / 8), 1.0, 1.0)
    assert np.asarray(infos.explained).all()
    assert no_nan((beliefs, infos))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    "choices",
    [{}, {"temper": False, "attention": AttentionConfig(), "smooth_first": False}],
    ids=["tempered", "at once, attention after"],
)
def test_a_reading_that_nothing_explains_is_said_to_be_so(choices, key):
    """No particle is left: not explained from there on, no weight anywhere, and never a NaN."""
    _, beliefs, infos = bounded(**choices)(key, np.ones((3, 2)), np.array([0.5, 1e6, 0.5]))
    assert np.asarray(infos.explained).tolist() == [[True, False, False]] * NUM_RUNS
    assert np.isneginf(beliefs.log_weights).all()
    assert np.isneginf(beliefs.log_evidence).all()
    assert no_nan((beliefs, infos))


def test_belief_keeps_its_types(key):
    """What comes out of a step has the shapes, types and strengths of what goes in: a step traces once."""
    filter_ = build(MODEL, FilterConfig(num_particles=32, horizon=4, max_moves=9))
    before = jax.eval_shape(filter_.init, key)
    after, _ = jax.eval_shape(filter_.step, key, before, Station(jnp.ones(2)), jnp.ones(()))
    kinds = [
        [(leaf.shape, leaf.dtype, leaf.weak_type) for leaf in jax.tree.leaves(tree)]
        for tree in (before, after)
    ]
    assert kinds[0] == kinds[1]


class Wobble(eqx.Module):
    """A transition of a user's own."""

    def sample(self, key: Key, theta: Theta) -> Theta:
        return theta + 0.1 * jax.random.normal(key, theta.shape)

    def log_prob(self, new: Theta, old: Theta) -> Scalar:
        return jnp.sum(jax.scipy.stats.norm.logpdf(new, old, 0.1))


@pytest.mark.parametrize("transition", [Drift(Identity(), jnp.ones(2)), Wobble()], ids=["drift", "own"])
def test_moves_are_refused_where_the_source_drifts(transition):
    """The present Θ is not the one of earlier readings: replaying them for it would be wrong."""
    with pytest.raises(ValueError, match="num_moves"):
        build(MODEL, FilterConfig(num_moves=1, **SIZE), transition=transition)


def test_an_importance_proposal_needs_a_drift():
    for transition in (None, Jump()):
        with pytest.raises(ValueError, match="transition"):
            build(MODEL, FilterConfig(**SIZE), transition=transition, importance=Importance())


class Importance(eqx.Module):
    """A proposal in name only."""

    def sample(self, key: Key, theta: Theta, station: Station, reading: Scalar) -> Theta:
        return theta

    def log_prob(self, new: Theta, old: Theta, station: Station, reading: Scalar) -> Scalar:
        return jnp.zeros(())


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_particles": 15},
        {"ess_ratio": 0.0},
        {"ess_ratio": 1.5},
        {"num_moves": 9, "max_moves": 8},
        {"mixing": 1.1},
        {"horizon": 0},
        {"max_stages": 0},
    ],
)
def test_impossible_choices_are_refused(wrong):
    with pytest.raises(ValueError, match="`"):
        FilterConfig(**wrong)
