r"""Unbiased resampling: the mean number of copies of particle $i$ among $n$ draws is $n w_i$.

A float32 running sum of 100,000 weights is off by whole particles near its end. Here the running sum of
the expected copies is held as an integer and a 30-bit fraction, so that it stays exact, and it is scaled
to end at $n$, so that no draw can fall beyond the last particle. The limit is two million particles.
"""

from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.types import Key

Ancestors = Int[Array, " num_draws"]
Count = Int[Array, ""]

_LIMB_BITS = 10
_LIMB_MASK = 2**_LIMB_BITS - 1


@runtime_checkable
class Resampler(Protocol):
    """Draws the indices of the particles that are copied.

    `num_draws` is static. Only the first `num_active` draws count (default: all); these are an unbiased
    sample of that size.
    """

    def __call__(
        self, key: Key, log_weights: Float[Array, " n"], num_draws: int, num_active: Count | None = None
    ) -> Ancestors: ...


def relative_weights(log_weights: Float[Array, " n"]) -> Float[Array, " n"]:
    """Return weights over their maximum; all one if no particle is left, so that every index is valid."""
    batch_max = jnp.max(log_weights)
    return jnp.where(jnp.isfinite(batch_max), jnp.exp(log_weights - batch_max), 1.0)


def expected_copies(weights: Float[Array, " n"], num_active: Count) -> Float[Array, " n"]:
    r"""$n w_i / \sum_j w_j$."""
    total = jnp.sum(weights)
    return weights * (num_active / jnp.where(total > 0, total, 1.0))


def running_copies(
    copies: Float[Array, " n"], num_active: Count
) -> tuple[Int[Array, " n"], Float[Array, " n"]]:
    r"""$C_i = \sum_{j \le i} n w_j$ as its whole part and its fraction, with $C_n = n$.

    The fraction is cut in three limbs of ten bits, whose running sums fit in 32 bits.
    """
    floor = jnp.floor(copies)
    fraction = ((copies - floor) * 2.0 ** (3 * _LIMB_BITS)).astype(jnp.int32)
    limbs = [
        floor.astype(jnp.int32),
        fraction >> 2 * _LIMB_BITS,
        (fraction >> _LIMB_BITS) & _LIMB_MASK,
        fraction & _LIMB_MASK,
    ]
    whole, high, middle, low = jnp.cumsum(jnp.stack(limbs), axis=1)
    middle = middle + (low >> _LIMB_BITS)
    high = high + (middle >> _LIMB_BITS)
    whole = whole + (high >> _LIMB_BITS)
    bits = (high & _LIMB_MASK) << 2 * _LIMB_BITS | (middle & _LIMB_MASK) << _LIMB_BITS | low & _LIMB_MASK
    part = bits.astype(jnp.float32) * 2.0 ** (-3 * _LIMB_BITS)
    # The copies sum to n only up to rounding: scale by n over their exact sum. The correction is small,
    # so it may be computed in single precision without touching the whole part.
    sums = whole + part
    excess = (whole[-1] - num_active) + part[-1]
    part = part - sums * (excess / jnp.maximum(sums[-1], 1.0))
    carry = jnp.floor(part)
    return whole + carry.astype(jnp.int32), part - carry


def _one_per_stratum(
    offsets: Float[Array, " num_draws"], log_weights: Float[Array, " n"], num_active: Count
) -> Ancestors:
    """Return the ancestors of the points k + offsets[k], one in each unit interval of the running sum."""
    num_particles, num_draws = log_weights.shape[0], offsets.shape[0]
    weights = relative_weights(log_weights)
    whole, part = running_copies(expected_copies(weights, num_active), num_active)
    # How many points lie below C_i: one in each whole interval, and the next if it lies below the fraction.
    ends = whole + (offsets[jnp.clip(whole, 0, num_draws - 1)] < part)
    indices = jnp.arange(num_particles)
    last = jnp.max(jnp.where(weights > 0, indices, 0))
    ends = jnp.where(indices >= last, num_active, jnp.clip(ends, 0, num_active))
    ends = jax.lax.cummax(ends)
    # Draw j belongs to the first particle whose points end beyond j. Draws that do not count go to `last`.
    passed = jnp.zeros(num_draws + 1, jnp.int32).at[ends].add(1)
    return jnp.minimum(jnp.cumsum(passed)[:num_draws], last)


