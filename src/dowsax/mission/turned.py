"""The same mission in the opposite wind, followed on the side: whether the wind is given the wrong way round.

A second belief takes in the same readings with their winds reversed. Its evidence against that of the mission
is judged after each, as a survey's is at the end. It takes no part in what is advised.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dowsax.inference import Belief
from dowsax.mission.reading import Reading
from dowsax.mission.stations import Stations, single
from dowsax.mission.tracker import Tracker, digest_of
from dowsax.mission.wind_check import LIVE, STRONG, WindCheck, flipped_wind, reversed_wind
from dowsax.types import Key

SPARE = 2.5e5
"""Likelihood terms of one answer, above which the opposite wind waits for an answer that costs less.

Particles that have to move cost up to a second, and most readings a hundredth of that: the particles of both
never move in the same answer, unless few readings have been taken yet.
"""
_MOST = 4
"""Readings that are caught up with in one answer."""
_OUT_OF_THE_QUESTION = -2 * STRONG
"""Log odds from which the opposite wind is followed no more: about one to 22,000."""


@dataclass(frozen=True)
class Turned:
    """How far the opposite wind has been followed, and what it comes to."""

    belief: Belief | None
    """`None` where there is no wind to reverse, or the opposite one is out of the question."""
    taken: int = 0
    """Readings it has taken in."""
    log_odds: float = 0.0
    """log p(readings | −wind) − log p(readings | wind) [nats] of as many readings."""

    @property
    def check(self) -> WindCheck:
        """A right wind is ever called flipped in one mission of 148 at most (Ville's inequality)."""
        return flipped_wind(0.0, self.log_odds, LIVE)

    def followed(
        self,
        key: Key,
        tracker: Tracker,
        stations: Stations,
        readings: Sequence[Reading],
        log_evidences: Sequence[float],
        spent: float,
    ) -> "Turned":
        """After those readings that this answer has room for, as it has `spent` so many likelihood terms.

        `log_evidences` are those of the mission itself after each reading. With the mission's own key, so
        that chance is as alike for both winds as can be.
        """
        belief, taken, odds = self.belief, self.taken, self.log_odds
        while belief is not None and taken < min(len(readings), self.taken + _MOST) and spent < SPARE:
            station = reversed_wind(stations.station(readings[taken], readings[:taken]))
            belief, row = tracker.take(key, belief, station, single(readings[taken].value))
            digest = digest_of(row)
            odds = float(belief.log_evidence) - log_evidences[taken] if digest.explained else -np.inf
            taken, spent = taken + 1, spent + float(digest.evaluations)
            belief = belief if odds > _OUT_OF_THE_QUESTION else None
        return Turned(belief, taken, float(odds))
