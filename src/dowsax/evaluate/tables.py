"""Reports as Markdown, for files and for people."""

from collections.abc import Sequence

from dowsax.evaluate.calibration import CONTRACTED, FALSE_ERROR, LEVEL, Calibration, Share
from dowsax.evaluate.uniformity import NUM_SIMULATIONS

_HEADINGS = (
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
    """The calibration of one filter: the verdict, a line for each parameter, and the position in words."""
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
        *markdown(_HEADINGS, rows),
        "",
        f"Contracted (spread below {CONTRACTED:g} m): {_share(report.contracted)}. "
        f"Of these {FALSE_ERROR:g} m or more off: {_share(report.false_contracted)}. "
        f"Mean error {report.mean_error:.2f} m [{low:.2f}, {high:.2f}]. "
        f"Spearman of spread and error {report.spearman:+.2f} (positive is good).",
        "",
    ]
    return "\n".join(lines)


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table whose columns line up in plain text too."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    line = lambda cells: "| " + " | ".join(map(str.ljust, cells, widths)) + " |"  # noqa: E731
    return [line(headings), line(["-" * width for width in widths]), *map(line, rows)]


def _p_value(p_value: float) -> str:
    least = 1 / (1 + NUM_SIMULATIONS)
    return f"≤ {least:g}" if p_value <= least else f"{p_value:.2g}"


def _share(share: Share) -> str:
    low, high = share.interval
    return f"{share.value:.3f} [{low:.3f}, {high:.3f}]" if share.trials else "none"
