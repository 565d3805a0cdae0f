"""A source that changes: the weight formula against the Kalman filter, jumps against all jump times."""

import re
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conjugate import MODEL, NOISE, assert_centred, posterior, repeat
from scipy import stats

from dowsax.inference import FilterConfig, build
from dowsax.inference.belief import record
from dowsax.inference.jumps import NEVER, no_regimes
from dowsax.inference.prediction import predict
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Drift, Identity, Jump

NUM_RUNS = 40
WALK = 1.5
POSITIONS = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 2.0], [0.0, 1.0], [2.0, 1.0], [1.0, -1.0]])
READINGS = np.array([1.2, 0.3, -2.1, 0.4, 2.5, -2.0])


class Optimal(eqx.Module):
    r"""$q(\Theta' \mid \Theta, o) \propto p(\Theta' \mid \Theta)\, p(o \mid \Theta')$, a Gaussian."""

    walk: float
    noise: float

    def law(self, old: Theta, station: Station, reading: Scalar) -> tuple[Theta, jax.Array]:
        """Mean and lower Cholesky factor."""
        row = station.position
        gain = self.walk**2 * row / (self.walk**2 * jnp.dot(row, row) + self.noise**2)
        covariance = self.walk**2 * (jnp.eye(2) - jnp.outer(gain, row))
        return old + gain * (reading - jnp.dot(row, old)), jnp.linalg.cholesky(covariance)

    def sample(self, key: Key, theta: Theta, station: Station, reading: Scalar) -> Theta:
        mean, factor = self.law(theta, station, reading)
        return mean + factor @ jax.random.normal(key, (2,))

    def log_prob(self, new: Theta, old: Theta, station: Station, reading: Scalar) -> Scalar:
        mean, factor = self.law(old, station, reading)
        scaled = jax.scipy.linalg.solve_triangular(factor, new - mean, lower=True)
        return -0.5 * jnp.sum(scaled**2) - jnp.sum(jnp.log(jnp.diag(factor))) - jnp.log(2 * jnp.pi)


def kalman(positions, readings):
    """Mean, covariance and log evidence of the random walk, a step before every reading."""
    mean, covariance, evidence = np.zeros(2), np.eye(2), 0.0
    for row, reading in zip(positions, readings, strict=True):
        covariance = covariance + WALK**2 * np.eye(2)
        variance = row @ covariance @ row + NOISE**2
        evidence += stats.norm.logpdf(reading, row @ mean, variance**0.5)
        gain = covariance @ row / variance
        mean = mean + gain * (reading - row @ mean)
        covariance = covariance - np.outer(gain, row @ covariance)
    return mean, covariance, evidence


@pytest.mark.parametrize("importance", [None, Optimal(WALK, NOISE)], ids=["bootstrap", "optimal"])
def test_weights_agree_with_the_kalman_filter(importance, key):
    """Mean, spread and evidence of a linear Gaussian random walk, whatever proposes the next state."""
    config = FilterConfig(num_particles=400, horizon=8, temper=False, num_moves=0)
    filter_ = build(MODEL, config, transition=Drift(Identity(), jnp.full(2, WALK)), importance=importance)
    (means, stds, evidences), _, infos = repeat(filter_, key, POSITIONS, READINGS, NUM_RUNS)
    mean, covariance, evidence = kalman(POSITIONS, READINGS)
    std = np.sqrt(np.diag(covariance))
    assert_centred(means, mean, std)
    assert_centred(stds, std, std)
    assert_centred(np.exp(evidences - evidence), 1.0, 1.0)
    # Six factors of relative variance (1/ESS − 1/n) make up the evidence; no estimate need be worse.
    variance = np.mean(np.sum(1 / np.asarray(infos.ess, float), axis=1))
    assert evidences.std() < 2 * variance**0.5


def jumped(key, belief, jump):
    return predict(key, MODEL, belief, jump, None, Station(jnp.ones(2)), jnp.zeros(()))


@pytest.mark.slow
def test_newborns_weigh_as_much_as_the_hazard(key, as_belief):
    """Their mass is the hazard on average, over unevenly weighted particles; they begin with this reading."""
    jump = Jump(hazard=0.04, birth_share=0.2, columns=(0, 1))
    weight_key, jump_key = jax.random.split(key)
    belief = as_belief(jnp.full((300, 2), 50.0), 0.5 * jax.random.normal(weight_key, (300,)))
    belief = replace(
        belief, log_likelihoods=jnp.full(300, -3.0), starts=jnp.full(300, 2), earlier=no_regimes(300, jump)
    )
    belief = eqx.tree_at(lambda at: at.history.size, belief, jnp.asarray(7, jnp.int32))
    after = jax.jit(jax.vmap(lambda key: jumped(key, belief, jump)))(jax.random.split(jump_key, 400))
    born = np.asarray(after.particles[:, :, 0]) < 25
    assert_centred(born.mean(axis=1), jump.birth_share, 1.0)
    assert_centred(np.sum(np.exp(after.log_weights) * born, axis=1), jump.hazard, jump.hazard)
    assert (np.asarray(after.starts) == np.where(born, 7, 2)).all()
    # They remember where they were, and how well that explains the past.
    assert (np.asarray(after.log_likelihoods) == -3).all()
    assert (np.asarray(after.earlier.starts[:, :, 0]) == np.where(born, 2, NEVER)).all()
    assert (np.asarray(after.earlier.values[:, :, 0]) == np.where(born[:, :, None], 50.0, 0.0)).all()
    assert (np.asarray(after.earlier.starts[:, :, 1:]) == NEVER).all()
    assert_centred(np.exp(after.log_weights).sum(axis=1), 1.0, 1.0)
    # New sources are draws from the prior.
    fresh = np.asarray(after.particles)[born]
    assert (np.abs(fresh.mean(0)) < 5 / len(fresh) ** 0.5).all()
    assert (np.abs(fresh.var(0) - 1) < 5 * (2 / len(fresh)) ** 0.5).all()


