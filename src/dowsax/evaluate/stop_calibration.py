"""Calibration of stops: correlation of spread and error, precision and recall of rules, and false stops.

Readings of one search depend on each other, so intervals of counts over readings come from resampling whole
searches.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dowsax.evaluate.metrics import NOTHING, Estimate, count_undecided, ends, share
from dowsax.evaluate.statistics import resample_counts, wilson_interval
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode, Row

READINGS = (10, 20, 40, 80, 160)
"""Readings at which spread is correlated with error."""
ZETA_GRID = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
"""[m]"""
LEVEL_GRID = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.965, 0.98, 0.99, 0.995)
_NUM_RESAMPLES = 400
_MIN_SEARCHES = 3


class CurvePoint(NamedTuple):
    """The stops of a rule at one threshold."""

    threshold: float
    stop_rate: Estimate
    false_stops: Estimate
    """Share of the stopped searches with an error of 1 m or more."""
    expected: float | None
    """The share that the beliefs expect: the mean of 1 − P(source within 1 m) at the stops.

    Calibrated beliefs have this share of false stops under any rule, as a stop depends only on the past.
    """


class Signal(NamedTuple):
    """A rule as a classifier of errors below 1 m, over all readings after the first."""

    precision: Estimate
    """Share of the readings at which the rule is met that have an error below 1 m."""
    recall: Estimate
    """Share of the readings with an error below 1 m at which the rule is met."""


class StopCalibration(NamedTuple):
    """The calibration of the stops of one policy on one field."""

    spearman: Estimate
    """Rank correlation of spread and error over all readings of all searches: positive is good."""
    spearman_at: dict[int, Estimate]
    """The same at fixed readings, over the searches that reached them."""
    signals: dict[TraceRule, Signal]
    curves: dict[str, list[CurvePoint]]
    """By rule, over the thresholds that the records can decide."""


def calibrate_stops(
    episodes: Sequence[Episode], rules: Sequence[TraceRule], max_readings: int
) -> StopCalibration:
    """Compare spread and mass of the beliefs with their errors. Searches end after `max_readings`."""
    grids = {"contraction": ZETA_GRID, "credible": LEVEL_GRID}
    return StopCalibration(
        spearman=spread_against_error(episodes),
        spearman_at={at: spread_against_error(episodes, at) for at in READINGS if at <= max_readings},
        signals=dict(zip(rules, stop_signals(episodes, rules), strict=True)),
        curves={name: stop_curve(episodes, name, grid) for name, grid in grids.items()},
    )


def stop_curve(episodes: Sequence[Episode], name: str, thresholds: Sequence[float]) -> list[CurvePoint]:
    """Return stops and false stops of a rule, without the thresholds that are too strict for the records."""
    points = []
    for threshold in thresholds:
        rule = TraceRule(name, threshold)
        if count_undecided(episodes, rule) == 0:
            end = ends(episodes, rule)
            expected = float(np.mean(1 - end.mass[end.stopped])) if end.stopped.any() else None
            points.append(CurvePoint(threshold, share(end.stopped), share(end.false[end.stopped]), expected))
    return points


def spread_against_error(episodes: Sequence[Episode], reading: int | None = None) -> Estimate:
    """Return Spearman's correlation of max(σx, σy) and error, at one reading (from 1) or over all.

    n is the number of searches. The value is None where one of the two is constant.
    """
    if reading is not None:
        episodes = [episode for episode in episodes if len(episode.rows.spread) >= reading]
    if not episodes:
        return NOTHING
    part = slice(None) if reading is None else slice(reading - 1, reading)
    owners = np.concatenate(
        [np.full(len(episode.rows.spread[part]), at) for at, episode in enumerate(episodes)]
    )
    spreads = np.unique(_flat(episodes, "spread", part), return_inverse=True)[1]
    errors = np.unique(_flat(episodes, "error", part), return_inverse=True)[1]
    value = weighted_spearman(spreads, errors, np.ones(owners.size))
    if len(episodes) < _MIN_SEARCHES or not np.isfinite(value):
        return Estimate(None, None, None, len(episodes))
    counts = resample_counts(len(episodes), _NUM_RESAMPLES)
    resampled = [weighted_spearman(spreads, errors, drawn[owners]) for drawn in counts]
    low, high = np.nanquantile(resampled, [0.025, 0.975])
    return Estimate(value, float(low), float(high), len(episodes))


def weighted_spearman(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> float:
    """Return Spearman's correlation of a sample in which case i occurs `weights[i]` times; NaN if constant.

    The entries are positions in sorted order, from 0, equal for ties, as of `np.unique`.
    """
    ranks = np.stack([_ranks(places, weights) for places in (first, second)])
    ranks -= (ranks @ weights / weights.sum())[:, None]
    (one, product), (_, other) = (ranks * weights) @ ranks.T
    return float(product / np.sqrt(one * other)) if one > 0 and other > 0 else float("nan")


def stop_signals(episodes: Sequence[Episode], rules: Sequence[TraceRule]) -> list[Signal]:
    """Return precision and recall of each rule over the readings at which it is checked."""
    lengths = [len(episode.rows.spread) for episode in episodes]
    numbers = np.concatenate([np.arange(1, length + 1) for length in lengths])
    rows = Row._make(_flat(episodes, name) for name in Row._fields)
    is_checked = numbers > 1
    right = is_checked & (rows.error < np.repeat([episode.radius for episode in episodes], lengths))
    starts = np.cumsum([0, *lengths[:-1]])
    tally = lambda hits: np.add.reduceat(hits.astype(np.float64), starts)  # noqa: E731
    counts = resample_counts(len(episodes), _NUM_RESAMPLES)
    signals = []
    for rule in rules:
        met = is_checked & rule.is_met(rows, numbers)
        hits = tally(met & right)
        signals.append(Signal(_ratio(hits, tally(met), counts), _ratio(hits, tally(right), counts)))
    return signals


def _flat(episodes: Sequence[Episode], name: str, part: slice = slice(None)) -> np.ndarray:
    """Concatenate one column of all searches."""
    return np.concatenate([getattr(episode.rows, name)[part] for episode in episodes])


def _ranks(places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return midranks, up to a constant: the weight below each position and half of its own."""
    own = np.bincount(places, weights)
    return (np.cumsum(own) - own / 2)[places]


def _ratio(hits: np.ndarray, trials: np.ndarray, counts: np.ndarray) -> Estimate:
    """Σ hits / Σ trials over searches; n is the number of trials.

    Where all trials agree the bootstrap has no variation: then Wilson's interval for one trial per search.
    """
    total = float(trials.sum())
    if total == 0:
        return NOTHING
    value, searches = float(hits.sum()) / total, int(np.sum(trials > 0))
    if value in (0.0, 1.0):
        return Estimate(value, *wilson_interval(round(value * searches), searches), int(total))
    drawn = counts @ trials
    low, high = np.quantile((counts @ hits)[drawn > 0] / drawn[drawn > 0], [0.025, 0.975])
    return Estimate(value, float(low), float(high), int(total))
