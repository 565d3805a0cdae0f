"""From searches to the numbers of a table: a line for each row, column, filter and stop rule."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dowsax.evaluate.metrics import NOTHING, Ends, Estimate, count_undecided, ends, means, share
from dowsax.evaluate.statistics import resample_counts
from dowsax.evaluate.stop_calibration import spread_against_error, stop_signals
from dowsax.evaluate.stops import LADDER, TraceRule
from dowsax.evaluate.trace import Episode

Numbers = dict[str, Estimate]


class Measure(NamedTuple):
    """How a number is printed, and its meaning."""

    digits: int
    meaning: str
    sign: str = ""


MEASURES: dict[str, Measure] = {
    "OCE": Measure(3, "share of searches that stopped before the readings ran out"),
    "false stops": Measure(3, "share of the stops that are 1 m or more off"),
    "GT-success": Measure(3, "share of the stops that are less than 1 m off"),
    "ADE": Measure(1, "path to the stop [m], of searches that stopped"),
    "LPS": Measure(2, "error at the stop [m], of searches that stopped"),
    "readings": Measure(1, "number of readings at the stop, of searches that stopped"),
    "REV": Measure(4, "wall time to the stop [s], its share of the batch where searches ran together"),
    "GT-success, all": Measure(3, "share of all searches that stopped less than 1 m off"),
    "false stops, all": Measure(3, "share of all searches that stopped 1 m or more off"),
    "ADE, all": Measure(1, "path [m] to the stop, or to the last reading without one"),
    "LPS, all": Measure(2, "error [m] at the stop, or at the last reading without one"),
    "OCE by training seed": Measure(
        3, "stop rate, and in brackets the lowest and highest of a training seed"
    ),
    "false stops by training seed": Measure(
        3, "of the stops, with the lowest and highest of a training seed"
    ),
    "path ratio": Measure(2, "mean path over that of the walk straight to the source, where both stopped"),
    "drop": Measure(3, "stop rate with sources as in training less the mean of both regions", "+"),
    "kept": Measure(3, "stop rate over that of the same searches without a jump"),
    "Spearman": Measure(2, "rank correlation with the error over all readings: positive is good", "+"),
    "precision": Measure(3, "share of readings with an error below 1 m, of those where the rule would stop"),
    "recall": Measure(3, "share of readings where the rule would stop, of those with an error below 1 m"),
    "OCE (OOD)": Measure(3, "the stop rate in the two outer regions together"),
    "false stops (OOD)": Measure(3, "of the stops there"),
    "episodes to 0.90": Measure(0, "searches of training until the stop rate stays at 0.90 or above"),
    "RMSE@20": Measure(2, "root of the mean square of the error after 20 readings [m]"),
    "ESS@20": Measure(0, "effective sample size at reading 20, before anything is done about it"),
    "likelihood evaluations": Measure(0, "likelihood terms of a walk of 20 readings"),
    "wall time": Measure(2, "[ms] a walk of 20 readings, its share of the batch where walks ran together"),
    "coverage": Measure(3, "share of 90 % intervals of x and y that hold the source"),
    "std ratio": Measure(3, "median of the standard deviations over those of the reference"),
}


class Line(NamedTuple):
    """Our numbers in one row and column of a table."""

    row: str
    column: str
    filter: str
    stop: str
    numbers: Numbers
    seed: int = 0
    """Of the sources and the noise."""


def numbers_of(episodes: Sequence[Episode], rule: TraceRule, turns: np.ndarray | None = None) -> Numbers:
    """The numbers of searches if this rule had stopped them; `turns` are the numbers of their policies."""
    end = ends(episodes, rule)
    stopped = end.stopped
    recorded = np.array([len(episode.rows.error) for episode in episodes], np.float64)
    # A record goes on until the strictest rule has stopped: its time is divided evenly among its readings.
    seconds = np.array([episode.seconds for episode in episodes]) * end.reading / recorded
    path_all, error_all, seconds_all = means(end.path_length, end.error, seconds)
    path, error, readings = means(end.path_length[stopped], end.error[stopped], end.reading[stopped])
    return {
        "OCE": share(stopped),
        "false stops": share(end.false[stopped]),
        "GT-success": share(end.right[stopped]),
        "ADE": path,
        "LPS": error,
        "readings": readings,
        "REV": seconds_all,
        "GT-success, all": share(end.right),
        "false stops, all": share(end.false),
        "ADE, all": path_all,
        "LPS, all": error_all,
        **({} if turns is None or not turns.any() else _by_policy(end, turns)),
    }


def _by_policy(end: Ends, turns: np.ndarray) -> Numbers:
    """The mean, lowest and highest of policies that search in turn."""
    parts = [turns == turn for turn in np.unique(turns)]
    rates = [share(end.stopped[part]) for part in parts]
    false = [share(end.false[part & end.stopped]) for part in parts]
    return {"OCE by training seed": _span(rates), "false stops by training seed": _span(false)}


def _span(shares: Sequence[Estimate]) -> Estimate:
    """The mean with the lowest and the highest; no number if one is missing."""
    values = [one.value for one in shares if one.value is not None]
    if not values or len(values) < len(shares):
        return NOTHING
    return Estimate(sum(values) / len(values), min(values), max(values), len(values))


def require_decided(episodes: Sequence[Episode], rule: TraceRule) -> None:
    """Raise a ValueError if records end too early for a rule."""
    number = count_undecided(episodes, rule)
    if number:
        raise ValueError(f"The records of {number} searches end too early to tell where {rule} would stop.")


def cut_to_ladder(episode: Episode) -> Episode:
    """The record as far as it would have gone had it ended with the last rule of the ladder."""
    firsts = [rule.first_stop(episode) for rule in LADDER]
    if None in firsts:
        return episode
    end = max(first for first in firsts if first is not None)
    return episode._replace(rows=type(episode.rows)(*(part[:end] for part in episode.rows)))


def signal_of(episodes: Sequence[Episode], rule: TraceRule) -> Numbers:
    """Precision and recall of a rule."""
    (signal,) = stop_signals(episodes, [rule])
    return {"precision": signal.precision, "recall": signal.recall}


def correlation(episodes: Sequence[Episode], signal: str = "spread") -> Estimate:
    """Spearman's correlation of a column of the records and the error; higher is less sure."""
    sign = -1 if signal in ("mass", "max_weight") else 1
    replaced = [
        episode._replace(rows=episode.rows._replace(spread=sign * getattr(episode.rows, signal)))
        for episode in episodes
    ]
    return spread_against_error(replaced)


