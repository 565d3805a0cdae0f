"""What a mission that shows no source says of one: how strong it can be at most."""

import math
from typing import NamedTuple

import numpy as np

from dowsax.geo.formatting import format_number
from dowsax.inference.prior_draws import draw_prior
from dowsax.mission.advice import Estimate
from dowsax.world import Parameter, Prior

_NAMES = ("q", "level")
"""Parameters that are the strength of a source."""
_UPPER = 0.975
"""The upper end of an estimate has this probability below it."""
_MIN_EXCLUDED = 0.2
"""Of the prior, whose strengths an answer has to exclude before it is worth a sentence."""


class PriorStrength(NamedTuple):
    """The strength of the source, where it is unknown."""

    parameter: Parameter
    draws: np.ndarray
    """Of the prior."""


def prior_strength(prior: Prior) -> PriorStrength | None:
    """Return the strength under the prior; `None` where there is none, where it is known, or of several."""
    for column, parameter in enumerate(prior.parameters):
        if parameter.name in _NAMES:
            return PriorStrength(parameter, np.asarray(draw_prior(prior), np.float64)[:, column])
    return None


def describe_limit(strength: PriorStrength | None, estimate: Estimate) -> str:
    """Say below which strength a source is, if there is one; empty where the readings exclude little."""
    if strength is None or strength.parameter.name not in estimate.names:
        return ""
    limit = estimate.high[estimate.names.index(strength.parameter.name)]
    if not math.isfinite(limit) or np.mean(strength.draws > limit) < _MIN_EXCLUDED:
        return ""
    # Not what comes after a comma: how it is defined.
    meaning, unit = strength.parameter.meaning.split(",")[0], strength.parameter.unit
    most = f"{format_number(limit, 2)} {unit}".rstrip()
    return f"If there is one, its {meaning} is below {most} (probability {100 * _UPPER:g} %)."
