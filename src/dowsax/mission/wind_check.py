"""Whether the wind of a survey was written the wrong way round: FROM for TO, or TO for FROM."""

import math
from dataclasses import replace
from typing import NamedTuple

from dowsax.mission.phrases import times
from dowsax.types import Station

STRONG = 5.0
"""Difference of log evidences from which the data are said to speak: odds of about 150 to 1."""


class WindCheck(NamedTuple):
    """What the data say of the direction of the wind."""

    log_odds: float
    """log p(readings | −wind) − log p(readings | wind), above zero for a flipped wind."""
    flipped: bool
    words: str


def flipped_wind(log_evidence: float, log_evidence_flipped: float) -> WindCheck:
    """Compare the log evidence of a survey with its wind to the one with its wind reversed.

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
            "way. Check whether the file gives where the wind comes FROM or where it goes."
        )
    elif log_odds <= -STRONG:
        words = f"The wind direction agrees with the readings ({times(-log_odds)} better than reversed)."
    else:
        words = "The readings do not tell whether the wind is the right way round."
    return WindCheck(log_odds, log_odds >= STRONG, words)


def reversed_wind(stations: Station) -> Station:
    """The same stations in the opposite wind."""
    if stations.wind is None:
        raise ValueError("There is no wind to reverse: the stations have none.")
    return replace(stations, wind=-stations.wind)
