"""Whether the noise that the readings ask for lies beyond what its prior calls usual.

Inferred noise absorbs whatever the field cannot explain: a wall, a second source, another kind of source. The
answer is then narrow and wrong, and the ranks of the readings (`fit`) need not show it. But the noise does.

Of m noise parameters one is *excessive* where its posterior median lies above the quantile 1 − α / m of its
prior. Under the prior predictive the median of a posterior scatters less than the prior itself, so with a
right model this happens in about α of the surveys at most, and hardly ever where little was learnt.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from dowsax.inference.belief import Belief
from dowsax.inference.prior_draws import draw_prior
from dowsax.inference.summaries import weighted_quantile
from dowsax.inference.weights import normalise
from dowsax.world import Parameter, Prior

MAX_FALSE_ALARMS = 0.025
"""α, the share of surveys of a right model in which the noise is called excessive, at most."""
_NAMES = ("noise_ratio", "noise_floor", "spread")
"""Parameters of how far readings scatter."""
_USUAL = (0.025, 0.975)
"""Quantiles of the prior between which a noise is usual."""


class UsualNoise(NamedTuple):
    """A noise parameter, and what its prior says of it."""

    parameter: Parameter
    column: int
    """Of Θ."""
    low: float
    high: float
    """The central 95 % of the prior."""
    limit: float
    """More is excessive."""


def usual_noise(prior: Prior) -> tuple[UsualNoise, ...]:
    """Return the inferred noise parameters of a prior, from draws of it; none where the noise is known."""
    parameters = prior.parameters
    columns = [at for at, parameter in enumerate(parameters) if parameter.name in _NAMES]
    if not columns:
        return ()
    draws = np.asarray(draw_prior(prior), np.float64)[:, columns]
    shares = (*_USUAL, 1 - MAX_FALSE_ALARMS / len(columns))
    quantiles = np.quantile(draws, shares, axis=0).T.tolist()
    return tuple(
        UsualNoise(parameters[at], at, *numbers) for at, numbers in zip(columns, quantiles, strict=True)
    )


def has_excess_noise(usual: tuple[UsualNoise, ...], belief: Belief) -> Bool[Array, ""]:
    """Return whether the median of any of these, under a belief, is above its limit."""
    weights = jnp.exp(normalise(belief.log_weights))
    above = [jnp.sum(jnp.where(belief.particles[:, one.column] > one.limit, weights, 0.0)) for one in usual]
    return jnp.any(jnp.stack([jnp.zeros(()), *above]) > 0.5)


def describe_excess_noise(usual: tuple[UsualNoise, ...], belief: Belief) -> str:
    """Say that the noise under a belief is excessive; empty where it is not."""
    for one in usual:
        if bool(has_excess_noise((one,), belief)):
            median = weighted_quantile(belief.particles[:, one.column], belief.log_weights, 0.5)
            return describe_excess(one, float(median))
    return ""


def describe_excess(usual: UsualNoise, median: float) -> str:
    """Say that this noise is excessive, and what the reason may be."""
    name, unit = usual.parameter.meaning or usual.parameter.name, usual.parameter.unit
    low, high, found = (f"{number:.2g}" for number in (usual.low, usual.high, median))
    unit = f" {unit}" if unit else ""
    return (
        f"The readings scatter far more than is usual: {name} is {found}{unit}, where {low} to {high}{unit} "
        "is usual. Something may stand between source and sensor, there may be a second source, or the "
        "source is of another kind; do not rely on the region."
    )
