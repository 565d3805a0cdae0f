"""What a survey or a mission has found: the input of reports and exports."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Polygon
from dowsax.inference import Posterior
from dowsax.inference.prior_draws import draw_prior
from dowsax.inference.sources import SourceEstimate, estimate_sources
from dowsax.mission.advice import FOUND, INCONCLUSIVE, Leg
from dowsax.mission.decision import MIN_LOG_ODDS
from dowsax.report.regions import Box, Piece, Region, credible_regions
from dowsax.site.flight import FlightSetting
from dowsax.site.obstacles import Obstacle
from dowsax.version import versions
from dowsax.world import Model
from dowsax.world.several_columns import single_name

PROBABILITIES = (0.5, 0.95)
MAX_LOG_EVIDENCE = 1e6
"""Log evidence where only a source can explain the readings."""
MIN_STRONG_LOG_EVIDENCE = math.log(20.0)
"""Strong evidence (Kass and Raftery, 1995): odds of 20 to 1 for a source."""
MISFIT, NO_EVIDENCE, LIKELY, LOCATED = "misfit", "no-evidence", "likely", "located"
"""Values of `Findings.status`, besides `INCONCLUSIVE`."""
_NUM_PRIOR_DRAWS = 2000
_MAX_LEARNT_SHARE = 0.7
"""A parameter whose interval holds more than this share of the prior's has not been learnt."""
_COLUMNS = ("positions", "values", "far_ends", "lines", "time", "altitude", "wind", "dwell")
"""Of `Findings`, with an entry for each reading."""
_MAX_COVERED_SHARE = 0.4
"""A region that covers more of the area has not located anything."""


class Rule(NamedTuple):
    """When a source counts as located: within the radius of the mean with this probability."""

    radius: float
    """[m]"""
    probability: float


class Track(NamedTuple):
    """The way of one searcher so far, and where it goes next."""

    name: str
    """Empty where there is one searcher without a name."""
    places: np.ndarray
    """(m, 2) [m], in the order taken."""
    last: np.ndarray
    """(1, 2) [m], of the newest reading."""
    waypoints: np.ndarray
    """(m, 2) [m], where it reads next, in turn."""
    next_way: np.ndarray
    """(m, 2) [m], the corners of the way to the first of them."""
    numbers: np.ndarray
    """(m,), of its readings, from 0."""
    colour: str = ""
    """As #rrggbb; empty for that of a single track."""
    geofence: tuple[Polygon, ...] = ()
    """Where this searcher may be."""
    next_height: float | None = None
    """[m] above ground, of where it reads next; `None` where all readings are at one height."""
    later: tuple[Leg, ...] = ()
    """The legs to the waypoints after the first, where several are planned ahead."""

    @property
    def whole_next_way(self) -> np.ndarray:
        """(m, 2) [m], from the last reading to all waypoints."""
        ways = [self.next_way, *(np.reshape(leg.way, (-1, 2)) for leg in self.later)]
        legs = zip_longest(ways, self.waypoints[:, None], fillvalue=np.zeros((0, 2)))
        return np.concatenate([self.last, *(part for leg in legs for part in leg)])

    @property
    def has_way(self) -> bool:
        """Whether the way to the waypoints is worth a line: it bends, or there are several in turn."""
        return bool(len(self.waypoints) and (len(self.next_way) or self.later))

    @property
    def heights(self) -> tuple[float | None, ...]:
        """[m] above ground, of each waypoint; `None` where all readings are at one height."""
        first = self.next_height
        later = [leg.height for leg in self.later]
        return first, *later, *[first] * (len(self.waypoints) - 1 - len(later))


TRACK_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f4690", "#94346e")
"""Of several searchers in turn: Okabe and Ito's, which differ to colour-blind eyes as well."""


