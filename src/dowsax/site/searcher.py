"""The searchers of a team: the tables `[[searcher]]` of a site file."""

from dataclasses import dataclass

from dowsax.geo.polygons import Polygon
from dowsax.site.obstacles import Corner
from dowsax.site.section import Heights, Number, Pair, Points, Section, Whole, key

MAX_SEARCHERS = 20
"""Of a team: each plans with the places of all others."""
MAX_NAME_LENGTH = 40


class SearcherSetting(Section):
    """One of several searchers that share one belief; what it does not have of its own is as for the site."""

    name: str = key(..., min_length=1, max_length=MAX_NAME_LENGTH)
    """What the searcher is called, in its readings and in advice."""
    start: Pair | None = key(example=[10.0, 10.0], unit="m")
    """Where this searcher starts. Default: that of [start]."""
    start_degrees: Pair | None = key(example=[52.1001, 5.1001], unit="°")
    """The start as latitude and longitude instead."""
    speed: Number | None = key(example=1.0, unit="m/s", gt=0, le=100)
    """How fast it goes from one reading to the next. Default: that of [step]."""
    height: Number | None = key(example=2.0, unit="m", ge=0)
    """Height of its sensor above ground where a reading does not say. Default: that of [sensor]."""
    heights: Heights | None = key(example=[5.0, 10.0], unit="m")
    """The heights above ground at which it can read. Default: its `height`, else those of [step]."""
    geofence: Points | None = key(example=[[0.0, 0.0], [100.0, 0.0], [100.0, 150.0], [0.0, 150.0]], unit="m")
    """The corners of where this searcher may be, one way round. Default: the geofence of the site."""
    geofence_degrees: Points | None = key(example=[[52.1, 5.1], [52.1, 5.103], [52.1015, 5.103]], unit="°")
    """These corners as latitude and longitude instead."""
    distance: Number | None = key(example=2000.0, unit="m", gt=0)
    """Length of its way. Default: that of [budget], for each searcher."""
    readings: Whole | None = key(example=100, ge=1)
    """Number of its readings. Default: that of [budget], for each searcher."""
    time: Number | None = key(example=1800.0, unit="s", gt=0)
    """Time since its start. Default: that of [budget], for each searcher."""


@dataclass(frozen=True, eq=False)
class Searcher:
    """A searcher of a site, in metres. What is `None` is as for the site."""

    name: str
    start: Corner | None = None
    """[m]"""
    speed: float | None = None
    """[m/s]"""
    height: float | None = None
    """[m] above ground, of its sensor."""
    heights: tuple[float, ...] = ()
    """[m] above ground, at which it reads."""
    geofence: Polygon | None = None
    """[m]"""
    distance: float | None = None
    """[m]"""
    readings: int | None = None
    time: float | None = None
    """[s]"""
