"""Models of several sources, from that of one."""

from dataclasses import replace
from typing import Any

from dowsax.world.base import Field, Sensor
from dowsax.world.fields.sum_of_sources import SumOfSources
from dowsax.world.model import Model
from dowsax.world.priors.several import SeveralSourcesPrior
from dowsax.world.several_columns import SourceColumns


def several_sources(model: Model, number: int, own: tuple[str, ...]) -> Model:
    """Return the model of several sources alike, each with its own of these parameters, by name.

    All other parameters are shared. What the sources add to the background adds up, so it is for amounts, not
    for levels in decibel.
    """
    names = [parameter.name for parameter in model.prior.parameters]
    columns = SourceColumns(len(names), tuple(names.index(name) for name in own), number)
    if number == 1:
        return model
    field = SumOfSources(model.field, columns)
    prior = SeveralSourcesPrior(model.prior, columns)
    return Model(prior, field, _summed(model.sensor, model.field, field))


def _summed(sensor: Sensor, single: Field, whole: Field) -> Sensor:
    """Return the sensor with the field of all sources wherever it has that of one."""
    inner: Any = sensor
    changes = {}
    if getattr(inner, "field", None) is single:
        changes["field"] = whole
    if hasattr(inner, "sensor"):
        changes["sensor"] = _summed(inner.sensor, single, whole)
    return replace(inner, **changes) if changes else sensor
