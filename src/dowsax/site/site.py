"""The site: where the search is, what is measured there, the budget, and the model of it all."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import MIN_POLYGON_M2, Bounds, Polygon, clip, signed_area
from dowsax.inference.presets import default_preset
from dowsax.site.area import ListedPath, MapImage
from dowsax.site.flight import FlightSetting
from dowsax.site.kinds import KINDS, why_no_quantity, world_unit
from dowsax.site.measured import QUANTITIES
from dowsax.site.obstacles import Area, Corner, Obstacle
from dowsax.site.schema import (
    BackgroundSetting,
    Budget,
    NoiseSetting,
    SearchSetting,
    SensorSetting,
    StepSetting,
    WindSetting,
)
from dowsax.site.searcher import Searcher
from dowsax.site.section import Distribution, LogNormalSetting, NormalSetting, ends
from dowsax.site.text import Fault, add_line
from dowsax.world import Model, UniformBox
from dowsax.world.compose import compose
from dowsax.world.distributions import LogNormal, LogUniform, Normal, Uniform
from dowsax.world.kinds import LAG, WIND, Kind, KnownOrDistribution, kind_of
from dowsax.world.obstacles import OPAQUE
from dowsax.world.obstacles import Obstacle as WorldObstacle


@dataclass(frozen=True, eq=False)
class Site:
    """A site file after checks. Everything is in the metres of `coordinates`."""

    name: str
    coordinates: LocalCoordinates
    """The local coordinates."""
    area: Area
    """[m], the south-western and the north-eastern corner of the box in which the source lies."""
    kind: str
    """What is measured: a kind of `world.compose`."""
    unit: str
    """Of the readings."""
    sources: tuple[int, ...] = (1,)
    """The numbers of sources that there may be."""
    field_unit: str | None = None
    """Of the concentrations of the field, where readings have no unit; else that of the readings."""
    source: Area | None = None
    """[m], as `area`, where the source is known to lie in this part of it."""
    gas: str | float | None = None
    """Which gas, or its molar mass [g/mol]: turns readings in ppm into grams."""
    options: Mapping[str, float] = field(default_factory=dict)
    """Further known numbers of the field, by the names of the kind."""
    geofence: tuple[Polygon, ...] = ()
    no_go: tuple[Polygon, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    """What stands between source and sensor; those as high as the sensor stop its ways too."""
    paths: tuple[ListedPath, ...] = ()
    """Among which a search chooses, where there are any."""
    map: MapImage | None = None
    prior: Mapping[str, Distribution] = field(default_factory=dict)
    """By the name of the parameter; the others have the usual distribution of the kind."""
    background: BackgroundSetting = field(default_factory=BackgroundSetting)
    noise: NoiseSetting = field(default_factory=NoiseSetting)
    wind: WindSetting = field(default_factory=WindSetting)
    """`velocity` [m/s] is where the air goes, whichever way a constant wind is given."""
    sensor: SensorSetting = field(default_factory=SensorSetting)
    sensors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What is known of each sensor, by its name: some of `QUANTITIES`."""
    start: Corner | None = None
    """[m]; `None` for the middle of the area."""
    searchers: tuple[Searcher, ...] = ()
    """Several that share one belief; one without a name where there are none."""
    step: StepSetting = field(default_factory=StepSetting)
    """`points` are in metres, whichever way they are given."""
    budget: Budget = field(default_factory=Budget)
    search: SearchSetting = field(default_factory=SearchSetting)
    flight: FlightSetting = field(default_factory=FlightSetting)
    outside: str = "refuse"
    """What to do with a reading outside the area: refuse, leave-out or allow."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column of a survey file holds what; see `survey.read_survey`."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """Which rows of a survey file belong to this search: the text in a column."""
    notes: tuple[str, ...] = ()
    """What was not used of files beside the site file, a sentence each."""
    file: str = "site.toml"
    """The name of the file in errors."""
    text: str = ""
    """The site file as it was read."""

    def __post_init__(self) -> None:
        if self.heights and self.sensor.height is None:
            lowest = self.sensor.model_copy(update={"height": self.heights[0]})
            object.__setattr__(self, "sensor", lowest)

    @property
    def heights(self) -> tuple[float, ...]:
        """[m] above ground, from the lowest, at which readings are taken; none where it is at one."""
        return tuple(self.step.heights or ())

    @property
    def preset(self) -> str:
        """The name of the filter."""
        return self.search.preset or (
            default_preset(self.sources) if KINDS[self.kind].is_benchmark else "survey"
        )

    @property
    def low(self) -> Corner:
        return self.area[0]

    @property
    def high(self) -> Corner:
        return self.area[1]

    @property
    def diagonal(self) -> float:
        """[m], of the area."""
        return float(np.hypot(*np.subtract(self.high, self.low)))

    @cached_property
    def bounds(self) -> Bounds:
        """Where the sensor may be, at its usual height."""
        return self.bounds_at(self.sensor.height)

    def bounds_at(self, height: float | None) -> Bounds:
        """Return where a sensor at a height [m] above ground may be."""
        stopping = tuple(obstacle.corners for obstacle in self.obstacles if obstacle.stops(height))
        return Bounds(self.geofence, self.no_go, stopping, None if self.outside == "allow" else self.area)

    @property
    def allowed_share(self) -> float:
        """The share of the area in which the sensor may be."""
        return float(self._part_shares.sum())

    @property
    def reachable_share(self) -> float:
        """The share of the area to which there is a way from the start."""
        part = int(self.bounds.space.part(np.array(self.start or self.middle))[0])
        return float(self._part_shares[part]) if part >= 0 else 0.0

    @cached_property
    def _part_shares(self) -> np.ndarray:
        """The share of the area of each part between which there is no way."""
        return self.bounds.space.areas(*self.area) / float(np.prod(np.subtract(self.high, self.low)))

    def is_outside(self, corners: Polygon) -> bool:
        """Return whether nothing of a polygon lies in the area."""
        part = clip(corners, np.array(self.low), np.array(self.high))
        return len(part) == 0 or abs(signed_area(part)) < MIN_POLYGON_M2

    @property
    def middle(self) -> Corner:
        """[m], an allowed place near the middle of the area."""
        x, y = self.bounds.nearest(np.mean(self.area, axis=0))
        return float(x), float(y)

    @property
    def source_area(self) -> Area:
        """[m], the box that the source cannot leave."""
        return self.source or self.area

    @property
    def step_length(self) -> float:
        """[m]"""
        if self.step.length is not None:
            return self.step.length
        shorter_side = float(np.subtract(self.high, self.low).min())
        return min(max(shorter_side / 10, self.step.shortest or 0.0), self.step.longest or np.inf)

    @property
    def reading_time(self) -> float:
        """[s], that a reading takes."""
        given = self.step.reading_time
        return (self.sensor.dwell or 0.0) if given is None else given

    @property
    def found_radius(self) -> float:
        """[m], within which the source must lie to be found."""
        return self.diagonal / 100 if self.search.radius is None else self.search.radius

    @property
    def required_quantities(self) -> tuple[str, ...]:
        """Those of `QUANTITIES` that must come with each reading, or be known of its sensor."""
        asked = {
            "background": self.background.mode == "measured",
            "efficiency": self.sensor.efficiency is not None,
            "uncertainty": self.noise.uncertainty is not None,
            "heading": self.sensor.beam is not None,
        }
        known = {name for constants in self.sensors.values() for name in constants}
        return tuple(name for name in QUANTITIES if asked.get(name, False) or name in known)

    def why_unused(self, quantity: str) -> str | None:
        """Return why a survey's column of one of `QUANTITIES` is not used here; `None` where it is."""
        if quantity == "background" and self.background.mode not in ("usual", "measured"):
            return f'the background of the site is "{self.background.mode}" in [background]'
        if quantity in ("background", "uncertainty") and self.sensor.reading != "value":
            return f'readings of the site are "{self.sensor.reading}" in [sensor]'
        if quantity == "heading" and self.kind == "level" and self.sensor.beam is None:
            return "the antenna of the site has no `beam` in [sensor]"
        return why_no_quantity(self.kind, quantity)

    @property
    def known(self) -> str:
        """The numbers of the source that are known beforehand, in words; empty without any."""
        known = {name: number for name, number in self.prior.items() if isinstance(number, int | float)}
        return ", ".join(f"{name} is {number:g}" for name, number in known.items())


