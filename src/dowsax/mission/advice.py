"""What the advisor answers to a reading."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from dowsax.geo.local import LocalCoordinates

SEARCHING = "searching"
FOUND = "found"
INCONCLUSIVE = "inconclusive"
_METRES, _DEGREES, _BEARING = 3, 9, 2
"""Decimals of what is told: a millimetre, a tenth of one on the globe, and a hundredth of a degree."""
_DIGITS = 6
"""Of other numbers: single precision has seven."""


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
class Disc:
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
    region: Disc
    why: str
    evidence: float | None = None
    """The log of how many times likelier the readings are with a source than without, where it is known."""
    id: str | None = None
    """Of the reading this answers."""
    warnings: tuple[str, ...] = ()
    """What is odd about the reading, which counts all the same; each is said once, when it begins."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Advice":
        """The inverse of `to_json`."""
        estimate = Estimate(**{name: tuple(values) for name, values in body["estimate"].items()})
        region = Disc(**(body["region"] | {"centre": tuple(body["region"]["centre"])}))
        there = body["next_position"]
        parts = {
            "estimate": estimate,
            "region": region,
            "next_position": None if there is None else tuple(there),
            "warnings": tuple(body.get("warnings", ())),
        }
        return cls(**(body | parts))

    def message(self, frame: LocalCoordinates) -> dict[str, Any]:
        """As it is sent: `to_json` in round numbers, and the places in degrees too where there are any."""
        body = self._rounded().to_json()
        if not frame.is_geographic:
            return body
        places = {"estimate": self.estimate.position, "next": self.next_position}
        degrees = {
            name: dict(
                zip(("latitude", "longitude"), _round(frame.to_degrees([place])[0], _DEGREES), strict=True)
            )
            for name, place in places.items()
            if place is not None
        }
        return body | {"degrees": degrees}

    def _rounded(self) -> "Advice":
        """In the digits that mean something; what is logged, and computed with, keeps all of them."""
        told, there = self.estimate, self.next_position
        lists = {name: _told(getattr(told, name)) for name in ("mean", "low", "high")}
        return replace(
            self,
            next_position=None if there is None else _round(there, _METRES),
            bearing=None if self.bearing is None else round(self.bearing, _BEARING) % 360.0,
            distance=None if self.distance is None else round(self.distance, _METRES),
            estimate=replace(told, **lists),
            region=replace(
                self.region,
                centre=_round(self.region.centre, _METRES),
                radius=round(self.region.radius, _METRES),
            ),
            evidence=None if self.evidence is None else _significant(self.evidence),
        )


def _told(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Of a list of parameters, the position first."""
    return *_round(numbers[:2], _METRES), *map(_significant, numbers[2:])


def _round(numbers: Iterable[float], decimals: int) -> tuple[float, ...]:
    return tuple(round(float(number), decimals) for number in numbers)


def _significant(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def way(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Bearing [degrees clockwise from north, from 0 to 360] and distance [m] from start to end."""
    east, north = end[0] - start[0], end[1] - start[1]
    return math.degrees(math.atan2(east, north)) % 360.0, math.hypot(east, north)


def compass(bearing: float) -> str:
    """The bearing in a word of the compass."""
    words = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
    return words[round(bearing / 45.0) % 8]
