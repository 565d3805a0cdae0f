"""Stop rules: functions of the belief alone.

Thresholds are array fields, so that a rule can be mapped over a range of them; choices are static.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference.belief import Belief
from dowsax.inference.summaries import location_entropy, mass_within, std
from dowsax.inference.weights import alive, max_weight
from dowsax.types import Scalar

Number = float | Float[Array, "*batch"]
Verdict = Bool[Array, ""]


@runtime_checkable
class StopRule(Protocol):
    """Whether the search may end with this belief. A belief without particles never stops a search."""

    def __call__(self, belief: Belief) -> Verdict: ...


class Contraction(eqx.Module):
    r"""The rule of the paper: $\max_{c} \sigma_c < \zeta$ over the chosen columns of Θ.

    A posterior with $\sigma = 0.5$ m on both axes is still more than 1 m off with probability 0.135.
    """

    threshold: Number = 0.5
    """ζ, in the units of the columns."""
    columns: tuple[int, ...] = eqx.field(default=(), static=True)
    """Empty: the position."""

    def __call__(self, belief: Belief) -> Verdict:
        positions = sum(belief.other_columns, start=belief.position_columns)
        spread = std(belief)[jnp.asarray(self.columns or positions)]
        return alive(belief.log_weights) & (jnp.max(spread) < self.threshold)


class Credible(eqx.Module):
    r"""Stop when $P(|(x, y) - \mu| \le r \mid o_{1:k}) \ge p$."""

    radius: Number = 1.0
    """[m]"""
    probability: Number = 0.95

    def __call__(self, belief: Belief) -> Verdict:
        return mass_within(belief, self.radius) >= self.probability


class EntropyBelow(eqx.Module):
    """Stop when an entropy of the belief falls below a threshold [nats]."""

    threshold: Number = 1.0
    entropy: Callable[[Belief], Scalar] = eqx.field(default=location_entropy, static=True)

    def __call__(self, belief: Belief) -> Verdict:
        return alive(belief.log_weights) & (self.entropy(belief) < self.threshold)


class MaxWeight(eqx.Module):
    """Stop when one particle holds more than a share of the weight. It fires on degeneracy too."""

    threshold: Number = 0.5

    def __call__(self, belief: Belief) -> Verdict:
        return max_weight(belief.log_weights) > self.threshold


class FixedSteps(eqx.Module):
    """Stop after a number of readings."""

    steps: int | Int[Array, "*batch"] = 25

    def __call__(self, belief: Belief) -> Verdict:
        return belief.history.size >= self.steps
