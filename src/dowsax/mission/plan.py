"""What a site asks of an advisor: the model, where one may go, what may be spent and when it is enough."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Bounds
from dowsax.inference import PRESETS, Preset
from dowsax.mission.candidates import Reach, Steps
from dowsax.mission.rehearsal import filter_name
from dowsax.mission.stations import Stations, needed, usual_altitude
from dowsax.site.model import build_model
from dowsax.site.schema import Budget
from dowsax.site.site import Site
from dowsax.survey.lint import min_reading
from dowsax.survey.reading import Reading
from dowsax.survey.reading_json import from_object, unknown_keys
from dowsax.world import Jump, Model
from dowsax.world.sensors.swaying_wind import sways

_WINDS = ("ux", "uy")
"""The names of parameters that change with the wind."""
_HAZARD = 0.01
"""Of a change, at each reading."""


@dataclass(frozen=True)
class Plan:
    """A site as the advisor needs it."""

    name: str
    kind: str
    unit: str
    frame: LocalCoordinates
    model: Model
    preset_name: str
    preset: Preset
    jump: Jump | None
    stations: Stations
    reach: Reach
    start: tuple[float, float] | None
    """[m], from where the way is counted."""
    middle: tuple[float, float]
    """[m], an allowed place near the middle of the area."""
    budget: Budget
    radius: float
    """[m], within which of the mean the source must lie to be found, with this probability:"""
    probability: float
    takes_outside: bool
    """Whether readings outside the area are taken in."""
    text: str
    """The site file, or all that it would say."""
    file: str | None = None
    """What the site file is called; `None` where there is none, or it does not say all."""
    least: float | None = None
    """In the unit of the readings: what is below it is none of the air. `None` where that is not known."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which key of a reading, or column of a survey, is what, where its name does not say so."""

    @classmethod
    def of(cls, site: Site, model: Model | None = None) -> "Plan":
        """The plan of a site; `model` instead of the site's own where the field is of one's own making."""
        file = site.file if site.text and model is None else None
        model = build_model(site) if model is None else model
        search = site.search
        preset = PRESETS[search.preset]
        if search.particles is not None:
            preset = preset.with_particles(search.particles)
        preset = _in_time(preset, model)
        points = site.step.points
        places = () if points is None else tuple((float(x), float(y)) for x, y in points)
        steps = None if places else Steps(float(site.step_length), site.step.directions)
        bounds = Bounds(site.geofence, site.no_go)
        x, y = bounds.nearest(np.mean(site.area, axis=0))
        return cls(
            name=site.name,
            kind=site.kind,
            unit=site.unit,
            frame=site.coordinates,
            model=model,
            preset_name=search.preset,
            preset=preset,
            jump=_jump(model, search.preset, preset) if search.may_jump else None,
            stations=Stations(
                needed(model), site.sensor, site.wind.missing == "interpolate", usual_altitude(model)
            ),
            reach=Reach(bounds, site.area, steps, places),
            start=site.start,
            middle=(float(x), float(y)),
            budget=site.budget,
            radius=float(site.found_radius),
            probability=search.probability,
            takes_outside=site.outside == "allow",
            text=site.text or repr(site),
            file=file,
            least=min_reading(site),
            columns=site.columns,
        )

    @property
    def filter_name(self) -> str:
        """The preset and its particles, in words."""
        return filter_name(self.preset_name, self.preset.config.num_particles)

    def reading_of(self, body: dict[str, Any]) -> Reading:
        """The reading that keys and values say, or `Refused`."""
        dwell, area = self.stations.sensor.dwell, self.reach.area
        return from_object(body, self.frame, self.unit, dwell, area=area, columns=self.columns)

    def unused(self, keys: dict[str, Any]) -> tuple[str, ...]:
        """The keys of a reading that was understood which say nothing of it."""
        return unknown_keys(keys, self.columns)

    def with_particles(self, num_particles: int) -> "Plan":
        return replace(self, preset=self.preset.with_particles(num_particles))


def _in_time(preset: Preset, model: Model) -> Preset:
    """Answers should take a second at most: where likelihoods take longer, there are fewer further moves.

    A quarter of the likelihood terms, which bound the work where there are many readings, and half of the
    moves, which bound it where there are few, as the opposite wind is followed, too.
    `python -m benchmarks.answers` measures what that comes to.
    """
    config = preset.config
    if config.max_terms is None or not sways(model.sensor):
        return preset
    most = max(config.num_moves, config.max_moves // 2)
    return replace(preset, config=replace(config, max_terms=config.max_terms / 4, max_moves=most))


def _jump(model: Model, name: str, preset: Preset) -> Jump:
    """The position is drawn anew, and with it the wind where it is inferred."""
    if not preset.follows_jumps:
        raise ValueError(
            f"The preset {name!r} does not follow changes: choose another, or set may_jump = false."
        )
    winds = [column for column, parameter in enumerate(model.prior.parameters) if parameter.name in _WINDS]
    return Jump(hazard=_HAZARD, columns=(0, 1, *winds))
