"""Advice: the answer to a reading."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from dowsax.geo.local import LocalCoordinates

SEARCHING = "searching"
FOUND = "found"
INCONCLUSIVE = "inconclusive"
_OLD_STATUSES = {"cannot tell": INCONCLUSIVE}
"""Values in files of earlier versions, each with the value that replaced it."""
_DECIMALS_M, _DECIMALS_DEGREES, _DECIMALS_BEARING = 3, 9, 2
"""Decimals in messages: a millimetre, a tenth of one on the globe, and a hundredth of a degree."""
_SIGNIFICANT_DIGITS = 6
"""Of other numbers: float32 has seven."""


def read_status(status: str) -> str:
    """Return a status from a file by its present name."""
    return _OLD_STATUSES.get(status, status)


_ALONG_WIND_DEGREES = 30.0
"""Within this angle of the wind one goes with it, or against it."""
_LEAST_SHARE = 0.005
"""Of the area; less is not worth a number."""
_NEARLY = 0.05


@dataclass(frozen=True)
class Estimate:
    """Mean and 95 % interval of every parameter, the position first."""

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
    """The disc about the mean position that holds the source with this probability."""

    centre: tuple[float, float]
    """[m]"""
    radius: float
    """[m]"""
    probability: float = 0.95


@dataclass(frozen=True)
class Leg:
    """The way to one of the places ahead, and that place."""

    position: tuple[float, float]
    """[m], where to read."""
    distance: float | None
    """[m], of the shortest way there from the place before, over ground; `None` where that is not known."""
    way: tuple[tuple[float, float], ...] = ()
    """[m], its corners in turn; none where it is straight."""
    height: float | None = None
    """[m] above ground, at which to read, where the site lists several heights."""

    def to_json(self) -> dict[str, Any]:
        """Return an object; only that of a bent way, or of several heights, has the keys of these."""
        return {name: part for name, part in asdict(self).items() if part not in (None, ())}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Leg":
        """Invert `to_json`."""
        way = tuple(tuple(corner) for corner in body.get("way", ()))
        return cls(tuple(body["position"]), body.get("distance"), way, body.get("height"))


SPECIAL_KEYS = (
    "ahead",
    "next_way",
    "next_height",
    "next_far_end",
    "next_path",
    "sources",
    "number_probability",
    "more_probability",
    "searcher",
    "next_aim",
)
"""Keys of a message that only some have: with several places, sources, searchers, obstacles or heights."""


@dataclass(frozen=True)
class Advice:
    """What to do after a reading, and the current estimate."""

    number: int
    """Of the step, counted from 1 over readings and corrections."""
    status: str
    """`searching`, `found` or `inconclusive`."""
    next_position: tuple[float, float] | None
    """[m], where to read next; `None` when the search is over."""
    bearing: float | None
    """[degrees clockwise from north], at which the way there begins; `None` straight up or down."""
    distance: float | None
    """[m], of the shortest way there, over ground."""
    estimate: Estimate
    region: Disc
    why: str
    evidence: float | None = None
    """The log of how many times likelier the readings are with a source than without [nats]."""
    id: str | None = None
    """Of the reading this answers."""
    warnings: tuple[str, ...] = ()
    """About a reading that counts all the same; each is reported once, when its cause begins."""
    next_way: tuple[tuple[float, float], ...] = ()
    """[m], the corners of the way there in turn; none where it is straight."""
    next_far_end: tuple[float, float] | None = None
    """[m], the other end of the path to read next, which begins at `next_position`; `None` for a place."""
    next_path: str | None = None
    """The name of that path."""
    sources: tuple[Disc, ...] = ()
    """Of several sources, the disc of each, in the order of the estimate."""
    number_probability: float | None = None
    """That there are as many sources as in the estimate; `None` where their number is known."""
    more_probability: float | None = None
    """That there are more."""
    searcher: str | None = None
    """For whom it is, where a site has several searchers."""
    next_height: float | None = None
    """[m] above ground, at which to read next, where the site lists several heights."""
    ahead: tuple[Leg, ...] = ()
    """The next places in the order of flight, the first `next_position`, where several are planned ahead."""
    next_aim: tuple[float, float] | None = None
    """[m], the far place on the way to which a searcher of a team stops and reads at `next_position`."""

    def to_json(self) -> dict[str, Any]:
        """Return an object; only advice on a bent way, a path or several sources has the keys of these."""
        body = asdict(self) | {"ahead": tuple(leg.to_json() for leg in self.ahead)}
        special = {name: body.pop(name) for name in SPECIAL_KEYS}
        return body | {name: part for name, part in special.items() if part not in (None, ())}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Advice":
        """Invert `to_json`."""
        estimate = Estimate(**{name: tuple(values) for name, values in body["estimate"].items()})
        region, *sources = (
            Disc(**(disc | {"centre": tuple(disc["centre"])}))
            for disc in (body["region"], *body.get("sources", ()))
        )
        places = {name: body.get(name) for name in ("next_position", "next_far_end", "next_aim")}
        parts = {
            "estimate": estimate,
            "region": region,
            "sources": tuple(sources),
            **{name: None if place is None else tuple(place) for name, place in places.items()},
            "next_way": tuple(tuple(corner) for corner in body.get("next_way", ())),
            "warnings": tuple(body.get("warnings", ())),
            "ahead": tuple(map(Leg.from_json, body.get("ahead", ()))),
        }
        return cls(**(body | parts))

    def message(self, coordinates: LocalCoordinates) -> dict[str, Any]:
        """Return the message to send: rounded numbers, and degrees where the site has them."""
        body = self._round().to_json()
        if not coordinates.is_geographic:
            return body
        places = {"estimate": self.estimate.position, "next": self.next_position}
        places |= {"next_far_end": self.next_far_end, "next_aim": self.next_aim}
        degrees: dict[str, Any] = {
            name: _in_degrees(place, coordinates) for name, place in places.items() if place is not None
        }
        if self.next_way:
            degrees["next_way"] = [_in_degrees(corner, coordinates) for corner in self.next_way]
        if self.ahead:
            degrees["ahead"] = [_leg_in_degrees(leg, coordinates) for leg in self.ahead]
        return body | {"degrees": degrees}

    def _round(self) -> "Advice":
        """Round to the digits that mean something; the log keeps all of them."""
        estimate, places = self.estimate, ("next_position", "next_far_end", "next_aim")
        given = {name: getattr(self, name) for name in places}
        lists = {name: _round_parameters(getattr(estimate, name)) for name in ("mean", "low", "high")}
        return replace(
            self,
            **{name: None if place is None else _round(place, _DECIMALS_M) for name, place in given.items()},
            next_way=tuple(_round(corner, _DECIMALS_M) for corner in self.next_way),
            bearing=None if self.bearing is None else round(self.bearing, _DECIMALS_BEARING) % 360.0,
            distance=None if self.distance is None else round(self.distance, _DECIMALS_M),
            estimate=replace(estimate, **lists),
            region=_round_disc(self.region),
            sources=tuple(map(_round_disc, self.sources)),
            ahead=tuple(map(_round_leg, self.ahead)),
            evidence=None if self.evidence is None else _significant(self.evidence),
        )


def _in_degrees(place: tuple[float, float], coordinates: LocalCoordinates) -> dict[str, float]:
    latitude, longitude = _round(coordinates.to_degrees([place])[0], _DECIMALS_DEGREES)
    return {"latitude": latitude, "longitude": longitude}


def _leg_in_degrees(leg: Leg, coordinates: LocalCoordinates) -> dict[str, Any]:
    way = {"way": [_in_degrees(corner, coordinates) for corner in leg.way]} if leg.way else {}
    return _in_degrees(leg.position, coordinates) | way


def _round_leg(leg: Leg) -> Leg:
    return replace(
        leg,
        position=_round(leg.position, _DECIMALS_M),
        distance=None if leg.distance is None else round(leg.distance, _DECIMALS_M),
        way=tuple(_round(corner, _DECIMALS_M) for corner in leg.way),
    )


def _round_disc(disc: Disc) -> Disc:
    return replace(disc, centre=_round(disc.centre, _DECIMALS_M), radius=round(disc.radius, _DECIMALS_M))


def _round_parameters(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Round a list of parameters, the position first."""
    return *_round(numbers[:2], _DECIMALS_M), *map(_significant, numbers[2:])