def build_model(site: Site, sensor_names: Sequence[str] = (), quantities: Collection[str] = ()) -> Model:
    """Return the model of source, field and sensor, for filters and planners.

    `sensor_names`, those of the survey, are needed where each sensor has its own background and the site does
    not name them. `quantities` are those of `QUANTITIES` that its readings have, besides those that the site
    requires. Errors name the file, and the key where it is known.
    """
    measured = {*site.required_quantities, *quantities}
    try:
        return compose(
            site.kind,
            UniformBox(*site.source_area),
            sources=site.sources,
            background="measured" if "background" in measured else _background(site),
            sensors=_sensors(site, sensor_names),
            noise=_noise(site),
            robust=site.noise.robust,
            redundancy=site.sensor.redundancy,
            efficiency="measured" if "efficiency" in measured else None,
            uncertainty="measured" if "uncertainty" in measured else None,
            dead_time=site.sensor.dead_time or 0.0,
            variation=site.background.variation,
            shielded=site.noise.shielded,
            lag=_lag(site),
            obstacles=_obstacles(site),
            **(_benchmark_settings(site) if KINDS[site.kind].is_benchmark else _settings(site)),
        )
    except Fault as fault:
        raise add_line(fault, site.file, site.text) from None
    except ValueError as error:
        raise ValueError(f"{site.file}: {error}") from None


