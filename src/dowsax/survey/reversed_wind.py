"""Reversed-wind check: whether a wind was written FROM for TO, or TO for FROM."""

import math
from dataclasses import replace
from typing import NamedTuple

from dowsax.geo.formatting import format_factor
from dowsax.types import Station

MIN_LOG_ODDS = 5.0
"""Difference of log evidences that counts as strong: odds of about 150 to 1."""
FILE_ADVICE = "Check whether the file gives where the wind comes FROM or where it goes."
LIVE_ADVICE = (
    "Check whether wind_from is where the wind comes FROM, and wind_u and wind_v where it goes; if it is the "
    "other way round, correct it and start a new mission with another log."
)


class WindCheck(NamedTuple):
    """The result of a reversed-wind check."""

    log_odds: float
    """log p(readings | −wind) − log p(readings | wind), above zero for a reversed wind."""
    is_reversed: bool
    message: str


def check_wind(log_evidence: float, log_evidence_reversed: float, advice: str = FILE_ADVICE) -> WindCheck:
    """Compare the log evidence of readings with their wind, and with their wind reversed.

    Both must be from the same model, prior and readings. Only strong evidence counts: a false alarm would
    send people the wrong way.
    """
    if math.isnan(log_evidence) or math.isnan(log_evidence_reversed):
        raise ValueError("A log evidence is a number or minus infinity; got NaN.")
    both_impossible = log_evidence == log_evidence_reversed
    log_odds = 0.0 if both_impossible else log_evidence_reversed - log_evidence
    if log_odds >= MIN_LOG_ODDS:
        words = (
            f"The wind looks reversed: the readings fit {format_factor(log_odds)} better if the air goes the "
            f"other way. {advice}"
        )
    elif log_odds <= -MIN_LOG_ODDS:
        words = (
            f"The wind direction agrees with the readings ({format_factor(-log_odds)} better than reversed)."
        )
    else:
        words = "The readings do not tell whether the wind is the right way round."
    return WindCheck(log_odds, log_odds >= MIN_LOG_ODDS, words)


def reverse_wind(stations: Station) -> Station:
    """Return the stations with the opposite wind, also in the trail of a lagging sensor."""
    if stations.wind is None:
        raise ValueError("There is no wind to reverse: the stations have none.")
    trail = stations.trail
    if trail is not None and trail.stations.wind is not None:
        trail = replace(trail, stations=replace(trail.stations, wind=-trail.stations.wind))
    return replace(stations, wind=-stations.wind, trail=trail)
