"""Results as tables: Markdown for people, CSV for programs."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence

from dowsax.evaluate.calibration import (
    CONTRACTED_SPREAD_M,
    FALSE_ERROR_M,
    LEVEL,
    PROBABILITIES,
    Calibration,
    Share,
)
from dowsax.evaluate.metrics import Estimate, Summary
from dowsax.evaluate.paired import Differences
from dowsax.evaluate.stop_calibration import CurvePoint, StopCalibration
from dowsax.evaluate.uniformity import NUM_SIMULATIONS

Labels = Mapping[str, str]
"""The labels of a line, such as policy, field, scenario and stop."""
Result = tuple[Labels, Summary]
Column = tuple[str, Callable[[Summary], str]]

INTERVALS = "Brackets are 95 % intervals."


def number(estimate: Estimate, digits: int, sign: str = "") -> str:
    """Write the value and its interval; "none" without cases. `sign` is "+" for differences."""
    if estimate.value is None:
        return "none"
    value, low, high = (format(part, f"{sign}.{digits}f") for part in estimate[:3])
    return f"{value} [{low}, {high}]"


def _seconds(estimate: Estimate) -> str:
    return "none" if estimate.value is None else f"{estimate.value:.3g}"


_COLUMNS: tuple[Column, ...] = (
    ("stop rate", lambda summary: number(summary.stop_rate, 3)),
    ("path, stopped [m]", lambda summary: number(summary.path_length_stopped, 1)),
    ("error, stopped [m]", lambda summary: number(summary.error_stopped, 2)),
    ("false stops, of stops", lambda summary: number(summary.false_stop_given_stop, 3)),
    ("success, of all", lambda summary: number(summary.success_all, 3)),
    ("path, all [m]", lambda summary: number(summary.path_length_all, 1)),
    ("error, all [m]", lambda summary: number(summary.error_all, 2)),
    ("s/episode", lambda summary: _seconds(summary.seconds_per_episode)),
)


_NUM_SWEEP_COLUMNS = 4
"""The first columns depend on the stop rule: they are in tables of many thresholds."""


def search_table(results: Sequence[Result]) -> str:
    """Return a line per result, as Markdown. Labels that all results share are written above the table."""
    return _table(results, _COLUMNS)


def sweep_table(results: Sequence[Result]) -> str:
    """Return a table with fewer columns, for many thresholds of a stop rule."""
    return _table(results, _COLUMNS[:_NUM_SWEEP_COLUMNS])


def _table(results: Sequence[Result], columns: Sequence[Column]) -> str:
    rows = [(str(summary.stop_rate.n), *(write(summary) for _, write in columns)) for _, summary in results]
    headings = ("episodes", *(heading for heading, _ in columns))
    return labelled_table([labels for labels, _ in results], headings, rows)


def labelled_table(
    labels: Sequence[Labels], headings: Sequence[str], rows: Sequence[Sequence[str]], keep: str = "policy"
) -> str:
    """Return a Markdown table with a column for each label that differs between the lines, and for `keep`."""
    names = list(labels[0]) if labels else []
    shown = [name for name in names if name == keep or len({line[name] for line in labels}) > 1]
    common = [f"{name} {labels[0][name]}" for name in names if name not in shown]
    lines = [(*(line[name] for name in shown), *row) for line, row in zip(labels, rows, strict=True)]
    shared = ", ".join(common)
    above = f"{shared[0].upper()}{shared[1:]}. {INTERVALS}" if shared else INTERVALS
    return "\n".join([above, "", *markdown((*shown, *headings), lines), ""])


def search_csv(results: Sequence[Result]) -> str:
    """Return a line per result, and four columns per number: value, low, high and n; empty for None."""
    return labelled_csv([(labels, summary._asdict()) for labels, summary in results])


def labelled_csv(lines: Sequence[tuple[Labels, Mapping[str, Estimate]]]) -> str:
    """Return CSV of estimates by name, in the order of the first line."""
    if not lines:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    labels, estimates = lines[0]
    suffixes = ("", "_low", "_high", "_n")
    writer.writerow([*labels, *(name + suffix for name in estimates for suffix in suffixes)])
    for labels, estimates in lines:
        numbers = (part for estimate in estimates.values() for part in estimate)
        writer.writerow([*labels.values(), *("" if part is None else f"{part:.9g}" for part in numbers)])
    return text.getvalue()


def paired_table(pairs: Sequence[tuple[Labels, Differences]]) -> str:
    """Return a line for each pair of policies on the same searches, as Markdown."""
    rows = [
        (
            str(difference.stop_rate.n),
            number(difference.stop_rate, 3, "+"),
            number(difference.false_stop_all, 3, "+"),
            str(difference.path_length_both.n),
            number(difference.path_length_both, 1, "+"),
            number(difference.error_both, 2, "+"),
        )
        for _, difference in pairs
    ]
    headings = ("episodes", "stop rate", "false stops, of all", "both stopped", "path [m]", "error [m]")
    return labelled_table([labels for labels, _ in pairs], headings, rows, keep="difference")


def paired_csv(pairs: Sequence[tuple[Labels, Differences]]) -> str:
    """Return all differences as CSV, with four columns each."""
    return labelled_csv([(labels, difference._asdict()) for labels, difference in pairs])


def spread_table(results: Sequence[tuple[Labels, StopCalibration]]) -> str:
    """Return Spearman's correlation of spread and error, over all readings and at some, as Markdown."""
    readings = list(dict.fromkeys(at for _, report in results for at in report.spearman_at))
    rows = [
        (number(report.spearman, 2, "+"), *(_with_searches(report.spearman_at.get(at)) for at in readings))
        for _, report in results
    ]
    headings = ("all readings", *(f"reading {at} (searches)" for at in readings))
    return labelled_table([labels for labels, _ in results], headings, rows)