def _benchmark_settings(site: Site) -> dict[str, Any]:
    numbers = {name: ends(setting) for name, setting in site.prior.items()}
    return {"options": {name: pair if len(pair) == 2 else pair[0] for name, pair in numbers.items()}}


def _settings(site: Site) -> dict[str, Any]:
    kind = KINDS[site.kind]
    known = {"beam": site.sensor.beam}
    if not kind.among_buildings:
        known["altitude"] = site.sensor.height
    if site.sensor.beam is not None:
        known["front_to_back"] = site.sensor.front_to_back
    settings: dict[str, Any] = {
        "unit": _field_unit(site),
        "reading": site.sensor.reading,
        "gas": site.gas,
        "distributions": _prior(site),
        "options": {**site.options, **{name: number for name, number in known.items() if number is not None}},
    }
    if kind.uses_wind:
        settings["wind"] = site.wind.velocity or site.wind.mode
    if kind.uses_wind and not kind.among_buildings:
        settings["edge"] = site.noise.edge
        settings["direction_error"] = site.wind.direction_error
    return settings


def _field_unit(site: Site) -> str:
    return world_unit(site.unit if site.field_unit is None else site.field_unit)


def _kind(site: Site) -> Kind:
    return kind_of(site.kind, _field_unit(site), site.gas)


def _prior(site: Site) -> Mapping[str, KnownOrDistribution]:
    kind = _kind(site)
    usual: dict[str, KnownOrDistribution] = {
        parameter.name: distribution
        for parameter, distribution in zip(kind.parameters, kind.distributions, strict=True)
    }
    usual |= {parameter.name: distribution for parameter, distribution in WIND}
    return {name: _number(setting, usual[name], "prior", name) for name, setting in site.prior.items()}


