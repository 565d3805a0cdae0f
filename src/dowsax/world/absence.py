"""Models without their source: what readings are where there is nothing to find."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Sensor
from dowsax.world.fields.nothing import remove_source
from dowsax.world.model import Model
from dowsax.world.sensors.above_background import AboveBackground
from dowsax.world.sensors.correlated import Correlated
from dowsax.world.sensors.fuzzy_edge import FuzzyEdge
from dowsax.world.sensors.persistent import Persistent
from dowsax.world.sensors.rank import Rank
from dowsax.world.sensors.redundant import Redundant
from dowsax.world.sensors.swaying_wind import SwayingWind
from dowsax.world.sensors.uncertain_counting import OverBackground


def without_source(model: Model) -> Model:
    """Return the model with the same prior, nuisance parameters and noise, but no source.

    The columns of the source stay, without effect. The difference of the two log evidences of a survey is the
    log Bayes factor for a source against none.
    """
    return Model(model.prior, remove_source(model.field), _without_plume(model.sensor))


class PerhapsAbsent(eqx.Module):
    """Readings of a model with its source or without it, as a number says: compiled once for both."""

    model: Model
    is_present: Bool[Array, ""]

    def sample_reading(self, key: Key, theta: Theta, station: Station) -> Scalar:
        present = self.model.sample_reading(key, theta, station)
        absent = without_source(self.model).sample_reading(key, theta, station)
        return jnp.where(self.is_present, present, absent)

    def recall(
        self, station: Station, stations: Station, readings: Float[Array, " k"], size: int | Int[Array, ""]
    ) -> Station:
        """Return the station with its nearest earlier readings, as `Model.recall` does."""
        return self.model.recall(station, stations, readings, size)


def _without_plume(sensor: Sensor) -> Sensor:
    """Return the sensor without fuzzy edges and swaying wind, which need a plume."""
    if isinstance(sensor, Redundant | AboveBackground | OverBackground):
        return replace(sensor, sensor=_without_plume(sensor.sensor))
    if isinstance(sensor, Persistent):
        sensor = replace(sensor, sensor=_without_plume(sensor.sensor))
    if isinstance(sensor, Correlated | Persistent | Rank):
        return replace(sensor, field=remove_source(sensor.field))
    return _without_plume(sensor.sensor) if isinstance(sensor, FuzzyEdge | SwayingWind) else sensor
