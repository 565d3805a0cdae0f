"""The tables of learned policies, from the numbers in `results`.

    python -m benchmarks.learning_tables             # write them to results/tables/learning
    python -m benchmarks.learning_tables --print

A table whose numbers are not there is left as it is.
"""

import argparse
import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from benchmarks import learning_curves, rivals, searches_tables
from benchmarks.elsewhere import FILE as REGIONAL
from benchmarks.learned import ABLATION, AGAINST, DATA, LEARNED, LIMIT, LIMITS, OURS, SEARCHES
from benchmarks.limits import FILE as TOLD
from benchmarks.rivals import Against
from benchmarks.searches import FIELDS
from benchmarks.table_files import TABLES, Line, estimate, judged, read_lines, where, write_tables
from benchmarks.throughput import FILE as THROUGHPUT
from benchmarks.train_all import REWARDED, SEEDS
from benchmarks.training_filter import FILE as FILTER
from benchmarks.training_filter import FILTERS
from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.evaluate.tables import markdown, number
from dowsax.experiments.run import CONTRACTION, CREDIBLE

STOP_RATE = dict.fromkeys(FIELDS, 0.97) | {"electric": 0.95, "energy": 0.90}
RATIO = dict.fromkeys(FIELDS, 1.3) | {"energy": 1.8}
FALSE = 0.05
"""The levels to reach: at least, at most and at most."""
ALLOWED = f"≤ {FALSE:g}"
OWN = (OURS, "pfrl")
"""Ours, with and without attention in training: neither is the other's rival."""
ORACLE = "circle"
"""Knows where the source is and takes its readings around it: the limit of the README's table."""
_MOST = {
    "stop_rate": 1.0,
    "path_length_stopped": math.inf,
    "path_ratio": math.inf,
    "false_stop_given_stop": 1.0,
}
"""What the ablation shows, and how large each number can be; none is below 0."""


def levels(learned: Sequence[Line]) -> str:
    """Our policy on every field against the levels, under the credible rule."""
    rows = []
    for line in where(learned, policy=OURS, scenario="id", stop=str(CREDIBLE)):
        field = line["field"]
        found = [estimate(line, name) for name in ("stop_rate", "path_ratio", "false_stop_given_stop")]
        told = [
            judged(found[0], STOP_RATE[field], least=True),
            judged(found[1], RATIO[field], 2, least=False),
            judged(found[2], FALSE, least=False),
        ]
        rows.append((field, *told))
    return _table(("field", "stopped", "path over the straight walk's", "false stops, of stops"), rows)


def headline(learned: Sequence[Line], planners: Sequence[Line]) -> str:
    """Our policy, its best rival and the limit on every field, under the credible rule.

    The best rival has the highest stop rate of all others and, of equal ones, the shortest path.
    """
    rows = []
    for field in FIELDS:
        ours = where(learned, field=field, scenario="id", stop=str(CREDIBLE))
        if not ours:
            continue
        lines = [*ours, *where(planners, field=field, scenario="id", stop=str(CREDIBLE))]
        rivals = [line for line in lines if line["policy"] not in (*OWN, *LIMITS)]
        rival = max(rivals, key=_rank, default={})
        named = f"{rival['policy']}: {_stops_and_path(rival)}" if rival else "–"
        shown = [_stops_and_path(next(iter(where(lines, policy=name)), {})) for name in (OURS, ORACLE)]
        rows.append((field, shown[0], named, shown[1]))
    return _table(("field", "ours (`att-pfrl`)", "best rival", "limit (oracle)"), rows)


def _rank(line: Line) -> tuple[float, float]:
    rate, path = (estimate(line, name).value for name in ("stop_rate", "path_length_stopped"))
    return (rate or 0.0, -(math.inf if path is None else path))


def _stops_and_path(line: Line) -> str:
    if not line:
        return "–"
    rate, path = estimate(line, "stop_rate"), estimate(line, "path_length_stopped")
    false = estimate(line, "false_stop_given_stop").value
    wrong = "none" if false is None else f"{false:.3f}"
    return f"{number(rate, 3)}, {wrong} false; {number(path, 1)}"


