"""Whether a wind was written the wrong way round: FROM for TO, or TO for FROM."""

import math
from dataclasses import replace
from typing import NamedTuple

from dowsax.geo.formatting import times
from dowsax.types import Station

STRONG = 5.0
"""Difference of log evidences from which the data are said to speak: odds of about 150 to 1."""


IN_FILE = "Check whether the file gives where the wind comes FROM or where it goes."
LIVE = (
    "Check whether wind_from is where the wind comes FROM, and wind_u and wind_v where it goes; if it is the "
    "other way round, correct it and begin anew with another log."
)


class WindCheck(NamedTuple):
    """What the data say of the direction of the wind."""

    log_odds: float
    """log p(readings | −wind) − log p(readings | wind), above zero for a flipped wind."""
    flipped: bool
    words: str


def flipped_wind(log_evidence: float, log_evidence_flipped: float, advice: str = IN_FILE) -> WindCheck:
    """Compare the log evidence of readings with their wind to the one with their wind reversed.

    Both from the same model, prior and readings. Only strong evidence for the reversed wind is called a
    flip: a wrong alarm would send a crew the wrong way.
    """
    if math.isnan(log_evidence) or math.isnan(log_evidence_flipped):
        raise ValueError("A log evidence is a number or minus infinity; got NaN.")
    both_impossible = log_evidence == log_evidence_flipped
    log_odds = 0.0 if both_impossible else log_evidence_flipped - log_evidence
    if log_odds >= STRONG:
        words = (
            f"The wind looks reversed: the readings fit {times(log_odds)} better if the air goes the other "
            f"way. {advice}"
        )
    elif log_odds <= -STRONG:
        words = f"The wind direction agrees with the readings ({times(-log_odds)} better than reversed)."
    else:
        words = "The readings do not tell whether the wind is the right way round."
    return WindCheck(log_odds, log_odds >= STRONG, words)


def reversed_wind(stations: Station) -> Station:
    """The same stations in the opposite wind, and what a sensor that lags remembers of others likewise."""
    if stations.wind is None:
        raise ValueError("There is no wind to reverse: the stations have none.")
    trail = stations.trail
    if trail is not None and trail.stations.wind is not None:
        trail = replace(trail, stations=replace(trail.stations, wind=-trail.stations.wind))
    return replace(stations, wind=-stations.wind, trail=trail)