@dataclass(frozen=True, eq=False)
class Findings:
    """Readings, and what they say about the source. Positions are in the metres of `coordinates`.

    Arrays have one entry a reading, in the order taken; what was not measured is `None`.
    """

    name: str
    posterior: Posterior
    regions: Mapping[float, Region]
    positions: np.ndarray
    """(k, 2) [m]; of paths, their first ends."""
    values: np.ndarray
    unit: str = ""
    kind: str = ""
    """What was measured."""
    coordinates: LocalCoordinates = field(default_factory=LocalCoordinates)
    area: Box | None = None
    """The box in which the source lies [m]."""
    geofence: tuple[Polygon, ...] = ()
    no_go: tuple[Polygon, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    far_ends: np.ndarray | None = None
    """(k, 2) [m], the other ends of paths, and the positions of readings at points; `None` without paths."""
    lines: np.ndarray | None = None
    """The line of the file on which each reading ends."""
    time: np.ndarray | None = None
    """[s]"""
    altitude: np.ndarray | None = None
    """[m] above ground"""
    wind: np.ndarray | None = None
    """(k, 2) [m/s], where the air goes."""
    dwell: np.ndarray | None = None
    """[s], how long each reading counted."""
    has_track: bool = True
    """Whether one sensor moved from reading to reading, see `survey.repeats.is_track`."""
    evidence: float | None = None
    """log p(readings | a source) − log p(readings | none)."""
    rule: Rule | None = None
    """That of the site; without one, any region that is not wide is near enough."""
    prior_interval: tuple[np.ndarray, np.ndarray] | None = None
    """The central 90 % of each parameter before any reading."""
    waypoints: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    """(m, 2) [m], where to read next."""
    next_way: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    """(m, 2) [m], the corners of the way to the first of them."""
    next_height: float | None = None
    """[m] above ground, at which to read there; `None` where all readings are at one height."""
    later: tuple[Leg, ...] = ()
    """The legs to the waypoints after the first, where several are planned ahead."""
    next_path: np.ndarray | None = None
    """(2, 2) [m], the ends of the path to read next; `None` where there is none."""
    team: tuple[Track, ...] = ()
    """Of several searchers; empty where there is one without a name."""
    caution: str = ""
    """What makes the answer doubtful, a sentence in front of it."""
    is_stuck: bool = False
    """Whether a sensor reads the same again and again: it is no evidence that there is no source."""
    outcome: str = ""
    """Of a mission, its last status: `searching`, `found` or `inconclusive`. Empty for a survey."""
    flight: FlightSetting = field(default_factory=FlightSetting)
    notes: tuple[str, ...] = ()
    """What a reader of the result should know about the survey, a sentence each."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=versions)

    def __post_init__(self) -> None:
        if self.posterior.is_batch:
            raise ValueError("Findings are of one survey: locate the surveys of a batch one by one.")
        if np.shape(self.positions) != (len(self.values), 2):
            raise ValueError(
                f"There must be one reading for each position: got {np.shape(self.positions)} positions "
                f"and {np.shape(self.values)} readings."
            )

    @property
    def ends(self) -> np.ndarray:
        """(k, 2, 2) [m], both ends of each reading's path: the same place twice for a reading at a point."""
        return np.stack([self.positions, self.positions if self.far_ends is None else self.far_ends], axis=1)

    @property
    def is_path(self) -> np.ndarray:
        """(k,), whether each reading is along a path."""
        return np.any(self.ends[:, 0] != self.ends[:, 1], axis=1)

    @property
    def track(self) -> np.ndarray:
        """(m, 2) [m], the places of readings at points; nobody goes along paths or between fixed sensors."""
        return self.positions[~self.is_path & self.has_track]

    @property
    def tracks(self) -> tuple[Track, ...]:
        """The way of each searcher, and where it goes next."""
        if self.team:
            return self.team
        numbers = np.arange(len(self.positions))
        ways = self.track, self.positions[-1:], self.waypoints, self.next_way
        return (Track("", *ways, numbers, next_height=self.next_height, later=self.later),)

    def for_searcher(self, track: Track) -> "Findings":
        """Return the findings with the readings and the next place of one of several searchers only."""
        columns = {
            name: None if column is None else column[track.numbers]
            for name, column in {name: getattr(self, name) for name in _COLUMNS}.items()
        }
        return replace(
            self,
            team=(),
            geofence=track.geofence,
            waypoints=track.waypoints,
            next_way=track.next_way,
            next_height=track.next_height,
            later=track.later,
            **columns,
        )

    @property
    def estimate(self) -> np.ndarray:
        """The mean position of the source (2,) [m]; of several, of the strongest."""
        return self.posterior.position(self.posterior.mean)

    @property
    def spread(self) -> np.ndarray:
        """Its standard deviations (2,) [m]."""
        return self.posterior.position(self.posterior.std)

    @cached_property
    def radius(self) -> float:
        """Radius [m] of the disc around the estimate that holds 95 %; of several sources, around each."""
        return float(self.posterior.credible_radius(0.95))

    @cached_property
    def sources(self) -> tuple[SourceEstimate, ...]:
        """Each source, the strongest first; one unless the site has several."""
        return estimate_sources(self.posterior)

    @cached_property
    def places(self) -> tuple[Piece, ...]:
        """Where the source may be, the likeliest first: several places where the 95 % region is in pieces.

        Of several sources, the place of each.
        """
        if len(self.sources) > 1:
            return tuple(Piece(source.position, source.std, 1.0, source.radius) for source in self.sources)
        if 0.95 in self.regions:
            points, weights = self.posterior.position(self.posterior.samples), self.posterior.weights
            pieces = self.regions[0.95].pieces(points, weights)
        else:
            pieces = ()
        return pieces or (Piece(self.estimate, self.spread, 1.0, self.radius),)

    @property
    def covered(self) -> float | None:
        """The share of the area that the 95 % region covers."""
        if self.area is None or 0.95 not in self.regions:
            return None
        return self.regions[0.95].area / float(np.prod(np.subtract(self.area[1], self.area[0])))

    @property
    def not_learnt(self) -> tuple[str, ...]:
        """Names of the parameters about which the readings say little or nothing.

        A wide interval beside that of the prior says something.
        """
        if self.prior_interval is None:
            return ()
        low, high = self.posterior.interval(0.9)
        prior_low, prior_high = self.prior_interval
        common = np.minimum(high, prior_high) - np.maximum(low, prior_low)
        is_same = common > _MAX_LEARNT_SHARE * np.subtract(prior_high, prior_low)
        return tuple(name for name, same in zip(self.posterior.names, is_same, strict=True) if same)

    @property
    def status(self) -> str:
        """One of `MISFIT`, `NO_EVIDENCE`, `INCONCLUSIVE`, `LIKELY`, `LOCATED`."""
        if not self.posterior.fits:
            return MISFIT
        if self.evidence is not None and self.evidence < MIN_LOG_ODDS:
            return NO_EVIDENCE
        if self.covered is not None and self.covered > _MAX_COVERED_SHARE:
            return INCONCLUSIVE
        is_settled = self.is_near_enough and self.is_evident and not self.posterior.has_excess_noise
        return LOCATED if is_settled else LIKELY

    @property
    def is_near_enough(self) -> bool:
        """Whether the rule holds; for a mission, whether its status is `found`."""
        if self.outcome:
            return self.outcome == FOUND
        rule = self.rule
        return rule is None or float(self.posterior.probability_within(rule.radius)) >= rule.probability

    @property
    def is_evident(self) -> bool:
        """Whether the evidence for a source is strong, or not known."""
        return self.evidence is None or self.evidence >= MIN_STRONG_LOG_EVIDENCE

    @property
    def is_sure(self) -> bool:
        """Whether the source is located without caution."""
        return self.status == LOCATED and not self.caution

    def degrees(self, positions) -> np.ndarray | None:
        """Return latitude and longitude (k, 2) of positions (k, 2) [m]; `None` without an origin."""
        return self.coordinates.to_degrees(positions) if self.coordinates.is_geographic else None


def as_box(low, high) -> Box:
    """Return the corners of a box as arrays."""
    return np.asarray(low, np.float64), np.asarray(high, np.float64)


def regions_of(posterior: Posterior, within: Box | None = None) -> dict[float, Region]:
    """Return the regions that reports show."""
    box = None if within is None else as_box(*within)
    return credible_regions(*source_places(posterior), PROBABILITIES, box)


def source_places(posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions (k, 2) [m] of all sources in all samples, and their weights, which sum to one."""
    places = posterior.source_positions(posterior.samples)
    number = places.shape[1]
    return places.reshape(-1, places.shape[2]), np.repeat(posterior.weights / number, number)


def prior_interval(model: Model, posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Return the central 90 % of each parameter of a posterior under the prior of its model, from draws."""
    draws = np.asarray(draw_prior(model.prior), np.float64)[:_NUM_PRIOR_DRAWS]
    names = [single_name(parameter.name) for parameter in model.prior.parameters]
    # Sources are alike before any reading.
    draws = draws[:, [names.index(single_name(name)) for name in posterior.names]]
    low, high = np.quantile(draws, (0.05, 0.95), axis=0)
    return low, high