def limits(learned: Sequence[Line], told: Sequence[Line]) -> str:
    """Our policy next to those that know what it has to find out, under the credible rule."""
    rows = []
    for line in told:
        here = where(learned, field=line["field"], scenario="id", stop=str(CREDIBLE))
        ours, circle = ([one for one in here if one["policy"] == name] for name in (OURS, "circle"))
        if ours and circle:
            rates = [
                number(estimate(one[0], name), 3)
                for one in (circle, ours)
                for name in ("stop_rate", "false_stop_given_stop")
            ]
            ratios = [number(estimate(line, "told_ratio"), 2), number(estimate(ours[0], "path_ratio"), 2)]
            rows.append((line["field"], *rates, *ratios))
    headings = ("field", "stopped: circle", "of these false", "stopped: ATT-PFRL", "of these false")
    return _table((*headings, "path over the straight walk's: told sweep", "ATT-PFRL"), rows)


def best(against: Sequence[Line]) -> str:
    """Whether our policy is the best of all on every field, under both rules."""
    rows = []
    for (field, stop), lines in groupby(against, key=lambda line: (line["field"], line["stop"])):
        found = {
            line["rival"]: Against(
                estimate(line, "stop_rate"), estimate(line, "path_length"), line["from"] != "intervals"
            )
            for line in lines
        }
        said = rivals.verdict(found)
        rows.append(
            (
                field,
                stop,
                str(len(found)),
                "yes" if said.best else "no",
                _names(said.oftener),
                _names(said.tied),
                _names(said.shorter),
                _names(said.level),
            )
        )
    headings = ("field", "rule", "rivals", "best", "stop more often", "stop as often")
    return _table((*headings, "of these shorter", "of these as long"), rows)


def fields(learned: Sequence[Line], planners: Sequence[Line]) -> str:
    """All policies on each field: the limit, the learned ones, then the planners from their own table."""
    pieces = []
    for field in FIELDS:
        here = where(learned, field=field, scenario="id")
        there = [line for line in where(planners, field=field, scenario="id") if line["policy"] not in LIMITS]
        if not here:
            continue
        rows = []
        for line in where([*here, *there], stop=str(CREDIBLE)):
            other = where([*here, *there], policy=line["policy"], stop=str(CONTRACTION))
            ratio = estimate(line, "path_ratio")
            rows.append(
                (
                    line["policy"],
                    searches_tables.written(line, "stop_rate", 3),
                    searches_tables.written(line, "path_length_stopped", 1),
                    "–" if ratio.value is None else number(ratio, 2),
                    searches_tables.written(line, "error_stopped", 2),
                    searches_tables.written(line, "false_stop_given_stop", 3),
                    searches_tables.written(other[0] if other else None, "stop_rate", 3),
                    searches_tables.written(other[0] if other else None, "false_stop_given_stop", 3),
                )
            )
        headings = ("policy", "stopped", "path to the stop [m]", "path over the straight walk's")
        headings += ("error at the stop [m]", "false stops", "stopped, ζ = 0.5", "false stops, ζ = 0.5")
        pieces.append(f"### {field}\n\n{_table(headings, rows)}")
    return "\n\n".join(pieces)


def elsewhere(lines: Sequence[Line], learned: Sequence[Line]) -> str:
    """Stops where sources are as in training and elsewhere, false ones, and what is lost; credible rule."""
    rates = {"training": "as in training", "west": "west", "east": "east", "mean": "mean of both"}
    drops = {
        "lost_west": "lost in the west",
        "lost_east": "lost in the east",
        "lost_mean": "lost in the mean of both",
    }
    false = {"ood-training": "false stops: as in training", "ood-west": "west", "ood-east": "east"}
    rows = [
        (
            line["field"],
            line["policy"],
            *(number(estimate(line, name), 3) for name in rates),
            *(number(estimate(line, name), 3, "+") for name in drops),
            *(_false_rate(where(learned, policy=line["policy"], field=field), at) for at in false),
        )
        for field in FIELDS
        for line in where(lines, field=field, stop=str(CREDIBLE))
    ]
    return _table(("field", "policy", *rates.values(), *drops.values(), *false.values()), rows)


