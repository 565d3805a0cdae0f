"""The tables of learned policies, from the numbers in `results` and the cards of the policies.

    python -m benchmarks.learning_tables             # write them to results/tables/learning
    python -m benchmarks.learning_tables --print

A table whose numbers are not there is left as it is.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks import learning_curves
from benchmarks.limits import FILE as LIMITS
from benchmarks.machine import ROOT
from benchmarks.pairs import FILE as PAIRS
from benchmarks.pairs import WITH, WITHOUT
from benchmarks.paper_tables import ADE, FALSE, OCE, OURS, STOPS, Found, read
from benchmarks.table_files import TABLES, Line, estimate, judged, read_lines, where, write_tables
from benchmarks.throughput import FILE as THROUGHPUT
from dowsax.evaluate.tables import markdown, number
from dowsax.experiments.run import CREDIBLE
from dowsax.experiments.suites.searches import FIELDS, METHODS, STRAIGHT

DATA = ROOT / "results"
STOP_RATE = dict.fromkeys(FIELDS, 0.97) | {"electric": 0.95, "energy": 0.90}
RATIO = dict.fromkeys(FIELDS, 1.3) | {"energy": 1.8}
FALSE_STOPS = 0.05
"""The levels to reach: at least, at most and at most."""
OWN = ("att-pfrl", OURS)
"""Ours, with and without attention in training: neither is the other's rival."""
RIVALS = tuple(name for name in METHODS if name not in (*OWN, STRAIGHT))
FILTER = "default"
STANDINGS = (
    "stop more often",
    "stop less often",
    "as often, after a shorter path",
    "as often, after a longer path",
    "level",
)
"""Of another method next to ours."""


def levels(found: Found) -> str:
    """Our policy on every field against the levels, under the credible rule."""
    rows = []
    for field in FIELDS:
        rate, ratio, false = (
            found.at(OURS, field, FILTER, CREDIBLE, name) for name in (OCE, "path ratio", FALSE)
        )
        told = [
            judged(rate, STOP_RATE[field], least=True),
            judged(ratio, RATIO[field], 2, least=False),
            judged(false, FALSE_STOPS, least=False),
        ]
        rows.append((field, *told))
    return _table(("field", "stopped", "path over the straight walk's", "false stops, of stops"), rows)


def headline(found: Found) -> str:
    """Our policy, its best rival and the straight walk on every field, under the credible rule.

    The best rival has the highest stop rate of all others and, of equal ones, the shortest path.
    """
    rows = []
    for field in FIELDS:
        rival = max(RIVALS, key=lambda name: _rank(found, name, field))
        shown = [_stops_and_path(found, name, field) for name in (OURS, rival, STRAIGHT)]
        rows.append((field, shown[0], f"{rival}: {shown[1]}", shown[2]))
    return _table(("field", f"ours (`{OURS}`)", "best rival", "straight to the source (oracle)"), rows)


def _rank(found: Found, policy: str, field: str) -> tuple[float, float]:
    rate, path = (found.at(policy, field, FILTER, CREDIBLE, name).value for name in (OCE, ADE))
    return (rate or 0.0, -(math.inf if path is None else path))


def _stops_and_path(found: Found, policy: str, field: str) -> str:
    rate, false, path = (found.at(policy, field, FILTER, CREDIBLE, name) for name in (*STOPS, ADE))
    if rate.value is None:
        return "–"
    wrong = "none" if false.value is None else f"{false.value:.3f}"
    return f"{number(rate, 3)}, {wrong} false; {number(path, 1)}"


def best(pairs: Sequence[Line]) -> str:
    """Where every other method stands next to ours, search by search."""
    rows = []
    for field in FIELDS:
        groups: dict[str, list[str]] = {name: [] for name in STANDINGS}
        for line in where(pairs, field=field, against=OURS):
            name = line["policy"]
            groups[_standing(line)].append(f"{name} with attention" if line["filter"] == WITH[1] else name)
        rows.append((field, *(", ".join(names) or "none" for names in groups.values())))
    return _table(("field", *STANDINGS), rows) if pairs else ""


def _standing(line: Line) -> str:
    """Stops come first; the path counts where they are level."""
    more, fewer, shorter, longer, level = STANDINGS
    for name, above, below in (("stop_rate", more, fewer), ("path_length_both", longer, shorter)):
        found = estimate(line, name)
        if found.low is not None and found.low > 0:
            return above
        if found.high is not None and found.high < 0:
            return below
    return level


def attention(pairs: Sequence[Line]) -> str:
    """The same policy with attention in the filter of the search less without, search by search."""
    rows = [
        (
            line["field"],
            number(estimate(line, "stop_rate"), 3, "+"),
            number(estimate(line, "false_stop_all"), 3, "+"),
            number(estimate(line, "path_length_both"), 1, "+"),
        )
        for line in where(pairs, against=WITHOUT[0])
    ]
    headings = ("field, with attention less without", "stop rate", "false stops, of all searches")
    return _table((*headings, "path where both stop [m]"), rows)


def limits(found: Found, told: Sequence[Line]) -> str:
    """The path of our policy next to that of a searcher that knows all but the place."""
    rows = [
        (
            line["field"],
            number(estimate(line, "sweep_ratio"), 2),
            found.said(OURS, line["field"], FILTER, CREDIBLE, "path ratio"),
        )
        for line in told
    ]
    return _table(("field, path over the straight walk's", "sweep that knows all but the place", OURS), rows)


def speed(lines: Sequence[Line]) -> str:
    """Moves a second in training, by filter and device."""
    rows = [
        (
            line["method"],
            f"{line['preset']}, {line['particles']}",
            line["device"],
            line["searches"],
            line["network"],
            f"{float(line['moves_per_second']):,.0f}",
        )
        for line in lines
    ]
    return _table(("method", "filter, particles", "device", "searches", "network", "moves a second"), rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(markdown(headings, rows)) if rows else ""


def tables(data: Path) -> dict[str, str]:
    """All tables by name; those without numbers are left out."""
    home = read(data / "paper", "id")
    of_searches = {
        "headline": headline(home),
        "levels": levels(home),
        "limits": limits(home, read_lines(data / LIMITS)),
    }
    pairs = read_lines(data / PAIRS)
    found = (of_searches if home.numbers else {}) | {
        "best": best(pairs),
        "attention": attention(pairs),
        "training": learning_curves.table(learning_curves.cards()),
        "speed": speed(read_lines(data / THROUGHPUT)),
    }
    return {name: text for name, text in found.items() if text}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=TABLES / "learning", metavar="FOLDER")
    parser.add_argument("--print", action="store_true", help="print the tables and write nothing")
    options = parser.parse_args()
    found = tables(options.data)
    if options.print:
        print("\n\n".join(f"{name}\n\n{text}" for name, text in found.items()))
    else:
        write_tables(options.out, found)


if __name__ == "__main__":
    main()