def signal_table(results: Sequence[tuple[Labels, StopCalibration]]) -> str:
    """Return precision and recall of each rule as a classifier of errors below 1 m, as Markdown."""
    lines = [
        ({**labels, "stop": str(rule)}, signal)
        for labels, report in results
        for rule, signal in report.signals.items()
    ]
    rows = [(number(signal.precision, 3), number(signal.recall, 3)) for _, signal in lines]
    return labelled_table([labels for labels, _ in lines], ("precision", "recall"), rows)


def curve_csv(results: Sequence[tuple[Labels, StopCalibration]]) -> str:
    """Return stops and false stops over the thresholds of each rule as CSV, a line per threshold."""
    return labelled_csv(
        [
            ({**labels, "stop": name, "threshold": f"{point.threshold:g}"}, _curve_estimates(point))
            for labels, report in results
            for name, points in report.curves.items()
            for point in points
        ]
    )


def _with_searches(estimate: Estimate | None) -> str:
    return "none" if estimate is None else f"{number(estimate, 2, '+')} ({estimate.n})"


def _curve_estimates(point: CurvePoint) -> dict[str, Estimate]:
    expected = Estimate(point.expected, None, None, point.false_stops.n)
    return {"stop_rate": point.stop_rate, "false_stop_given_stop": point.false_stops, "expected": expected}


_CALIBRATION_HEADINGS = (
    "parameter",
    "p (Holm)",
    "p ECDF",
    "p χ²",
    "p KS",
    "50 % interval holds",
    "90 % interval holds",
    "median abs z",
)


def calibration_table(title: str, report: Calibration) -> str:
    """Return the calibration of one filter: verdict, a line per parameter, and errors of the position."""
    rows = [
        (
            parameter.name,
            _p_value(parameter.p_value),
            *(_p_value(p_value) for p_value in parameter.tests),
            *(_share(share) for share in parameter.coverage.values()),
            f"{parameter.median_z:.2f}",
        )
        for parameter in report.parameters
    ]
    verdict = "pass" if report.passed else "FAIL"
    low, high = report.mean_error_interval
    lines = [
        f"## {title}: {verdict}",
        "",
        f"{report.num_cases} surveys. Smallest p after Holm {_p_value(report.p_value)}, level {LEVEL:g}. "
        "Brackets are 95 % intervals.",
        "",
        *markdown(_CALIBRATION_HEADINGS, rows),
        "",
        f"Contracted (spread below {CONTRACTED_SPREAD_M:g} m): {_share(report.contracted)}. "
        f"Of these {FALSE_ERROR_M:g} m or more off: {_share(report.false_contracted)}. "
        f"Mean error {report.mean_error:.2f} m [{low:.2f}, {high:.2f}]. "
        f"Spearman of spread and error {report.spearman:+.2f} (positive is good).",
        "",
    ]
    return "\n".join(lines)


def pooled_table(by_preset: Mapping[str, Mapping[float, Estimate]]) -> str:
    """Return a line per preset: what its intervals hold, pooled over fields and parameters."""
    headings = ["preset", "surveys", *(f"{100 * at:g} % intervals hold" for at in PROBABILITIES)]
    rows = [
        (preset, str(shares[PROBABILITIES[0]].n), *(number(shares[at], 4) for at in PROBABILITIES))
        for preset, shares in by_preset.items()
    ]
    title = ["## Pooled over fields and parameters", "", INTERVALS, ""]
    return "\n".join([*title, *markdown(headings, rows), ""])


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table whose columns are aligned in plain text too."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    line = lambda cells: "| " + " | ".join(map(str.ljust, cells, widths)) + " |"  # noqa: E731
    return [line(headings), line(["-" * width for width in widths]), *map(line, rows)]


def _p_value(p_value: float) -> str:
    least = 1 / (1 + NUM_SIMULATIONS)
    return f"≤ {least:g}" if p_value <= least else f"{p_value:.2g}"


def _share(share: Share) -> str:
    low, high = share.interval
    return f"{share.value:.3f} [{low:.3f}, {high:.3f}]" if share.trials else "none"
