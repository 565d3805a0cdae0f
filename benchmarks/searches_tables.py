"""The tables of all policies, field by field, from the file that `benchmarks.searches` writes.

python -m benchmarks.searches_tables results/searches.csv    # writes results/tables/searches/fields.md
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

from benchmarks.table_files import TABLES, write_tables
from dowsax.evaluate.tables import markdown

HEADINGS = (
    "policy",
    "searches",
    "stopped",
    "path to the stop [m]",
    "error at the stop [m]",
    "false stops, credible",
    "false stops, ζ = 0.5",
)
CREDIBLE, CONTRACTION = "credible-0.95", "contraction-0.5"


def estimate(line: dict[str, str] | None, name: str, digits: int) -> str:
    """A number with its interval; a dash where it was not measured."""
    if line is None or not line[name]:
        return "–"
    value, low, high = (float(line[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def tables(lines: list[dict[str, str]]) -> str:
    """One table a field, in the order of the file; every line has both rules."""
    fields: dict[str, dict[str, dict[str, dict[str, str]]]] = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        fields[line["field"]][line["policy"]][line["stop"]] = line
    pieces = []
    for field, policies in fields.items():
        rows = [
            (
                policy,
                rules[CREDIBLE]["stop_rate_n"],
                estimate(rules[CREDIBLE], "stop_rate", 3),
                estimate(rules[CREDIBLE], "path_length_stopped", 1),
                estimate(rules[CREDIBLE], "error_stopped", 2),
                estimate(rules[CREDIBLE], "false_stop_given_stop", 3),
                estimate(rules.get(CONTRACTION), "false_stop_given_stop", 3),
            )
            for policy, rules in policies.items()
        ]
        pieces.append("\n".join([f"### {field}", "", *markdown(HEADINGS, rows), ""]))
    return "\n".join(pieces)


if __name__ == "__main__":
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        write_tables(TABLES / "searches", {"fields": tables(list(csv.DictReader(file)))})
