"""The site: where the search is, what is measured there, and the budget."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Bounds, Polygon
from dowsax.site.schema import (
    BackgroundSetting,
    Budget,
    FlightSetting,
    NoiseSetting,
    SearchSetting,
    SensorSetting,
    StepSetting,
    WindSetting,
)
from dowsax.site.section import Distribution

Corner = tuple[float, float]
Area = tuple[Corner, Corner]
"""[m], the south-western and the north-eastern corner."""


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
    source: Area | None = None
    """[m], as `area`, where the source is known to lie in this part of it."""
    gas: str | float | None = None
    """Which gas, or its molar mass [g/mol]: turns readings in ppm into grams."""
    options: Mapping[str, float] = field(default_factory=dict)
    """Further known numbers of the field, by the names of the kind."""
    geofence: tuple[Polygon, ...] = ()
    no_go: tuple[Polygon, ...] = ()
    prior: Mapping[str, Distribution] = field(default_factory=dict)
    """By the name of the parameter; the others have the usual distribution of the kind."""
    background: BackgroundSetting = field(default_factory=BackgroundSetting)
    noise: NoiseSetting = field(default_factory=NoiseSetting)
    wind: WindSetting = field(default_factory=WindSetting)
    """`velocity` [m/s] is where the air goes, whichever way a constant wind is given."""
    sensor: SensorSetting = field(default_factory=SensorSetting)
    start: Corner | None = None
    """[m]; `None` for the middle of the area."""
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
    file: str = "site.toml"
    """The name of the file in errors."""
    text: str = ""
    """The site file as it was read."""

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

    @property
    def bounds(self) -> Bounds:
        """Where the sensor may be."""
        return Bounds(self.geofence, self.no_go)

    @property
    def reachable_share(self) -> float:
        """The share of the area in which the sensor may be, from a grid of 2,500 places."""
        axes = [np.linspace(self.low[axis], self.high[axis], 101)[1::2] for axis in (0, 1)]
        grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
        return float(self.bounds.allow(grid).mean())

    def is_outside(self, corners: Polygon) -> bool:
        """Return whether a polygon lies outside the area."""
        return bool((corners.max(axis=0) < self.low).any() or (corners.min(axis=0) > self.high).any())

    @property
    def source_area(self) -> Area:
        """[m], the box that the source cannot leave."""
        return self.source or self.area

    @property
    def step_length(self) -> float:
        """[m]"""
        shorter_side = float(np.subtract(self.high, self.low).min())
        return shorter_side / 10 if self.step.length is None else self.step.length

    @property
    def found_radius(self) -> float:
        """[m], within which the source must lie to be found."""
        return self.diagonal / 100 if self.search.radius is None else self.search.radius

    @property
    def known(self) -> str:
        """The numbers of the source that are known beforehand, in words; empty without any."""
        known = {name: number for name, number in self.prior.items() if isinstance(number, int | float)}
        return ", ".join(f"{name} is {number:g}" for name, number in known.items())
