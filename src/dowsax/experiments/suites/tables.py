"""Tables of ours next to theirs: Markdown for people, CSV for programs."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.tables import markdown, number
from dowsax.experiments.suites.measures import MEASURES, Line
from dowsax.experiments.suites.printed import Place, Printed
from dowsax.experiments.suites.suite import Suite

THEIRS = "the paper"
_NONE = "–"


def text_of(suite: Suite, lines: Sequence[Line], theirs: Mapping[Place, Printed]) -> str:
    """The tables of a suite as Markdown."""
    shown = [measure for measure in suite.measures if any(measure in line.numbers for line in lines)]
    if suite.across == "measures":
        columns = list(dict.fromkeys(line.column for line in lines))
        parts = [_over_measures(column, shown, lines, theirs, len(columns) > 1) for column in columns]
    else:
        # False stops stand beside the rate of stops.
        parts = [_over_columns(one, lines, theirs) for one in shown if not one.startswith("false stops")]
    meanings = [f"- {name}: {MEASURES[name].meaning}." for name in shown]
    return "\n".join([*parts, *meanings, ""])


def _over_measures(
    column: str, shown: Sequence[str], lines: Sequence[Line], theirs: Mapping[Place, Printed], named: bool
) -> str:
    own = [line for line in lines if line.column == column]
    rows = []
    for row in dict.fromkeys(line.row for line in own):
        printed = [theirs.get((row, column, measure)) for measure in shown]
        if any(printed):
            rows.append((row, THEIRS, *(_NONE if one is None else one.text for one in printed)))
        ours = _by_rule(own, row)
        several = len({line.seed for line in lines}) > 1
        rows += [
            (row, _whose(line, several), *(_written(line, measure) for measure in shown)) for line in ours
        ]
    heading = [f"### {column}", ""] if named else []
    return "\n".join([*heading, *markdown(("", "whose", *shown), rows), ""])


def _over_columns(measure: str, lines: Sequence[Line], theirs: Mapping[Place, Printed]) -> str:
    columns = list(dict.fromkeys(line.column for line in lines))
    several = len({line.seed for line in lines}) > 1
    at = {(line.row, _whose(line, several), line.column): line for line in lines}
    rows = []
    for row in dict.fromkeys(line.row for line in lines):
        printed = [theirs.get((row, column, measure)) for column in columns]
        if any(printed):
            rows.append((row, THEIRS, *(_NONE if one is None else one.text for one in printed)))
        for whose in dict.fromkeys(_whose(line, several) for line in _by_rule(lines, row)):
            found = [at.get((row, whose, column)) for column in columns]
            written = [_NONE if line is None else _beside(line, measure) for line in found]
            if any(text != _NONE for text in written):
                rows.append((row, whose, *written))
    beside = ", and false stops of the stops" if measure.startswith("OCE") else ""
    return "\n".join([f"### {measure}{beside}", "", *markdown(("", "whose", *columns), rows), ""])


def _by_rule(lines: Sequence[Line], row: str) -> list[Line]:
    """The lines of a row, the seeds of a filter and rule one after another."""
    own = [line for line in lines if line.row == row]
    kinds = list(dict.fromkeys((line.filter, line.stop) for line in own))
    return sorted(own, key=lambda line: (kinds.index((line.filter, line.stop)), line.seed))


def _whose(line: Line, several: bool) -> str:
    """The filter and the rule, and the seed if there are several."""
    return f"ours, {line.filter}, {line.stop}" + (f", seed {line.seed}" if several else "")


def _beside(line: Line, measure: str) -> str:
    text = _written(line, measure)
    if not measure.startswith("OCE"):
        return text
    return f"{text}; false {_written(line, measure.replace('OCE', 'false stops'))}"


def _written(line: Line, measure: str) -> str:
    if measure not in line.numbers:
        return _NONE
    about = MEASURES[measure]
    return number(line.numbers[measure], about.digits, about.sign)


_LABELS = ("suite", "row", "column", "filter", "stop", "seed", "measure")
_PARTS = ("value", "low", "high", "n", "paper", "paper_spread", "paper_bound")


def csv_of(suite: Suite, lines: Iterable[Line], theirs: Mapping[Place, Printed]) -> str:
    """A line for each number, with the paper's where it has one."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_LABELS, *_PARTS])
    for line in lines:
        for measure, estimate in line.numbers.items():
            printed = theirs.get((line.row, line.column, measure))
            labels = (suite.name, line.row, line.column, line.filter, line.stop, line.seed, measure)
            writer.writerow([*labels, *_numbers(estimate), *_theirs(printed)])
    return text.getvalue()


def lines_of(text: str) -> list[Line]:
    """The inverse of `csv_of`, but for what the paper has; a ValueError for another text."""
    reader = csv.DictReader(io.StringIO(text))
    if reader.fieldnames != [*_LABELS, *_PARTS]:
        raise ValueError(f"its columns are not {', '.join([*_LABELS, *_PARTS])}")
    lines: dict[tuple[Any, ...], Line] = {}
    for row in reader:
        place = row["row"], row["column"], row["filter"], row["stop"]
        line = lines.setdefault((*place, row["seed"]), Line(*place, {}, int(row["seed"])))
        value, low, high = (float(row[part]) if row[part] else None for part in ("value", "low", "high"))
        line.numbers[row["measure"]] = Estimate(value, low, high, int(row["n"]))
    return list(lines.values())


def _numbers(estimate: Estimate) -> list[str]:
    return ["" if part is None else f"{part:.9g}" for part in estimate]


def _theirs(printed: Printed | None) -> list[str]:
    if printed is None:
        return ["", "", ""]
    spread = "" if printed.spread is None else f"{printed.spread:g}"
    return [f"{printed.value:g}", spread, printed.bound]
