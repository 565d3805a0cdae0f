"""What a site file says, section by section. Lengths are in metres, times in seconds, wind where it goes."""

from dataclasses import dataclass

import numpy as np

Pair = tuple[float, float]


@dataclass(frozen=True)
class LawSetting:
    """What is believed of one parameter beforehand."""

    law: str
    """known, unknown (the kind's own law), range (on the kind's own scale), uniform, log-uniform, normal or
    log-normal."""
    first: float = 0.0
    """The low end, the mean, the median, or the known value."""
    second: float = 0.0
    """The high end, the standard deviation, or the factor."""


@dataclass(frozen=True)
class BackgroundSetting:
    """What the sensor reads where there is no source."""

    mode: str = "usual"
    """usual for the kind, none, known, unknown, or per-sensor: unknown and different for each sensor."""
    law: LawSetting | None = None
    """The known value or the law, in the unit of the readings; `None` for the kind's own."""


@dataclass(frozen=True)
class NoiseSetting:
    """How readings scatter around what is there."""

    floor: LawSetting | None = None
    """In the unit of the readings; `None` for the kind's own."""
    ratio: LawSetting | None = None
    """As a share of what the source adds; `None` for the kind's own."""
    robust: bool | float = False
    """Whether a few readings may be far off, or the degrees of freedom of Student's t that say how far."""
    edge: float = 0.0
    """How far off the edges of a gas plume may be, as a share of its middle."""


@dataclass(frozen=True)
class WindSetting:
    """What carries the plume."""

    mode: str = "measured"
    """measured with each reading, constant, or unknown."""
    velocity: Pair | None = None
    """[m/s], where the air goes: the constant wind."""
    missing: str = "leave-out"
    """What becomes of a reading without wind: refuse, leave-out or interpolate."""
    direction_error: float = 0.0
    """[°], standard deviation of the direction measured with a reading, another error at each."""


@dataclass(frozen=True)
class SensorSetting:
    """What the sensor is like, and what holds where a file has no such column."""

    names: tuple[str, ...] = ()
    """The sensors in their order; empty where the survey says which there are."""
    lag: LawSetting | None = None
    """[s], the time constant of a first-order lag; `None` for a sensor that answers at once."""
    dwell: float | None = None
    """[s], of each reading without its own."""
    dead_time: float | None = None
    """[s], after each count."""
    height: float | None = None
    """[m] above ground, of each reading without its own."""
    ground: float = 0.0
    """[m], taken off every altitude in a file."""
    redundancy: float | None = None
    """How many readings count as one, as neighbours err together; `None` where the readings have to say."""


@dataclass(frozen=True)
class StepSetting:
    """Where the next reading may be."""

    length: float | None = None
    """[m]; `None` for a tenth of the area's shorter side."""
    directions: int = 8
    points: np.ndarray | None = None
    """(k, 2) [m]: the only places where a reading may be taken; `None` for anywhere."""


@dataclass(frozen=True)
class Budget:
    """When the search ends at the latest. What is `None` is not limited."""

    distance: float | None = None
    """[m]"""
    readings: int | None = None
    time: float | None = None
    """[s]"""


@dataclass(frozen=True)
class SearchSetting:
    """How the search is run and when it has found the source."""

    preset: str = "default"
    particles: int | None = None
    radius: float | None = None
    """[m]; `None` for a hundredth of the area's diagonal."""
    probability: float = 0.95
    may_jump: bool = False
    """Whether source or wind may change during the search."""


@dataclass(frozen=True)
class FlightSetting:
    """How the plans fly that are exported for drones."""

    height: float | None = None
    """[m] above the place of take-off; `None` for that of the readings, or what is usual."""
    speed: float = 5.0
    """[m/s]"""
    hold: float | None = None
    """[s], how long to stay at each place; `None` for as long as a reading counts."""
