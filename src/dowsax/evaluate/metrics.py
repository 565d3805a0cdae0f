"""Results of many searches under a stop rule: shares with Wilson, means with bootstrap intervals."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dowsax.envs import SUCCESS_RADIUS_M
from dowsax.evaluate.statistics import resample_counts, wilson_interval
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode


class Estimate(NamedTuple):
    """An estimate from n cases with its 95 % interval; `None` without any case."""

    value: float | None
    low: float | None
    high: float | None
    n: int


NOTHING = Estimate(None, None, None, 0)


class Ends(NamedTuple):
    """Each search where the rule stopped it, or at its last reading otherwise; arrays over searches."""

    stopped: np.ndarray
    reading: np.ndarray
    """From 1."""
    path_length: np.ndarray
    """[m]"""
    error: np.ndarray
    """[m]"""
    mass: np.ndarray
    """P(source within the radius of the mean) under the belief."""
    radius: np.ndarray = np.array(SUCCESS_RADIUS_M)
    """[m], of a right stop."""

    @property
    def right(self) -> np.ndarray:
        """Stopped with an error below the radius, which is 1 m in the benchmark."""
        return self.stopped & (self.error < self.radius)

    @property
    def false(self) -> np.ndarray:
        """Stopped with a larger error."""
        return self.stopped & ~self.right


class Summary(NamedTuple):
    """A policy under a stop rule. Success and false stops of all searches add up to the stop rate."""

    stop_rate: Estimate
    """Share that stopped before the readings ran out."""
    path_length_stopped: Estimate
    """[m]"""
    path_length_all: Estimate
    """[m], up to the stop, or to the last reading without one."""
    error_stopped: Estimate
    """[m]"""
    error_all: Estimate
    """[m], at the stop, or at the last reading without one."""
    success_given_stop: Estimate
    """Share of the stopped searches with an error below 1 m."""
    success_all: Estimate
    """Share of all searches that stopped with an error below 1 m."""
    false_stop_given_stop: Estimate
    """Share of the stopped searches with an error of 1 m or more."""
    false_stop_all: Estimate
    """Share of all searches that stopped with an error of 1 m or more."""
    seconds_per_episode: Estimate
    """[s], wall time of the whole record, which goes on until the strictest rule is met."""
    readings_stopped: Estimate


def ends(episodes: Sequence[Episode], rule: TraceRule) -> Ends:
    """Apply the rule to each search."""
    firsts = [rule.first_stop(episode) for episode in episodes]
    places = [-1 if first is None else first - 1 for first in firsts]
    at = lambda name: np.array(  # noqa: E731
        [getattr(episode.rows, name)[place] for episode, place in zip(episodes, places, strict=True)],
        np.float64,
    )
    reading = [
        len(episode.rows.spread) if first is None else first
        for episode, first in zip(episodes, firsts, strict=True)
    ]
    return Ends(
        np.array([first is not None for first in firsts], bool),
        np.array(reading, int),
        at("path_length"),
        at("error"),
        at("mass"),
        np.array([episode.radius for episode in episodes], np.float64),
    )


def count_undecided(episodes: Sequence[Episode], rule: TraceRule) -> int:
    """Count the records that end too early to decide whether this rule would have stopped the search.

    A record ends when all rules it was made for are met, when the readings run out, or when no particle is
    left. Only in the last two cases is it certain that a rule that was never met would not have stopped it.
    """
    return sum(
        rule.first_stop(episode) is None
        and len(episode.rows.spread) < episode.max_readings
        and bool(np.isfinite(episode.rows.spread[-1]))
        for episode in episodes
    )


def share(hits: np.ndarray) -> Estimate:
    """Return the share of true entries, with Wilson's interval."""
    successes, trials = int(np.sum(hits)), int(np.size(hits))
    if trials == 0:
        return NOTHING
    value, (low, high) = successes / trials, wilson_interval(successes, trials)
    # The limits of 0 and 1 are 0 and 1 but for rounding.
    return Estimate(value, min(low, value), max(high, value), trials)


def means(*columns: np.ndarray) -> list[Estimate]:
    """Return the mean of each column with its percentile bootstrap interval, from the same resamples."""
    num_cases = len(columns[0])
    if num_cases == 0:
        return [NOTHING for _ in columns]
    values = np.stack(columns, axis=1).astype(np.float64)
    resampled = resample_counts(num_cases) @ values / num_cases
    lows, highs = np.quantile(resampled, [0.025, 0.975], axis=0)
    return [
        Estimate(float(value), float(low), float(high), num_cases)
        for value, low, high in zip(values.mean(axis=0), lows, highs, strict=True)
    ]


def summarise(episodes: Sequence[Episode], rule: TraceRule) -> Summary:
    """Summarise the searches as if this rule had stopped them."""
    return summary_of(ends(episodes, rule), np.array([episode.seconds for episode in episodes], np.float64))


def summary_of(end: Ends, seconds: np.ndarray) -> Summary:
    """Summarise searches from their ends and times [s]."""
    stopped = end.stopped
    path_all, error_all, seconds_all = means(end.path_length, end.error, seconds)
    path_stopped, error_stopped, readings_stopped = means(
        end.path_length[stopped], end.error[stopped], end.reading[stopped]
    )
    return Summary(
        stop_rate=share(stopped),
        path_length_stopped=path_stopped,
        path_length_all=path_all,
        error_stopped=error_stopped,
        error_all=error_all,
        success_given_stop=share(end.right[stopped]),
        success_all=share(end.right),
        false_stop_given_stop=share(end.false[stopped]),
        false_stop_all=share(end.false),
        seconds_per_episode=seconds_all,
        readings_stopped=readings_stopped,
    )


def summary_json(summary: Summary) -> dict[str, dict[str, float | int | None]]:
    """Return plain numbers by name, for JSON; `None` where there is no number."""
    return {name: estimate_json(estimate) for name, estimate in summary._asdict().items()}


def estimate_json(estimate: Estimate) -> dict[str, float | int | None]:
    """Return the four entries by name, for JSON; `None` for a number that is not finite."""
    return {
        name: None if part is None or not math.isfinite(part) else part
        for name, part in estimate._asdict().items()
    }