def _background(site: Site) -> KnownOrDistribution | str | None:
    setting = site.background
    if setting.mode in ("usual", "none"):
        return None if setting.mode == "none" else "usual"
    if setting.distribution is None or setting.distribution == "unknown":
        return "unknown"
    usual = None
    if not KINDS[site.kind].is_benchmark:
        usual = _kind(site).background
    return _number(setting.distribution, usual, "background", "range")


def simulated_background(site: Site) -> KnownOrDistribution:
    """Return the distribution of a measured background, from which simulations draw one for each mission."""
    found = _background(site)
    if not isinstance(found, str):
        return 0.0 if found is None else found
    if KINDS[site.kind].is_benchmark:
        return 0.0
    return _kind(site).background


def _sensors(site: Site, sensor_names: Sequence[str]) -> Sequence[str]:
    names = site.sensor.names or tuple(sensor_names)
    if site.sensor.reading == "rank":
        return names
    if site.background.mode != "per-sensor":
        return ()
    if not names:
        words = "which sensors are there? Give their `names` in [sensor], or a column sensor in the survey."
        raise Fault(words, "background", "mode")
    return names


_NOISE_KEYS = {
    ("noise", "floor"): "noise_floor",
    ("noise", "ratio"): "noise_ratio",
    ("noise", "correlation"): "correlation",
    ("noise", "correlation_length"): "correlation_length",
    ("noise", "fluctuation"): "fluctuation",
    ("noise", "correlation_time"): "correlation_time",
    ("sensor", "threshold"): "threshold",
    ("sensor", "false_alarms"): "false_alarms",
}
"""The keys of the numbers of a sensor, and their names in the model."""


def _noise(site: Site) -> Mapping[str, KnownOrDistribution]:
    usual: dict[str, KnownOrDistribution] = {}
    if not KINDS[site.kind].is_benchmark:
        kind = _kind(site)
        usual = {**kind.noise, **kind.unknown_noise, **kind.uncalibrated.get(site.sensor.reading, {})}
    given = {keys: getattr(getattr(site, keys[0]), keys[1]) for keys in _NOISE_KEYS}
    if site.search.may_jump and "correlation" in usual:
        # The errors of earlier readings are not known where the source was elsewhere.
        given["noise", "correlation"] = 0.0
    return {
        _NOISE_KEYS[keys]: _number(setting, usual.get(_NOISE_KEYS[keys]), *keys)
        for keys, setting in given.items()
        if setting is not None
    }


def _obstacles(site: Site) -> list[WorldObstacle]:
    usual = None if KINDS[site.kind].is_benchmark else _kind(site).obstacle_attenuation
    return [
        WorldObstacle(
            one.corners,
            OPAQUE
            if usual is None or one.attenuation == OPAQUE
            else _number(one.attenuation, usual, "obstacle"),
            math.inf if one.height is None else one.height,
            one.name,
        )
        for one in site.obstacles
    ]


def _lag(site: Site) -> KnownOrDistribution | str | None:
    lag = site.sensor.lag
    if lag is None or lag == "unknown":
        return None if lag is None else "unknown"
    return _number(lag, LAG[1], "sensor", "lag")


def _number(setting: Any, usual: KnownOrDistribution | None, *keys: str) -> KnownOrDistribution:
    """Return a known number or a distribution; a plain range has the scale of the usual distribution."""
    if isinstance(setting, int | float):
        return setting
    if setting == "unknown":
        if usual is None:
            raise Fault("there is no usual distribution of this; give [low, high].", *keys)
        return usual
    try:
        if isinstance(setting, NormalSetting):
            return Normal(setting.mean, setting.std)
        if isinstance(setting, LogNormalSetting):
            return LogNormal(setting.median, setting.factor)
        is_log = getattr(usual, "logarithmic", False) if setting.scale == "own" else setting.scale == "log"
        return (LogUniform if is_log else Uniform)(setting.low, setting.high)
    except ValueError as error:
        raise Fault(str(error), *keys) from None
