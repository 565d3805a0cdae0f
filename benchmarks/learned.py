"""The learned policies on every field, next to the planners: the numbers of docs/learning.md.

    python -m benchmarks.learned --out runs/learned --budget 540      # so many seconds; call again to go on
    python -m benchmarks.learned --out runs/learned --weights runs/train    # policies that do not ship yet
    python -m benchmarks.learned --out runs/learned --weights runs/train --parts ablation
    python -m benchmarks.learned --throughput                         # moves a second in training
    python -m benchmarks.learned --out runs/tiny-learned --tiny --data runs/tiny-learned      # a rehearsal

The searches are those of `benchmarks.searches` (seed 0, the default filter), so that the planners' lines are
taken from its table. `straight` is run again, as its searches are needed one by one. Cells are measured field
by field and kept in small files (`benchmarks.cells`); the files in docs/data are written from all cells that
are there. `python -m benchmarks.learning_page` makes the tables of the page from them.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import cells, throughput
from benchmarks.cells import RULES, Measured, Wanted
from benchmarks.csv_lines import Line, estimate, estimates, read_lines, where
from benchmarks.machine import ROOT
from benchmarks.rivals import Against, by_intervals, paired, path_ratio
from benchmarks.searches import FIELDS
from benchmarks.train_all import ELSEWHERE, SEEDED, SHIPPED, same_run
from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.evaluate.search_tables import labelled_csv
from dowsax.files import replacing
from dowsax.policies.shipped import FOLDER

LIMIT = "straight"
OURS = "att-pfrl"
REGIONS = (ELSEWHERE, "ood-west", "ood-east")
"""Where sources are: as in training, and elsewhere."""
PARTS = ("id", "ood", "ablation")
DATA = ROOT / "docs/data"
LEARNED, AGAINST, ABLATION, SEARCHES = "learned.csv", "learned-against.csv", "ablation.csv", "searches.csv"


def weights_in(folder: Path) -> dict[str, Path]:
    """The policies in a folder of weights, or of training runs, by name; the shipped ones in their order."""
    places = [
        (entry.name, place / f"{entry.name}.safetensors")
        for entry in SHIPPED
        for place in (folder, folder / entry.label)
    ]
    return {name: path for name, path in places if path.exists()}


def seeds_in(folder: Path) -> dict[str, Path]:
    """The policies of the ablations in a folder of training runs, by method and seed."""
    places = {
        f"{entry.method}-seed-{entry.seed}": folder / same_run(entry).label / f"{entry.name}.safetensors"
        for entry in SEEDED
    }
    return {name: place for name, place in places.items() if place.exists()}


def plan(folder: Path, parts: Sequence[str], fields: Sequence[str]) -> list[Wanted]:
    """All cells for which there are weights, the most important first."""
    limit, known = {LIMIT: LIMIT}, weights_in(folder)
    here = {name: str(path) for name, path in known.items() if not name.endswith("-ood")}
    elsewhere = {name: str(path) for name, path in known.items() if name.endswith("-ood")}
    seeds = {name: str(path) for name, path in seeds_in(folder).items()}
    chosen = {
        "id": [("id", limit | here)] if here else [],
        "ood": [(region, limit | elsewhere) for region in REGIONS] if elsewhere else [],
        "ablation": [("id", limit | seeds)] if seeds else [],
    }
    wanted = (
        Wanted(label, source, field, scenario)
        for part in parts
        for field in fields
        for scenario, policies in chosen[part]
        for label, source in policies.items()
    )
    return list(dict.fromkeys(wanted))


def lines_of(found: Mapping[Wanted, Measured]) -> list[tuple[dict[str, str], dict[str, Estimate]]]:
    """A line for each cell and rule, with the path against the straight walk's on the same searches."""
    limits = {_searches(one): measured for one, measured in found.items() if one.label == LIMIT}
    lines = []
    for wanted, measured in found.items():
        limit = None if wanted.label == LIMIT else limits.get(_searches(wanted))
        if limit is not None:
            cells.require_paired(measured, limit)
        for rule in RULES:
            numbers = measured.summary(rule)._asdict()
            del numbers["seconds_per_episode"]
            ratio = NOTHING if limit is None else path_ratio(measured.ends[rule], limit.ends[rule])
            labels = {"policy": wanted.label, "field": wanted.field, "scenario": wanted.scenario}
            labels |= {"stop": str(rule)} | _made_with(measured)
            lines.append((labels, numbers | {"path_ratio": ratio}))
    return lines


def _searches(wanted: Wanted) -> tuple[str, str]:
    return wanted.field, wanted.scenario


def _made_with(measured: Measured) -> dict[str, str]:
    about = measured.about | {"weights": measured.about["weights"] or ""}
    return {name: str(about[name]) for name in ("preset", "particles", "seed", "weights", "device")}


def against(
    found: Mapping[Wanted, Measured], planners: Sequence[Line], ours: str = OURS
) -> list[tuple[dict[str, str], dict[str, Estimate]]]:
    """Ours minus every other policy in the scenario id, on every field under every rule."""
    lines = []
    for wanted, measured in found.items():
        if (wanted.label, wanted.scenario) != (ours, "id"):
            continue
        others = {
            one.label: other
            for one, other in found.items()
            if _searches(one) == _searches(wanted) and one.label not in (ours, LIMIT)
        }
        for rule in RULES:
            rivals = {name: paired(measured.ends[rule], other.ends[rule]) for name, other in others.items()}
            here = measured.summary(rule)._asdict()
            for line in where(planners, field=wanted.field, stop=str(rule)):
                if line["policy"] != LIMIT:
                    rivals[line["policy"]] = by_intervals(here, estimates(line))
            lines += [_compared(wanted, str(rule), name, one) for name, one in rivals.items()]
    return lines


