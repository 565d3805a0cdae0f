"""A survey as the stations that filters take."""

import jax.numpy as jnp
import numpy as np

from dowsax.survey.survey import Survey
from dowsax.types import Station
from dowsax.world.trails import with_trail


def stations(survey: Survey, trail: bool = False) -> Station:
    """One station a reading; with `trail`, each with those before it, for sensors that lag."""

    def single(part: np.ndarray | None):
        return None if part is None else jnp.asarray(part, jnp.float32)

    found = Station(
        position=jnp.asarray(survey.positions, jnp.float32),
        wind=single(survey.wind),
        dwell=single(survey.dwell),
        time=single(survey.time),
        altitude=single(survey.altitude),
        sensor=None if survey.sensor is None else jnp.asarray(survey.sensor, jnp.int32),
    )
    return with_trail(found) if trail else found
