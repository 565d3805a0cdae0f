"""Prop. 3: exact draws from a target, moved by any of the kernels, are still draws from it."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.inference.proposals import AttentionLangevin, DifferentialEvolution, RandomWalk, freeze
from dowsax.inference.rejuvenation import Density, rejuvenate
from dowsax.types import Scalar

NUM_PARTICLES, NUM_POPULATIONS, NUM_MOVES = 64, 100, 30
EXPONENT = 0.5


class Target(eqx.Module):
    """A standard normal, bent along the square of its first column, then stretched, sheared and shifted."""

    bend: Scalar
    factor: jax.Array
    offset: jax.Array

    def push(self, latent):
        bent = latent.at[1].add(self.bend * (latent[0] ** 2 - 1))
        return self.factor @ bent + self.offset[:, None]

    def pull(self, columns):
        bent = jax.scipy.linalg.solve_triangular(self.factor, columns - self.offset[:, None], lower=True)
        return bent.at[1].add(-self.bend * (bent[0] ** 2 - 1))

    def log_prob(self, columns):
        """Up to a constant: bending keeps volumes."""
        return -0.5 * jnp.sum(self.pull(columns) ** 2, axis=0)


FACTOR = jnp.array([[1.0, 0.0, 0.0], [1.6, 0.6, 0.0], [-4.0, 3.0, 2.0]])
TARGETS = {
    "gaussian": Target(jnp.zeros(()), FACTOR, jnp.array([3.0, -1.0, 10.0])),
    "banana": Target(jnp.full((), 0.7, jnp.float32), jnp.eye(3), jnp.zeros(3)),
}
LANGEVIN = AttentionLangevin(num_neighbours=8, step=1.0)
KERNELS = {
    "random walk": (RandomWalk(),),
    "differential evolution": (DifferentialEvolution(),),
    "attention Langevin": (LANGEVIN,),
    "by turns": (RandomWalk(), AttentionLangevin(num_neighbours=8), DifferentialEvolution()),
}


class Forgetful(eqx.Module):
    """A kernel that counts only a share of its log ratio: 1 is right, 0 leaves it out."""

    proposal: AttentionLangevin
    share: Scalar
    needs_gradients: bool = eqx.field(default=True, static=True)

    def __call__(self, key, current, population, step_size):
        proposed, log_ratio = self.proposal(key, current, population, step_size)
        return proposed, self.share * log_ratio


@functools.cache
def compiled(kernel):
    """Move the populations of many keys; one compilation a kernel."""

    def once(key, target, share):
        def evaluate(columns):
            value = target.log_prob(columns)
            return Density(0.3 * value, 0.2 * value, value)

        proposals = (Forgetful(LANGEVIN, share),) if kernel == "attention Langevin" else KERNELS[kernel]
        draw_key, move_key = jax.random.split(key)
        columns = target.push(jax.random.normal(draw_key, (3, NUM_PARTICLES)))
        gradients = jax.grad(lambda columns: jnp.sum(target.log_prob(columns)))(columns)
        done = rejuvenate(
            move_key,
            freeze(columns, gradients=gradients),
            evaluate(columns),
            jnp.asarray(EXPONENT, jnp.float32),
            jnp.ones(()),
            proposals=proposals,
            evaluate=evaluate,
            num_moves=NUM_MOVES,
            max_moves=NUM_MOVES,
            forgetting=0.3,
        )
        return target.pull(columns), target.pull(done.columns), done.acceptance_rate

    return jax.jit(jax.vmap(once, in_axes=(0, None, None)))


def moved(key, kernel, target, share=1.0):
    """(populations, 3, n) before and after the moves, pulled back to N(0, I), and the acceptance rates."""
    keys = jax.random.split(key, NUM_POPULATIONS)
    return [np.asarray(part, float) for part in compiled(kernel)(keys, TARGETS[target], jnp.float32(share))]


def deviations(latent):
    """How many standard errors each statistic of (populations, 3, n) is from its value under N(0, I).

    Particles of one population share what was frozen, so the errors come from between populations.
    """
    pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    levels = [0.1, 0.25, 0.5, 0.75, 0.9]
    radius = np.sum(latent**2, axis=1)
    statistics = [
        *((latent[:, row], 0.0) for row in range(3)),
        *((latent[:, one] * latent[:, two], float(one == two)) for one, two in pairs),
        *((latent[:, row] ** 4, 3.0) for row in range(3)),
        (latent[:, 0] ** 2 * latent[:, 1], 0.0),
        *((radius < stats.chi2.ppf(level, 3), level) for level in levels),
        *((latent[:, row] < stats.norm.ppf(level), level) for row in range(3) for level in levels),
    ]
    means = np.stack([values.mean(axis=1) for values, _ in statistics], axis=1)
    exact = np.array([value for _, value in statistics])
    return (means.mean(0) - exact) / (means.std(0, ddof=1) / NUM_POPULATIONS**0.5)


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_leaves_the_target_invariant(kernel, target, key):
    """After 30 moves, moments, cross moments and distribution functions are within five standard errors."""
    before, after, acceptance = moved(key, kernel, target)
    assert np.abs(deviations(after)).max() < 5
    # The law would hold for particles that stand still: they must have moved.
    assert 0.1 < acceptance.mean() < 0.95
    assert np.mean(before * after) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_kernel_without_its_ratio_is_caught(target, key):
    """The same check finds what is wrong, by a wide margin."""
    _, after, _ = moved(key, "attention Langevin", target, share=0.0)
    assert np.abs(deviations(after)).max() > 10
