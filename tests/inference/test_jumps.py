"""A source that jumps: the filter against the exact sum over all jump times of a linear Gaussian model."""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conjugate import Additive, assert_centred, runner
from scipy import stats

from dowsax.inference import FilterConfig, build
from dowsax.inference.jumps import EARLIER_REGIMES, NEVER, Paths, Regimes
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Identity, Jump, Model, Parameter

NOISE = 0.5
NUM_RUNS = 40
POSITIONS = np.array(
    [[1.0, 0.0], [0.5, 1.0], [-1.0, 2.0], [0.0, 1.0], [1.0, -1.0], [0.3, 0.2], [-0.8, 0.4], [0.7, 0.9]]
)
READINGS = np.array([2.5, 1.8, 0.1, 1.3, -0.6, 0.9, 1.9, -0.4])
JUMP = Jump(hazard=0.15, birth_share=0.3, columns=(0, 1))


class ThreeNormals(eqx.Module):
    """Three independent standard normal columns: two slopes, which jump, and an offset, which persists."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(Parameter(name, "", "") for name in ("a", "b", "offset"))

    @property
    def coordinates(self) -> Identity:
        return Identity()

    def sample(self, key: Key) -> Theta:
        return jax.random.normal(key, (3,))

    def log_prob(self, theta: Theta) -> Scalar:
        return jnp.sum(jax.scipy.stats.norm.logpdf(theta))


def plane(theta: Theta, station: Station) -> Scalar:
    return jnp.dot(theta[:2], station.position) + theta[2]


def mixture(positions, readings, hazard, noise=NOISE):
    """Mean and std of Θ now, and the log evidence, summed over every set of jump times.

    Before each reading but the first the source jumps with this hazard. Given the times the model is a linear
    regression on the offset and two slopes for each regime.
    """
    number = len(readings)
    weights, means, seconds = [], [], []
    for jumps in itertools.product([False, True], repeat=number - 1):
        regime = np.concatenate([[0], np.cumsum(jumps)])
        design = np.zeros((number, 1 + 2 * (regime[-1] + 1)))
        design[:, 0] = 1.0
        for at in range(number):
            design[at, 1 + 2 * regime[at] : 3 + 2 * regime[at]] = positions[at]
        marginal = design @ design.T + noise**2 * np.eye(number)
        log_weight = stats.multivariate_normal(np.zeros(number), marginal).logpdf(readings)
        log_weight += sum(jumps) * np.log(hazard) + (number - 1 - sum(jumps)) * np.log1p(-hazard)
        covariance = np.linalg.inv(np.eye(design.shape[1]) + design.T @ design / noise**2)
        mean = covariance @ design.T @ readings / noise**2
        now = [-2, -1, 0]
        weights.append(np.exp(log_weight))
        means.append(mean[now])
        seconds.append(np.diag(covariance)[now] + mean[now] ** 2)
    evidence = np.sum(weights)
    shares = np.array(weights) / evidence
    mean = shares @ np.array(means)
    return mean, np.sqrt(shares @ np.array(seconds) - mean**2), np.log(evidence)


@functools.cache
def filtered(num_moves: int):
    config = FilterConfig(num_particles=600, horizon=8, num_moves=num_moves)
    model = Model(ThreeNormals(), plane, Additive(NOISE))
    return runner(lambda _: build(model, config, transition=JUMP), NUM_RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("num_moves", [0, 8])
def test_what_does_not_jump_is_remembered(num_moves, key):
    """Mean, spread and evidence over all jump times, of what jumps and of what persists.

    Moves that look only at the readings since the jump would give the offset its prior again.
    """
    (means, stds, evidences), _, infos = filtered(num_moves)(key, POSITIONS, READINGS)
    mean, std, evidence = mixture(POSITIONS, READINGS, JUMP.hazard)
    assert_centred(means, mean, std)
    assert_centred(stds, std, std)
    assert_centred(np.exp(evidences - evidence), 1.0, 1.0)
    assert np.asarray(infos.explained).all()
    # The data say something of the offset, or the test would say nothing.
    assert std[2] < 0.5


@pytest.mark.slow
def test_kept_log_likelihoods_are_those_of_the_path(key):
    """After births, moves and resampling: each reading under the source of its time."""
    _, beliefs, _ = filtered(8)(key, POSITIONS, READINGS)
    starts, earlier = np.asarray(beliefs.starts), np.asarray(beliefs.earlier.starts)
    particles, values = np.asarray(beliefs.particles, float), np.asarray(beliefs.earlier.values, float)
    began = np.concatenate([starts[..., None], earlier], axis=-1)
    sources = np.concatenate([particles[:, :, None, :2], values], axis=2)
    expected = np.zeros(starts.shape)
    for number, (position, reading) in enumerate(zip(POSITIONS, READINGS, strict=True)):
        # The newest first: the regime of a reading is the first that had begun.
        regime = np.argmax(number >= began, axis=-1)
        then = np.take_along_axis(sources, regime[..., None, None], axis=2)[:, :, 0]
        expected += stats.norm.logpdf(reading, then @ position + particles[:, :, 2], NOISE)
    remembers_all = began.min(axis=-1) == 0
    assert remembers_all.mean() > 0.9
    np.testing.assert_allclose(
        np.asarray(beliefs.log_likelihoods)[remembers_all], expected[remembers_all], rtol=1e-4, atol=3e-3
    )
    # Places that are not in use say nothing.
    assert (values[earlier == NEVER] == 0).all()
    assert (earlier < NEVER).any()


def test_the_oldest_regime_is_forgotten_with_its_readings():
    """A particle that has jumped more often than it remembers answers for the regimes that it remembers."""
    jump = Jump(columns=(0, 1))
    starts = jnp.array([9, 3])
    earlier = Regimes(
        jnp.array([[8, 7, 6, 5], [0, NEVER, NEVER, NEVER]], jnp.int32),
        jnp.arange(2 * EARLIER_REGIMES * 2, dtype=jnp.float32).reshape(2, EARLIER_REGIMES, 2),
    )
    paths = Paths.of(jump, starts, earlier)
    thetas = jnp.array([[100.0, 200.0], [101.0, 201.0], [102.0, 202.0]])
    counted = np.array([paths.remembers(jnp.asarray(at)) for at in range(11)])
    assert counted[:, 0].tolist() == [False] * 5 + [True] * 6
    assert counted[:, 1].all()
    east = np.array([paths.thetas_at(thetas, jnp.asarray(at))[0] for at in range(11)])
    assert east[5:, 0].tolist() == [6.0, 4.0, 2.0, 0.0, 100.0, 100.0]
    assert east[:, 1].tolist() == [8.0] * 3 + [200.0] * 8
    persisting = np.array([paths.thetas_at(thetas, jnp.asarray(at))[2] for at in range(11)])
    assert (persisting == [102.0, 202.0]).all()
    np.testing.assert_array_equal(paths.with_rows(paths.rows).earlier.starts, earlier.starts)
    np.testing.assert_array_equal(paths.with_rows(paths.rows).earlier.values[0], earlier.values[0])


@pytest.mark.slow
def test_many_jumps_are_survived(key):
    """More jumps than a particle remembers: the belief follows, and stays finite."""
    positions, readings = np.tile([1.5, 0.0], (8, 1)), 0.7 + 4 * (-1.0) ** np.arange(8)
    (means, stds, _), beliefs, infos = filtered(8)(key, positions, readings)
    assert np.asarray(infos.explained).all()
    assert np.isfinite(means).all()
    weights = np.exp(np.asarray(beliefs.log_weights, float))
    full = np.asarray(beliefs.earlier.starts)[..., -1] < NEVER
    assert np.sum(weights * full, axis=1).mean() > 0.9
    # What the remembered regimes say of the offset is no more than the readings say.
    assert (np.abs(means[:, 2] - 0.7) < 3 * stds[:, 2]).all()