def mean_difference(first: np.ndarray, others: Sequence[np.ndarray]) -> Estimate:
    """The mean of the first less that of the others, search by search, with a bootstrap interval."""
    return means(first.astype(float) - np.mean([other.astype(float) for other in others], axis=0))[0]


def ratio(part: np.ndarray, whole: np.ndarray) -> Estimate:
    """Σ part / Σ whole over the same searches, with a bootstrap interval; no number where nothing counts."""
    pairs = np.stack([part, whole], axis=1).astype(float)
    sums = resample_counts(len(pairs)) @ pairs
    if pairs[:, 1].sum() == 0:
        return Estimate(None, None, None, len(pairs))
    drawn = sums[sums[:, 1] > 0]
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return Estimate(float(pairs[:, 0].sum() / pairs[:, 1].sum()), float(low), float(high), len(pairs))


def bootstrap(values: np.ndarray, statistic) -> Estimate:
    """A statistic of the rows of `values`, with the percentile bootstrap over rows."""
    generator = np.random.default_rng(0)
    drawn = [statistic(values[generator.integers(len(values), size=len(values))]) for _ in range(1000)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(float(statistic(values)), float(low), float(high), len(values))


def first_of(lines: Sequence[Line], **labels: str) -> Mapping[str, Estimate] | None:
    """The numbers of the first line with these labels."""
    for line in lines:
        if all(getattr(line, name) == label for name, label in labels.items()):
            return line.numbers
    return None
