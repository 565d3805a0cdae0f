"""What a survey or a mission has found: the one thing reports and exports are made from."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np

from dowsax.geo.local import Frame
from dowsax.geo.polygons import Polygon
from dowsax.inference import Posterior
from dowsax.mission.advice import FOUND
from dowsax.mission.decision import MIN_LOG_ODDS
from dowsax.report.regions import Box, Region, credible_regions
from dowsax.site.schema import FlightSetting
from dowsax.version import versions
from dowsax.world import Model

PROBABILITIES = (0.5, 0.95)
BEYOND = 1e6
"""The log evidence where nothing but a source can give the readings at all."""
STRONG_EVIDENCE = math.log(20.0)
"""From which it counts as strong (Kass and Raftery, 1995): odds of 20 to 1 for a source."""
_PRIOR_DRAWS = 2000
_NOT_LEARNT = 0.7
"""A parameter whose interval is more than this share of the prior's has not been learnt."""
_LEAST_MASS = 0.05
"""A piece of the 95 % region with less probability than this is not told of as a place."""
_WIDE = 0.4
"""A region that covers more of the area than this has not located anything."""


class Rule(NamedTuple):
    """When a source counts as located: this near to the mean with this probability."""

    radius: float
    """[m]"""
    probability: float


class Place(NamedTuple):
    """Somewhere the source may be."""

    position: np.ndarray
    """(2,) [m]"""
    std: np.ndarray
    """(2,) [m], east and north."""
    probability: float


@dataclass(frozen=True, eq=False)
class Findings:
    """Readings, what they say of the source, and where it lies. Positions are in the metres of `frame`.

    Arrays have one entry a reading, in the order taken; what was not measured is `None`.
    """

    name: str
    posterior: Posterior
    regions: Mapping[float, Region]
    positions: np.ndarray
    """(k, 2) [m]"""
    values: np.ndarray
    unit: str = ""
    kind: str = ""
    """What was measured."""
    frame: Frame = field(default_factory=Frame)
    area: Box | None = None
    """The box in which the source was looked for [m]."""
    geofence: tuple[Polygon, ...] = ()
    no_go: tuple[Polygon, ...] = ()
    lines: np.ndarray | None = None
    """The line of the file each reading stands on."""
    time: np.ndarray | None = None
    """[s]"""
    altitude: np.ndarray | None = None
    """[m] above ground"""
    wind: np.ndarray | None = None
    """(k, 2) [m/s], where the air goes."""
    dwell: np.ndarray | None = None
    """[s], how long each reading counted."""
    evidence: float | None = None
    """log p(readings | a source) − log p(readings | none)."""
    rule: Rule | None = None
    """The site's; without one any region that is not wide will do."""
    prior_interval: tuple[np.ndarray, np.ndarray] | None = None
    """The central 90 % of each parameter before any reading."""
    waypoints: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    """(m, 2) [m], where to read next."""
    caution: str = ""
    """What makes the answer doubtful, a sentence that is told along with it."""
    outcome: str = ""
    """Of a mission, its last status: `searching`, `found` or `inconclusive`. A survey has none."""
    flight: FlightSetting = field(default_factory=FlightSetting)
    notes: tuple[str, ...] = ()
    """What a reader of the result should know of how the survey was read, a sentence each."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=versions)

    def __post_init__(self) -> None:
        if self.posterior.is_batch:
            raise ValueError("Findings are those of one survey: locate the surveys of a batch one by one.")
        if np.shape(self.positions) != (len(self.values), 2):
            raise ValueError(
                f"There must be one reading for each position: got {np.shape(self.positions)} positions "
                f"and {np.shape(self.values)} readings."
            )

    @property
    def estimate(self) -> np.ndarray:
        """(2,) [m], the mean position of the source."""
        return self.posterior.mean[:2]

    @cached_property
    def radius(self) -> float:
        """[m], of the disc about the estimate that holds 95 %."""
        return float(self.posterior.credible_radius(0.95))

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where the source may be, the likeliest first: one place unless the 95 % region is in pieces."""
        found = []
        points, weights = self.posterior.samples[:, :2], self.posterior.weights
        for patch in self.regions[0.95].patches if 0.95 in self.regions else ():
            held = weights * patch.contains(points)
            if held.sum() >= _LEAST_MASS:
                centre = np.average(points, axis=0, weights=held)
                spread = np.sqrt(np.average((points - centre) ** 2, axis=0, weights=held))
                found.append(Place(centre, spread, float(held.sum())))
        if len(found) < 2:
            return (Place(self.estimate, self.posterior.std[:2], 1.0),)
        return tuple(sorted(found, key=lambda place: -place.probability))

    @property
    def covered(self) -> float | None:
        """The share of the area that the 95 % region covers."""
        if self.area is None or 0.95 not in self.regions:
            return None
        return self.regions[0.95].area / float(np.prod(np.subtract(self.area[1], self.area[0])))

    @property
    def not_learnt(self) -> tuple[str, ...]:
        """Names of the parameters of which the readings say little or nothing."""
        if self.prior_interval is None:
            return ()
        low, high = self.posterior.interval(0.9)
        before = np.subtract(self.prior_interval[1], self.prior_interval[0])
        wide = high - low > _NOT_LEARNT * before
        return tuple(name for name, is_wide in zip(self.posterior.names, wide, strict=True) if is_wide)

    @property
    def status(self) -> str:
        """One of: misfit, no evidence, unclear, likely, located."""
        if not self.posterior.fits:
            return "misfit"
        if self.evidence is not None and self.evidence < MIN_LOG_ODDS:
            return "no evidence"
        if self.covered is not None and self.covered > _WIDE:
            return "unclear"
        return "located" if self.is_near_enough and self.is_evident else "likely"

    @property
    def is_near_enough(self) -> bool:
        """Whether the rule holds; of a mission, which has judged by it, whether it says so."""
        if self.outcome:
            return self.outcome == FOUND
        rule = self.rule
        return rule is None or float(self.posterior.probability_within(rule.radius)) >= rule.probability

    @property
    def is_evident(self) -> bool:
        """Whether the evidence for a source is strong, where it is known."""
        return self.evidence is None or self.evidence >= STRONG_EVIDENCE

    @property
    def is_sure(self) -> bool:
        """Whether the estimate is one to go to, and not a guess."""
        return self.status == "located" and not self.caution

    def degrees(self, positions) -> np.ndarray | None:
        """(k, 2), latitude and longitude of positions (k, 2) [m]; None where the site has none."""
        return self.frame.to_degrees(positions) if self.frame.is_geographic else None


def as_box(low, high) -> Box:
    """The corners of a box as arrays."""
    return np.asarray(low, np.float64), np.asarray(high, np.float64)


def regions_of(posterior: Posterior, within: Box | None = None) -> dict[float, Region]:
    """The regions that reports show."""
    box = None if within is None else as_box(*within)
    return credible_regions(posterior.samples[:, :2], posterior.weights, PROBABILITIES, box)


def prior_interval(model: "Model") -> tuple[np.ndarray, np.ndarray]:
    """The central 90 % of each parameter under the prior, from draws."""
    keys = jax.random.split(jax.random.key(0), _PRIOR_DRAWS)
    draws = np.asarray(jax.vmap(model.prior.sample)(keys), np.float64)
    low, high = np.quantile(draws, (0.05, 0.95), axis=0)
    return low, high
