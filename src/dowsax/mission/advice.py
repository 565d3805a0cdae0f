"""What the advisor answers to a reading."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from dowsax.mission.frame import Frame

SEARCHING = "searching"
FOUND = "found"
CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Estimate:
    """The belief parameter by parameter, the position first: mean and the interval that holds 95 %."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def position(self) -> tuple[float, float]:
        """[m]"""
        return self.mean[0], self.mean[1]


@dataclass(frozen=True)
class Region:
    """The disc around the mean position that holds the source with this probability."""

    centre: tuple[float, float]
    """[m]"""
    radius: float
    """[m]"""
    probability: float = 0.95


@dataclass(frozen=True)
class Advice:
    """What to do after a reading, and what is believed."""

    number: int
    """How many readings have been taken in."""
    status: str
    """`searching`, `found` or `cannot tell`."""
    next_position: tuple[float, float] | None
    """[m], where to read next; `None` when the search is over."""
    bearing: float | None
    """[degrees clockwise from north], to there."""
    distance: float | None
    """[m], to there."""
    estimate: Estimate
    region: Region
    why: str
    evidence: float | None = None
    """The log of how many times likelier the readings are with a source than without, where it is known."""
    id: str | None = None
    """Of the reading this answers."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Advice":
        """The inverse of `to_json`."""
        estimate = Estimate(**{name: tuple(values) for name, values in body["estimate"].items()})
        region = Region(**(body["region"] | {"centre": tuple(body["region"]["centre"])}))
        there = body["next_position"]
        parts = {
            "estimate": estimate,
            "region": region,
            "next_position": None if there is None else tuple(there),
        }
        return cls(**(body | parts))

    def message(self, frame: Frame) -> dict[str, Any]:
        """As it is sent: `to_json`, with the places in degrees too where the site is on the globe."""
        body = self.to_json()
        if not frame.is_geographic:
            return body
        places = {"estimate": self.estimate.position, "next": self.next_position}
        degrees = {
            name: dict(zip(("latitude", "longitude"), map(float, frame.to_degrees([place])[0]), strict=True))
            for name, place in places.items()
            if place is not None
        }
        return body | {"degrees": degrees}


def way(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Bearing [degrees clockwise from north, from 0 to 360] and distance [m] from start to end."""
    east, north = end[0] - start[0], end[1] - start[1]
    return math.degrees(math.atan2(east, north)) % 360.0, math.hypot(east, north)


def compass(bearing: float) -> str:
    """The bearing in a word of the compass."""
    words = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
    return words[round(bearing / 45.0) % 8]
