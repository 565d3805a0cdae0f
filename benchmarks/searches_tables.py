"""The tables of all policies, field by field, from the file that `benchmarks.searches` writes.

python -m benchmarks.searches_tables results/searches.csv    # writes results/tables/searches/fields.md
"""

import sys
from collections import defaultdict
from pathlib import Path

from benchmarks.table_files import TABLES, Line, estimate, read_lines, write_tables
from dowsax.evaluate.metrics import NOTHING
from dowsax.evaluate.tables import markdown, number
from dowsax.experiments.run import CONTRACTION, CREDIBLE

HEADINGS = (
    "policy",
    "searches",
    "stopped",
    "path to the stop [m]",
    "error at the stop [m]",
    "false stops, credible",
    "false stops, ζ = 0.5",
)


def written(line: Line | None, name: str, digits: int) -> str:
    """A number with its interval; a dash if it was not measured."""
    found = NOTHING if line is None else estimate(line, name)
    return "–" if found.value is None else number(found, digits)


def tables(lines: list[Line]) -> str:
    """One table a field, in the order of the file; every line has both rules."""
    fields: dict[str, dict[str, dict[str, Line]]] = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        fields[line["field"]][line["policy"]][line["stop"]] = line
    pieces = []
    for field, policies in fields.items():
        rows = [
            (
                policy,
                rules[str(CREDIBLE)]["stop_rate_n"],
                written(rules[str(CREDIBLE)], "stop_rate", 3),
                written(rules[str(CREDIBLE)], "path_length_stopped", 1),
                written(rules[str(CREDIBLE)], "error_stopped", 2),
                written(rules[str(CREDIBLE)], "false_stop_given_stop", 3),
                written(rules.get(str(CONTRACTION)), "false_stop_given_stop", 3),
            )
            for policy, rules in policies.items()
        ]
        pieces.append("\n".join([f"### {field}", "", *markdown(HEADINGS, rows), ""]))
    return "\n".join(pieces)


if __name__ == "__main__":
    write_tables(TABLES / "searches", {"fields": tables(read_lines(Path(sys.argv[1])))})
