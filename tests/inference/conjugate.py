r"""A model with a known posterior: $\Theta \sim N(0, I)$, $z = p \cdot \Theta + \sigma\xi$ at $p$."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from dowsax.inference.summaries import mean, std
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Identity, Model, Parameter

NOISE = 1.0


class StandardNormal(eqx.Module):
    """Two independent standard normal columns."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (Parameter("a", "", "first slope"), Parameter("b", "", "second slope"))

    @property
    def coordinates(self) -> Identity:
        return Identity()

    def sample(self, key: Key) -> Theta:
        return jax.random.normal(key, (2,))

    def log_prob(self, theta: Theta) -> Scalar:
        return jnp.sum(jax.scipy.stats.norm.logpdf(theta))


class Additive(eqx.Module):
    """A reading is the intensity and Gaussian noise of a fixed spread."""

    spread: Scalar | float = NOISE

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return intensity + self.spread * jax.random.normal(key)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return jax.scipy.stats.norm.logpdf(reading, intensity, self.spread)


def linear(theta: Theta, station: Station) -> Scalar:
    """The position is the row of a linear regression."""
    return jnp.dot(theta, station.position)


MODEL = Model(StandardNormal(), linear, Additive())


def posterior(positions, readings, noise=NOISE):
    """Mean, covariance and log evidence, by the textbook, in double precision."""
    positions, readings = np.asarray(positions, float), np.asarray(readings, float)
    covariance = np.linalg.inv(np.eye(2) + positions.T @ positions / noise**2)
    marginal = positions @ positions.T + noise**2 * np.eye(len(readings))
    evidence = stats.multivariate_normal(np.zeros(len(readings)), marginal).logpdf(readings)
    return covariance @ (positions.T @ readings) / noise**2, covariance, float(evidence)


def run(filter_, key, positions, readings):
    """One filter over all readings: the last belief and the info of every step."""
    init_key, step_key = jax.random.split(key)

    def step(belief, inputs):
        key, position, reading = inputs
        return filter_.step(key, belief, Station(position), reading)

    keys = jax.random.split(step_key, readings.shape[0])
    return jax.lax.scan(step, filter_.init(init_key), (keys, positions, readings))


def runner(build_filter, num_runs):
    """A compiled (key, positions, readings, noise) -> results, beliefs and infos of independent runs.

    The results are means (r, 2), standard deviations (r, 2) and log evidences (r,). `build_filter` makes a
    filter from the noise, so that one compilation serves many surveys. Runs follow one another: together,
    each would wait for the slowest.
    """

    @jax.jit
    def compiled(keys, positions, readings, noise):
        filter_ = build_filter(noise)

        def once(key):
            belief, infos = run(filter_, key, positions, readings)
            return (mean(belief), std(belief), belief.log_evidence), belief, infos

        return jax.lax.map(once, keys)

    def runs(key, positions, readings, noise=NOISE):
        arrays = (jnp.asarray(part, jnp.float32) for part in (positions, readings, noise))
        results, beliefs, infos = compiled(jax.random.split(key, num_runs), *arrays)
        return [np.asarray(part, float) for part in results], beliefs, infos

    return runs


def repeat(filter_, key, positions, readings, num_runs):
    """Independent runs of one filter; see `runner`."""
    return runner(lambda _: filter_, num_runs)(key, positions, readings)


def assert_centred(estimates, exact, scale):
    """The mean over runs is the exact value within five standard errors and the bias of a ratio of means.

    That bias is of the order of the variance of one run over the scale of what is estimated.
    """
    estimates, exact, scale = (np.asarray(part, float) for part in (estimates, exact, scale))
    spread = estimates.std(0, ddof=1)
    allowed = 5 * spread / len(estimates) ** 0.5 + 2 * spread**2 / scale
    assert np.all(np.abs(estimates.mean(0) - exact) < allowed), (estimates.mean(0), exact, allowed)