def _compared(
    wanted: Wanted, rule: str, rival: str, found: Against
) -> tuple[dict[str, str], dict[str, Estimate]]:
    labels = {"policy": wanted.label, "rival": rival, "field": wanted.field, "stop": rule}
    labels |= {"from": "the same searches" if found.paired else "intervals"}
    return labels, {"stop_rate": found.stop_rate, "path_length": found.path_length}


def planners_of(path: Path, found: Mapping[Wanted, Measured]) -> list[Line]:
    """The planners' lines, once it is sure that they are of the same searches under the same filter."""
    lines = where(read_lines(path), scenario="id")
    measured = [one for wanted, one in found.items() if wanted.scenario == "id"]
    if not lines or not measured:
        return []
    about = measured[0].about
    wanted = {"preset": about["preset"], "particles": about["particles"], "seed": about["seed"]}
    wanted |= {"stop_rate_n": about["episodes"]}
    for name, value in wanted.items():
        strange = next((line[name] for line in lines if line[name] != str(value)), None)
        if strange is not None:
            raise ValueError(f"{path} has {name} {strange}, the learned policies have {value}.")
    _compare_limits(path, lines, found)
    return lines


def _compare_limits(path: Path, lines: Sequence[Line], found: Mapping[Wanted, Measured]) -> None:
    """Tell where the straight walk here is not the one of the table: then neither are the searches."""
    for wanted, measured in found.items():
        if (wanted.label, wanted.scenario) != (LIMIT, "id"):
            continue
        for line in where(lines, policy=LIMIT, field=wanted.field, stop=str(RULES[0])):
            there, here = (
                estimate(line, "path_length_stopped"),
                measured.summary(RULES[0]).path_length_stopped,
            )
            if here.value is None or not here.low <= there.value <= here.high:
                print(f"{LIMIT} on {wanted.field} differs from {path}: {here} and {there}", file=sys.stderr)


def write(found: Mapping[Wanted, Measured], data: Path, searches: Path) -> None:
    """The files for which there are cells."""
    seeded = {one: measured for one, measured in found.items() if "-seed-" in one.label}
    rest = {one: measured for one, measured in found.items() if "-seed-" not in one.label}
    texts = {}
    if any(one.label != LIMIT for one in rest):
        texts[LEARNED] = labelled_csv(lines_of(rest))
        texts[AGAINST] = labelled_csv(against(rest, planners_of(searches, rest)))
    if seeded:
        limits = {one: measured for one, measured in rest.items() if one.label == LIMIT}
        texts[ABLATION] = labelled_csv([line for line in lines_of(seeded | limits) if line[0]["weights"]])
    data.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        if not text:
            continue
        with replacing(data / name) as partial:
            partial.write_text(text, encoding="utf-8")


def write_cards(found: Mapping[Wanted, Measured]) -> None:
    """Note in the cards of shipped policies what they reach: value, low, high and n."""
    names = ("stop_rate", "path_length_stopped", "false_stop_given_stop", "path_ratio")
    for entry in SHIPPED:
        card = FOLDER / f"{entry.name}.json"
        lines = [line for line in lines_of(found) if line[0]["policy"] == entry.name]
        if not lines or not card.exists():
            continue
        results: dict[str, dict] = {}
        for labels, numbers in lines:
            at = results.setdefault(labels["scenario"], {}).setdefault(labels["field"], {})
            at[labels["stop"]] = {name: _rounded(numbers[name]) for name in names}
        about = json.loads(card.read_text(encoding="utf-8"))
        with replacing(card) as partial:
            text = json.dumps(about | {"results": results}, indent=2) + "\n"
            partial.write_text(text, encoding="utf-8")


def _rounded(number: Estimate) -> list[float | None]:
    return [None if part is None else float(f"{part:.5g}") for part in number]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs/learned"), help="the folder of the cells")
    parser.add_argument("--weights", type=Path, default=FOLDER, help="of policies, or of training runs")
    parser.add_argument("--parts", nargs="+", default=["id", "ood"], choices=PARTS)
    parser.add_argument("--fields", nargs="+", default=FIELDS, choices=FIELDS)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--budget", type=float, default=math.inf, metavar="SECONDS")
    parser.add_argument("--data", type=Path, default=DATA, help="where the tables are written")
    parser.add_argument("--searches", type=Path, default=DATA / SEARCHES, help="the planners' table")
    parser.add_argument("--cards", action="store_true", help="note the results in the shipped cards")
    parser.add_argument("--throughput", action="store_true", help="only measure moves a second")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    deadline = time.monotonic() + options.budget
    if options.throughput:
        throughput.write(options.data, tiny=options.tiny)
        return
    wanted, everything = (
        [cells.sized(one, options.episodes, options.tiny) for one in plan(options.weights, parts, fields)]
        for parts, fields in ((options.parts, options.fields), (PARTS, FIELDS))
    )
    if not wanted:
        parser.error(f"there are no trained policies for {', '.join(options.parts)} in {options.weights}")
    try:
        cells.fill(options.out, wanted, deadline)
        found = cells.there(options.out, everything)
        write(found, options.data, options.out / SEARCHES if options.tiny else options.searches)
    except ValueError as error:
        parser.error(str(error))
    if options.cards and not options.tiny:
        write_cards(found)


if __name__ == "__main__":
    main()