def _count(num_draws: int, num_active: Count | None) -> Count:
    return jnp.asarray(num_draws, jnp.int32) if num_active is None else num_active


def systematic(
    key: Key, log_weights: Float[Array, " n"], num_draws: int, num_active: Count | None = None
) -> Ancestors:
    r"""One uniform offset for all strata: $\lfloor n w_i \rfloor$ or $\lceil n w_i \rceil$ copies of each.

    Ancestors come in rising order.
    """
    offsets = jnp.broadcast_to(jax.random.uniform(key), (num_draws,))
    return _one_per_stratum(offsets, log_weights, _count(num_draws, num_active))


def stratified(
    key: Key, log_weights: Float[Array, " n"], num_draws: int, num_active: Count | None = None
) -> Ancestors:
    """One independent uniform offset in each stratum. Ancestors come in rising order."""
    offsets = jax.random.uniform(key, (num_draws,))
    return _one_per_stratum(offsets, log_weights, _count(num_draws, num_active))


def _independent(key: Key, weights: Float[Array, " n"], num_draws: int) -> Ancestors:
    """Draw independently: a stratum, an offset in it, and a binary search of the exact running sum."""
    stratum_key, offset_key = jax.random.split(key)
    strata = jax.random.randint(stratum_key, (num_draws,), 0, num_draws)
    offsets = jax.random.uniform(offset_key, (num_draws,))
    count = jnp.asarray(num_draws, jnp.int32)
    whole, part = running_copies(expected_copies(weights, count), count)
    last = jnp.max(jnp.where(weights > 0, jnp.arange(weights.shape[0]), 0))

    def halve(_, bounds):
        below, above = bounds
        middle = (below + above) // 2
        beyond = (whole[middle] > strata) | ((whole[middle] == strata) & (part[middle] > offsets))
        return jnp.where(beyond, below, middle + 1), jnp.where(beyond, middle, above)

    start = jnp.zeros(num_draws, jnp.int32), jnp.full(num_draws, last, jnp.int32)
    num_halvings = weights.shape[0].bit_length()
    below, _ = jax.lax.fori_loop(0, num_halvings, halve, start)
    return jnp.minimum(below, last)


def multinomial(
    key: Key, log_weights: Float[Array, " n"], num_draws: int, num_active: Count | None = None
) -> Ancestors:
    """Independent draws from the weights; the noisiest scheme, and any subset of the draws is a sample."""
    del num_active
    return _independent(key, relative_weights(log_weights), num_draws)


def residual(
    key: Key, log_weights: Float[Array, " n"], num_draws: int, num_active: Count | None = None
) -> Ancestors:
    r"""$\lfloor n w_i \rfloor$ sure copies of each particle, then independent draws from the fractions."""
    weights = relative_weights(log_weights)
    copies = expected_copies(weights, _count(num_draws, num_active))
    # A weight of exactly k / n may be a rounding error below it: it still has k sure copies.
    sure = jnp.floor(copies * (1 + 2e-6))
    drawn = _independent(key, jnp.maximum(copies - sure, 0.0), num_draws)
    ends = jnp.cumsum(sure.astype(jnp.int32))
    passed = jnp.zeros(num_draws + 1, jnp.int32).at[jnp.minimum(ends, num_draws)].add(1)
    ancestors = jnp.cumsum(passed)[:num_draws]
    return jnp.where(jnp.arange(num_draws) < ends[-1], ancestors, drawn)