def test_inactive_particles_stay_inactive(key, as_belief):
    jump = Jump(0.1, 0.5, columns=(0, 1))
    belief = as_belief(jnp.ones((40, 2)), jnp.zeros(40).at[20:].set(-jnp.inf))
    after = jumped(key, replace(belief, earlier=no_regimes(40, jump)), jump)
    assert np.isneginf(after.log_weights[20:]).all()
    assert np.isfinite(after.log_weights[:20]).all()


def test_no_hazard_is_no_transition(key):
    """The very same program, so the same bits: the stationary case does not pay."""
    config = FilterConfig(num_particles=64, horizon=8)

    def program(transition):
        filter_ = build(MODEL, config, transition=transition)
        arguments = (key, filter_.init(key), Station(jnp.ones(2)), jnp.ones(()))
        return re.sub("0x[0-9a-f]+", "", str(jax.make_jaxpr(filter_.step)(*arguments)))

    assert program(Jump(hazard=0.0)) == program(None)
    assert program(Jump(hazard=0.1)) != program(None)


def mixture(positions, readings, hazard):
    """Probabilities of the reading at which the present regime began, mean, std and log evidence."""
    num = len(readings)

    def evidence(start, stop):
        return posterior(positions[start:stop], readings[start:stop])[2] if stop > start else 0.0

    # joint[s] = p(regime began at s, readings so far)
    joint = np.zeros(num)
    for at in range(num):
        total = joint.sum() if at else 1.0
        for start in range(at):
            joint[start] *= (1 - hazard) * np.exp(evidence(start, at + 1) - evidence(start, at))
        joint[at] = (hazard if at else 1.0) * total * np.exp(evidence(at, at + 1))
    shares = joint / joint.sum()
    moments = [posterior(positions[start:], readings[start:]) for start in range(num)]
    means = np.stack([mean for mean, _, _ in moments])
    mean = shares @ means
    second = shares @ np.stack([np.diag(covariance) + mean**2 for mean, covariance, _ in moments])
    return shares, mean, np.sqrt(second - mean**2), np.log(joint.sum())


@pytest.mark.slow
def test_jumps_agree_with_all_jump_times(key):
    """The posterior is a mixture over the start of the present regime: shares, moments and evidence."""
    positions = np.tile([[1.0, 0.0], [0.6, 0.8]], (4, 1))
    readings = np.array([2.0, 2.2, 1.8, 2.5, -1.0, -0.5, -1.5, -0.2])
    jump = Jump(hazard=0.2, birth_share=0.3)
    filter_ = build(MODEL, FilterConfig(num_particles=400, horizon=8), transition=jump)
    (means, stds, evidences), beliefs, infos = repeat(filter_, key, positions, readings, NUM_RUNS)
    shares, mean, std, evidence = mixture(positions, readings, jump.hazard)
    weights, starts = np.exp(np.asarray(beliefs.log_weights, float)), np.asarray(beliefs.starts)
    ours = np.stack([np.sum(weights * (starts == start), axis=1) for start in range(len(readings))], axis=1)
    assert_centred(ours, shares, 1.0)
    assert_centred(means, mean, std)
    assert_centred(stds, std, std)
    assert_centred(np.exp(evidences - evidence), 1.0, 1.0)
    assert np.asarray(infos.explained).all()


def test_particles_outside_the_support_lose_their_weight(key, as_belief):
    """A drift out of the prior's support; what is left is lost to the evidence too."""

    class Half(eqx.Module):
        def log_prob(self, theta: Theta) -> Scalar:
            return jnp.where(theta[0] > 0, 0.0, -jnp.inf)

    model = eqx.tree_at(lambda at: at.prior, MODEL, Half())
    belief = as_belief(jnp.zeros((200, 2)))
    belief = eqx.tree_at(
        lambda at: at.history, belief, record(belief.history, Station(jnp.ones(2)), jnp.zeros(()))
    )
    drift = Drift(Identity(), jnp.ones(2))
    after = predict(key, model, belief, drift, None, Station(jnp.ones(2)), jnp.zeros(()))
    outside = np.asarray(after.particles[:, 0]) <= 0
    assert 0 < outside.sum() < 200
    assert (np.isneginf(after.log_weights) == outside).all()
    np.testing.assert_allclose(np.exp(after.log_weights).sum(), 1 - outside.mean(), rtol=1e-5)