def _false_rate(lines: Sequence[Line], scenario: str) -> str:
    line = next(iter(where(lines, scenario=scenario, stop=str(CREDIBLE))), {})
    return number(estimate(line, "false_stop_given_stop"), 3) if line else "–"


def ablation(lines: Sequence[Line], learned: Sequence[Line]) -> str:
    """Means over fields and seeds; brackets are Student's 95 % interval over the seeds."""
    rows = []
    limit = _over_fields(where(learned, policy=LIMIT, scenario="id", stop=str(CREDIBLE)))
    for method in REWARDED:
        of_seeds = [
            found
            for seed in SEEDS
            if (found := _over_fields(where(lines, policy=f"{method}-seed-{seed}", stop=str(CREDIBLE))))
        ]
        if len(of_seeds) > 1:
            columns = {name: [found[name] for found in of_seeds] for name in of_seeds[0]}
            numbers = [over_seeds(column, _MOST[name]) for name, column in columns.items()]
            said = [number(one, digits) for one, digits in zip(numbers, (3, 1, 2, 3), strict=True)]
            rows.append((method, " ".join(f"{rate:.3f}" for rate in columns["stop_rate"]), *said))
    if rows and limit:
        told = [f"{limit[name]:.{digits}f}" for name, digits in zip(_MOST, (3, 1, 2, 3), strict=True)]
        rows.insert(0, (LIMIT, "–", *told[:2], "–", told[3]))
    headings = ("method", "stopped, each seed", "stopped", "path to the stop [m]")
    headings = (*headings, "path over the straight walk's")
    return _table((*headings, "false stops, of stops"), rows)


def _over_fields(lines: Sequence[Line]) -> dict[str, float]:
    """The means of the fields' numbers; nothing unless all fields are there."""
    if len(lines) < len(FIELDS):
        return {}
    columns = {name: [estimate(line, name).value for line in lines] for name in _MOST}
    return {name: math.nan if None in column else float(np.mean(column)) for name, column in columns.items()}


def over_seeds(values: Sequence[float], most: float) -> Estimate:
    r"""$\bar x \pm t_{0.975, n-1}\, s / \sqrt n$ over two or more seeds, within [0, most].

    Nothing where a seed has none.
    """
    mean, seeds = float(np.mean(values)), len(values)
    if math.isnan(mean):
        return NOTHING
    half = float(student.ppf(0.975, seeds - 1) * np.std(values, ddof=1) / math.sqrt(seeds))
    return Estimate(mean, max(mean - half, 0.0), min(mean + half, most), seeds)


def filters(lines: Sequence[Line], rule: object) -> str:
    """False stops of each filter, field by field; bold where the whole interval is above what is allowed."""
    measured = [field for field in FIELDS if where(lines, field=field)]
    rows = []
    for preset in FILTERS:
        chosen = where(lines, preset=preset, stop=str(rule))
        for policy in dict.fromkeys(line["policy"] for line in chosen):
            found = {line["field"]: line for line in where(chosen, policy=policy)}
            rows.append((preset, policy, *(_false_stops(found.get(field)) for field in measured)))
    return _table(("filter", "policy", *measured), rows)


def _false_stops(line: Line | None) -> str:
    found = estimate(line or {}, "false_stop_given_stop")
    if found.value is None:
        return "–"
    said = number(found, 2)
    return f"**{said}**" if found.low > FALSE else said


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


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def tables(data: Path) -> dict[str, str]:
    """All tables by name; those without numbers are left out."""
    learned, planners = read_lines(data / LEARNED), read_lines(data / SEARCHES)
    filtered = read_lines(data / FILTER)
    found = {
        "headline": headline(learned, planners),
        "levels": levels(learned),
        "limits": limits(learned, read_lines(data / TOLD)),
        "best": best(read_lines(data / AGAINST)),
        "fields": fields(learned, planners),
        "elsewhere": elsewhere(read_lines(data / REGIONAL), learned),
        "ablation": ablation(read_lines(data / ABLATION), learned),
        "filters-credible": filters(filtered, CREDIBLE),
        "filters-contraction": filters(filtered, CONTRACTION),
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
