"""The prior: its samples, its density and its normaliser, against a plain numpy rejection sampler."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from dowsax.world.base import Prior
from dowsax.world.priors import PlumePrior, UniformBox

DEFAULT = PlumePrior()
LOG_PROB = jax.jit(DEFAULT.log_prob)
OTHER = PlumePrior(
    UniformBox((0, 1), (4, 3)), strength=(1, 2), diffusivity=(0.5, 9), max_speed=3, max_decay_length=2
)
PRIORS = pytest.mark.parametrize("prior", [DEFAULT, OTHER], ids=["default", "other"])
NUM_DRAWS = 20_000


def unconditioned(prior, seed, number):
    """Independent uniform draws in polar wind: (number, 7) and the speeds."""
    generator = np.random.default_rng(seed)
    place = generator.uniform(prior.location.low, prior.location.high, (number, 2))
    strength = generator.uniform(*prior.strength, number)
    speed, angle = generator.uniform(0, prior.max_speed, number), generator.uniform(0, 2 * np.pi, number)
    alpha = generator.uniform(*prior.diffusivity, number)
    length = generator.uniform(0, prior.max_decay_length, number)
    wind = [speed * np.cos(angle), speed * np.sin(angle)]
    return np.stack([*place.T, strength, *wind, alpha, length], axis=1), speed


def views(thetas):
    """The columns, and what the joint condition and the polar wind are about."""
    x, y, q, ux, uy, alpha, length = np.asarray(thetas, np.float64).T
    speed = np.hypot(ux, uy)
    return [x, y, q, ux, uy, alpha, length, speed, np.arctan2(uy, ux), length * speed / (2 * alpha)]


def test_meets_the_protocol():
    names = ["x", "y", "q", "ux", "uy", "alpha", "lambda"]
    assert isinstance(DEFAULT, Prior)
    assert [parameter.name for parameter in DEFAULT.parameters] == names


@PRIORS
def test_samples_lie_in_the_support(prior, key, draw):
    thetas = draw(prior, key)
    assert np.isfinite(jax.jit(jax.vmap(prior.log_prob))(thetas)).all()
    assert views(thetas)[-1].max() <= 1 + 1e-6


@PRIORS
def test_samples_match_a_rejection_sampler(prior, key, draw):
    """Every marginal, and that of λs/2α, by the two-sample Kolmogorov-Smirnov test at level 1e-4."""
    candidates, speed = unconditioned(prior, 0, 4 * NUM_DRAWS)
    accepted = candidates[candidates[:, 6] * speed <= 2 * candidates[:, 5]]
    for ours, theirs in zip(views(draw(prior, key)), views(accepted), strict=True):
        assert stats.ks_2samp(ours, theirs).pvalue > 1e-4


@PRIORS
def test_density_integrates_to_one(prior):
    """By importance sampling from the unconditioned distribution, within five standard errors."""
    candidates, speed = unconditioned(prior, 1, NUM_DRAWS)
    sides = np.subtract(prior.location.high, prior.location.low).prod()
    volume = sides * np.ptp(prior.strength) * np.ptp(prior.diffusivity) * prior.max_decay_length
    reference = 1 / (volume * 2 * np.pi * prior.max_speed * speed)
    log_prob = jax.jit(jax.vmap(prior.log_prob))(jnp.float32(candidates))
    ratios = np.exp(np.asarray(log_prob, np.float64)) / reference
    assert abs(ratios.mean() - 1) < 5 * ratios.std() / NUM_DRAWS**0.5


@pytest.mark.parametrize(
    ("alpha", "speed", "length"), [((1, 5), 6, 8), ((0.5, 9), 3, 2), ((5, 6), 1, 2), ((0.1, 0.2), 6, 8)]
)
def test_acceptance_matches_quadrature(alpha, speed, length):
    prior = PlumePrior(diffusivity=alpha, max_speed=speed, max_decay_length=length)
    total, _ = integrate.dblquad(
        lambda s, a: min(length, 2 * a / max(s, 1e-300)), *alpha, 0, speed, epsabs=1e-8, epsrel=1e-8
    )
    assert prior.acceptance == pytest.approx(total / (np.ptp(alpha) * speed * length), rel=1e-5)


def test_default_acceptance_is_that_of_the_specification():
    assert round(DEFAULT.acceptance, 4) == 0.3752


def test_calm_air_is_finite():
    theta = jnp.array([10.0, 10.0, 100.0, 0.0, 0.0, 2.0, 1.0])
    value, slope = jax.jit(jax.value_and_grad(DEFAULT.log_prob))(theta)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize(
    ("column", "value"),
    [(0, 4.9), (1, 20.1), (2, 9.0), (2, 3001.0), (3, 6.1), (5, 0.9), (5, 5.1), (6, 0.0), (6, 4.1), (6, -1.0)]
    + [(column, bad) for column in range(7) for bad in (np.nan, np.inf, -np.inf, 1e30)],
)
def test_outside_the_support_there_is_nothing(column, value):
    """λ = 4.1 m breaks λs ≤ 2α at s = 1 m/s and α = 2 m²/s; nothing is ever NaN."""
    theta = jnp.array([10.0, 10.0, 100.0, 1.0, 0.0, 2.0, 1.0])
    assert np.isfinite(LOG_PROB(theta))
    assert LOG_PROB(theta.at[column].set(value)) == -np.inf


@pytest.mark.parametrize(
    "wrong",
    [
        {"strength": (0.0, 10.0)},
        {"strength": (10.0, 10.0)},
        {"diffusivity": (-1.0, 5.0)},
        {"diffusivity": (1.0, float("inf"))},
        {"max_speed": 0.0},
        {"max_decay_length": float("nan")},
    ],
    ids=str,
)
def test_refuses_ranges_without_sense(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))) as caught:
        PlumePrior(**wrong)
    assert "\n" not in str(caught.value)
