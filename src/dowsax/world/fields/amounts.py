"""Sums and multiples of amounts, and of the powers that levels in decibel stand for."""

import math

import jax.numpy as jnp

from dowsax.types import Scalar

DB_PER_LOG_POWER = 10 / math.log(10)


def add_amounts(one: Scalar, other: Scalar, levels: bool) -> Scalar:
    r"""Return the sum; of levels that of both powers, $10 \log_{10}(10^{c/10} + 10^{b/10})$."""
    if not levels:
        return one + other
    return DB_PER_LOG_POWER * jnp.logaddexp(one / DB_PER_LOG_POWER, other / DB_PER_LOG_POWER)


def multiply_amount(amount: Scalar, factor: Scalar, levels: bool) -> Scalar:
    r"""Return the multiple; of a level that of the power, $c + 10 \log_{10} \varepsilon$."""
    return amount + DB_PER_LOG_POWER * jnp.log(factor) if levels else factor * amount
