"""The site: where the search is, what is measured there and how, and what may be spent on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dowsax.geo.local import Frame
from dowsax.site.settings import (
    BackgroundSetting,
    Budget,
    FlightSetting,
    LawSetting,
    NoiseSetting,
    Pair,
    SearchSetting,
    SensorSetting,
    StepSetting,
    WindSetting,
)

if TYPE_CHECKING:
    from dowsax.world import Model

Polygon = np.ndarray
"""(n, 2) [m], the corners in order; the last is joined to the first."""


@dataclass(frozen=True, eq=False)
class Site:
    """A site file, understood. Everything is in the metres of `frame`."""

    name: str
    frame: Frame
    area: tuple[Pair, Pair]
    """[m], the south-western and the north-eastern corner of the box in which the source lies."""
    kind: str
    """What is measured: a kind of `world.compose`."""
    unit: str
    """Of the readings."""
    source: tuple[Pair, Pair] | None = None
    """[m], as `area`, where the source is known to lie in this part of it."""
    gas: str | float | None = None
    """Which gas, or its molar mass [g/mol]: turns readings in ppm into grams."""
    options: Mapping[str, float] = field(default_factory=dict)
    """Further known numbers of the field, by the names of the kind."""
    geofence: tuple[Polygon, ...] = ()
    no_go: tuple[Polygon, ...] = ()
    prior: Mapping[str, LawSetting] = field(default_factory=dict)
    """By the name of the parameter; those not named have the kind's own law."""
    background: BackgroundSetting = field(default_factory=BackgroundSetting)
    noise: NoiseSetting = field(default_factory=NoiseSetting)
    wind: WindSetting = field(default_factory=WindSetting)
    sensor: SensorSetting = field(default_factory=SensorSetting)
    start: Pair | None = None
    step: StepSetting = field(default_factory=StepSetting)
    budget: Budget = field(default_factory=Budget)
    search: SearchSetting = field(default_factory=SearchSetting)
    flight: FlightSetting = field(default_factory=FlightSetting)
    outside: str = "refuse"
    """What becomes of a reading outside the area: refuse, leave-out or allow."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column of a survey file holds what; see `survey.read_survey`."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """Which rows of a survey file belong to this search: the text in a column."""
    file: str = "site.toml"
    """What errors call it."""
    text: str = ""
    """The site file as it was read."""

    @property
    def low(self) -> Pair:
        return self.area[0]

    @property
    def high(self) -> Pair:
        return self.area[1]

    @property
    def source_area(self) -> tuple[Pair, Pair]:
        """[m], the box that the source cannot leave."""
        return self.source or self.area

    @property
    def step_length(self) -> float:
        """[m]"""
        sides = np.subtract(self.high, self.low)
        return float(sides.min() / 10) if self.step.length is None else self.step.length

    @property
    def found_radius(self) -> float:
        """[m], within which the source must lie to be found."""
        sides = np.subtract(self.high, self.low)
        return float(np.hypot(*sides) / 100) if self.search.radius is None else self.search.radius

    @property
    def known(self) -> str:
        """The numbers of the source that are known beforehand, in words; empty without any."""
        numbers = {name: law.first for name, law in self.prior.items() if law.law == "known"}
        return ", ".join(f"{name} is {number:g}" for name, number in numbers.items())

    def model(self, sensor_names: Sequence[str] = ()) -> "Model":
        """What this site says of source, field and sensor, as a model for filters and planners.

        `sensor_names`, those of the survey, are needed where each sensor has its own background and the site
        does not name them.
        """
        from dowsax.site.model import model

        return model(self, sensor_names)


def read_site(path: Path | str) -> Site:
    """The site in a TOML file, or a ValueError in one line that names file, line, key and what to do."""
    from dowsax.site.text import site_text

    return parse_site(site_text(Path(path)), str(path))


def parse_site(text: str, name: str = "site.toml") -> Site:
    """The site that a text describes; `name` is what errors call it."""
    from dowsax.site.keys import understood

    return understood(text, name)