def _round(numbers: Iterable[float], decimals: int) -> tuple[float, ...]:
    return tuple(round(float(number), decimals) for number in numbers)


def _significant(number: float) -> float:
    return float(f"{number:.{_SIGNIFICANT_DIGITS}g}")


def bearing_and_distance(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Return the bearing [degrees clockwise from north, 0 to 360] and the distance [m] from start to end."""
    east, north = end[0] - start[0], end[1] - start[1]
    return math.degrees(math.atan2(east, north)) % 360.0, math.hypot(east, north)


def compass_direction(bearing: float) -> str:
    """Return the compass direction nearest to a bearing, of sixteen."""
    quarters = ("north", "east", "south", "west")
    between = ("northeast", "southeast", "southwest", "northwest")
    number = round(bearing / 22.5) % 16
    if number % 4 == 0:
        return quarters[number // 4]
    middle = between[number // 4]
    nearest = quarters[round(number / 4) % 4]
    return middle if number % 4 == 2 else f"{nearest}-{middle}"


def relative_to_wind(bearing: float, wind: tuple[float, float] | None) -> str:
    """Say where a bearing [degrees] goes in a wind (u, v) [m/s]; nothing across it, or without a wind."""
    if wind is None or math.hypot(*wind) == 0:
        return ""
    downwind = math.degrees(math.atan2(*wind))
    off = abs((bearing - downwind + 180.0) % 360.0 - 180.0)
    if off >= 180.0 - _ALONG_WIND_DEGREES:
        return ", upwind"
    return ", downwind" if off <= _ALONG_WIND_DEGREES else ""


def reason(gain: float | None) -> str:
    """Say what a reading should bring: a gain of g nats leaves a share of exp(-g) of the area."""
    if gain is None:
        return ""
    ruled_out = 1.0 - math.exp(-gain)
    if ruled_out < _LEAST_SHARE:
        return ": hardly anything has been ruled out there"
    if abs(ruled_out - 0.5) < _NEARLY:
        return ": a reading should halve the area where the source may be"
    return f": a reading should rule out {100 * ruled_out:.0f} % of the area where the source may be"
