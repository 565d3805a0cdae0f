"""Rewards: functions of the search before and after a reading, and of whether it stopped.

Only `right_stop` uses the true source, which only a simulator knows. The others also reward a belief that
contracts in the wrong place.
"""

from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from dowsax.envs.problem import SearchProblem, SearchState, error
from dowsax.inference.belief import recall
from dowsax.inference.replay import reading_log_likelihood
from dowsax.inference.summaries import covariance, location_entropy, location_spread, mean_position
from dowsax.inference.weights import normalise
from dowsax.types import Scalar

_TIME_COST = 0.1
"""Of the whole budget, in units of a right stop."""


@runtime_checkable
class Reward(Protocol):
    """The reward of one move."""

    def __call__(
        self, search: SearchProblem, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
    ) -> Scalar: ...


def indicator(
    search: SearchProblem, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
) -> Scalar:
    """R1, the paper's: 1 for the stop, 0 otherwise."""
    del search, before, after
    return jnp.where(stopped, 1.0, 0.0)


def dense_contraction(
    search: SearchProblem, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
) -> Scalar:
    r"""R2: the decrease of $\max(\sigma_x, \sigma_y)$ [m], and 1 for the stop."""
    gain = location_spread(before.belief) - location_spread(after.belief)
    return gain + indicator(search, before, after, stopped)


def entropy_reduction(
    search: SearchProblem, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
) -> Scalar:
    """R3 and AGDC-ENT: the decrease of the entropy of the position [nats], in cells of 1 m."""
    del search, stopped
    return location_entropy(before.belief) - location_entropy(after.belief)


def information_gain(
    search: SearchProblem, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
) -> Scalar:
    r"""AGDC-KLD: $\mathrm{KL}(b_{k+1} \,\|\, b_k)$ [nats] of the newest reading, on the particles before."""
    del stopped
    station = recall(search.model, before.belief.history, after.station)
    terms = reading_log_likelihood(search.model, before.belief.particles.T, station, after.reading)
    log_weights = normalise(before.belief.log_weights)
    log_posterior = normalise(log_weights + terms)
    # A particle without weight adds nothing; 0 · (−∞ + ∞) would.
    gain = jnp.where(log_posterior > -jnp.inf, log_posterior - log_weights, 0.0)
    return jnp.maximum(jnp.sum(jnp.exp(log_posterior) * gain), 0.0)


def expected_error(
    search: SearchProblem, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
) -> Scalar:
    r"""AGDC-EE: $-(\|\mu - p\|^2 + \mathrm{tr}\,\Sigma)$ of the position, as a share of the area."""
    del before, stopped
    belief = after.belief
    offset = mean_position(belief) - after.station.position
    spread = jnp.trace(belief.position(belief.position(covariance(belief)).T))
    low, high = search.actions.low, search.actions.high
    area = (high[0] - low[0]) * (high[1] - low[1])
    return -(jnp.sum(offset**2) + spread) / area


def right_stop(
    search: SearchProblem, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
) -> Scalar:
    """1 for a stop within the success radius of the truth, −1 for one that is not, 0 otherwise."""
    del before
    value = jnp.where(error(after) < search.success_radius, 1.0, -1.0)
    return jax.lax.select(stopped, value, jnp.zeros(()))


def right_stop_in_time(
    search: SearchProblem, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
) -> Scalar:
    """1 for a right stop, −1 for a wrong one, less a tenth of the share of the whole budget that was spent.

    The share is that of readings, way or time, whichever is largest.
    """
    whole, left, now = search.whole_budget, search.budget_left(before), search.budget_left(after)
    parts = ((whole.readings, left.readings, now.readings), (whole.distance, left.distance, now.distance))
    shares = [_spent_share(*part) for part in (*parts, (whole.time, left.time, now.time))]
    return right_stop(search, before, after, stopped) - _TIME_COST * jnp.max(jnp.stack(shares))


def _spent_share(whole: float | Scalar, before: float | Scalar, after: float | Scalar) -> Scalar:
    """Return the share that was spent; 0 without a limit."""
    whole, before, after = (jnp.asarray(each, jnp.float32) for each in (whole, before, after))
    is_limited = jnp.isfinite(whole)
    spent = jnp.where(is_limited, before, 0.0) - jnp.where(is_limited, after, 0.0)
    return spent / jnp.where(is_limited, jnp.maximum(whole, 1e-6), 1.0)


REWARDS: dict[str, Reward] = {
    "indicator": indicator,
    "contraction": dense_contraction,
    "entropy": entropy_reduction,
    "information": information_gain,
    "expected-error": expected_error,
    "right-stop": right_stop,
    "right-stop-in-time": right_stop_in_time,
}
