"""The same mission in the opposite wind, followed on the side: whether the wind is given the wrong way round.

A second belief takes in the same readings with their winds reversed, on another core. Its evidence is held
against the mission's after each, as a survey's is at the end. It takes no part in where to go.
"""

import math
from dataclasses import dataclass

from dowsax.inference import Belief
from dowsax.mission.tracker import Tracker, digest_of
from dowsax.survey.reversed_wind import LIVE_ADVICE, MIN_LOG_ODDS, WindCheck, check_wind, reverse_wind
from dowsax.types import Key, Scalar, Station

_SETTLED = 2 * MIN_LOG_ODDS
"""Log odds from which the opposite wind is followed no more, whichever way: about 22,000 to 1."""


@dataclass(frozen=True)
class Turned:
    """What is believed in the opposite wind, and what that comes to."""

    belief: Belief | None
    """`None` where there is no wind to reverse, or it is settled which one it is."""
    log_odds: float = 0.0
    """log p(readings | −wind) − log p(readings | wind) [nats]"""

    @property
    def check(self) -> WindCheck:
        """A right wind is ever called flipped in one mission of 148 at most (Ville's inequality)."""
        return check_wind(0.0, self.log_odds, LIVE_ADVICE)

    def take(self, key: Key, tracker: Tracker, station: Station, value: Scalar) -> Belief | None:
        """The belief after one more reading; `None` where no source explains it in the opposite wind.

        With the mission's own key, so that chance is as alike for both winds as can be.
        """
        assert self.belief is not None
        belief, row = tracker.take(key, self.belief, reverse_wind(station), value)
        return belief if digest_of(row).explained else None

    def judged(self, belief: Belief | None, log_evidence: float) -> "Turned":
        """With the belief that `take` gave, against the log evidence of the mission after that reading."""
        if belief is None:
            return Turned(None, -math.inf)
        log_odds = float(belief.log_evidence) - log_evidence
        return Turned(belief if abs(log_odds) < _SETTLED else None, log_odds)
