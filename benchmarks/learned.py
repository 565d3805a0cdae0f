"""The learned policies on every field, next to the planners: results/learned.csv.

    python -m benchmarks.learned --out runs/learned --budget 540      # so many seconds; call again to go on
    python -m benchmarks.learned --out runs/learned --weights runs/train    # policies that do not ship yet
    python -m benchmarks.learned --out runs/learned --weights runs/train --parts ablation
    python -m benchmarks.learned --throughput                         # moves a second in training
    python -m benchmarks.learned --out runs/tiny-learned --tiny --data runs/tiny-learned      # a rehearsal

The searches are those of `benchmarks.searches` (seed 0, the default filter), so that the planners' lines are
taken from its table. `straight` is run again, as its searches are needed one by one. Runs are computed field
by field; the files in results are written from all runs that are complete. The tables of the page are made
from these files by `python -m benchmarks.learning_tables`.
"""

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from benchmarks import elsewhere, throughput
from benchmarks.elsewhere import REGIONS
from benchmarks.machine import ROOT
from benchmarks.measured import RULES, Measured, compute, open_store, read_measured, require_paired, resize
from benchmarks.rivals import Against, by_intervals, paired, path_ratio
from benchmarks.searches import FIELDS
from benchmarks.table_files import Line, estimates, read_lines, where
from benchmarks.train_all import SEEDED, SHIPPED, Entry, differing, judged, same_run
from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.evaluate.tables import labelled_csv
from dowsax.experiments.run import Run
from dowsax.files import replace_file
from dowsax.policies.shipped import PRETRAINED_FOLDER
from dowsax.policies.stored import card_of

LIMIT = "straight"
LIMITS = (LIMIT, "circle")
"""They are told where the source is: what the path is compared with, and how many searches can be stopped."""
OURS = "att-pfrl"
PARTS = ("id", "ood", "ablation")
DATA = ROOT / "results"
SLACK = {"stop_rate": 0.003, "path_length_stopped": 0.01}
"""As shares: on one kind of device a few searches of a thousand may go otherwise for rounding, not more."""
PUBLISHED_ON = "NVIDIA H200"
"""The device of a table of searches that does not name one."""
LEARNED, AGAINST, ABLATION, SEARCHES = "learned.csv", "learned-against.csv", "ablation.csv", "searches.csv"


def weights_in(folder: Path, tiny: bool = False) -> dict[str, Path]:
    """The policies in a folder of weights, or of training runs, by name; the shipped ones in their order."""
    places = [
        (entry, place / f"{entry.name}.safetensors")
        for entry in SHIPPED
        for place in (folder, folder / entry.label)
    ]
    return {entry.name: path for entry, path in places if path.exists() and (tiny or finished(entry, path))}


def seeds_in(folder: Path, tiny: bool = False) -> dict[str, Path]:
    """The policies of the ablations in a folder of training runs, by method and seed."""
    places = [(one, folder / same_run(one).label / f"{one.name}.safetensors") for one in SEEDED]
    return {
        f"{entry.method}-seed-{entry.seed}": path
        for entry, path in places
        if path.exists() and (tiny or finished(entry, path))
    }


def finished(entry: Entry, path: Path) -> bool:
    """Whether weights are those of the whole run of an entry; if not, why is told."""
    card = card_of(path)
    word = judged(entry, card.steps, card.settings)
    if word == "another":
        names = ", ".join(differing(entry, card.settings))
        print(f"{path} is left out: it was trained with other settings ({names})", file=sys.stderr)
    elif word != "done":
        steps = f"it has {card.steps:,} of {entry.steps:,} steps"
        why = steps if card.settings else "its card does not say how it was trained"
        print(f"{path} is left out: {why}", file=sys.stderr)
    return word == "done"


def policies_in(folder: Path, tiny: bool = False) -> dict[str, list[tuple[str, dict[str, str]]]]:
    """The scenarios of each part and the policies in them, from finished runs; in a rehearsal from any."""
    limit, limits, known = {LIMIT: LIMIT}, {name: name for name in LIMITS}, weights_in(folder, tiny)
    here = {name: str(path) for name, path in known.items() if not name.endswith("-ood")}
    outside = {name: str(path) for name, path in known.items() if name.endswith("-ood")}
    seeds = {name: str(path) for name, path in seeds_in(folder, tiny).items()}
    return {
        "id": [("id", limits | here)] if here else [],
        "ood": [(region, limit | outside) for region in REGIONS] if outside else [],
        "ablation": [("id", limit | seeds)] if seeds else [],
    }


def plan(
    known: Mapping[str, Sequence[tuple[str, Mapping[str, str]]]], parts: Sequence[str], fields: Sequence[str]
) -> list[Run]:
    """All runs for which there are policies, the most important first."""
    wanted = (
        Run(label, field, scenario, weights=source)
        for part in parts
        for field in fields
        for scenario, policies in known[part]
        for label, source in policies.items()
    )
    return list(dict.fromkeys(wanted))


def lines_of(found: Mapping[Run, Measured]) -> list[tuple[dict[str, str], dict[str, Estimate]]]:
    """A line for each run and rule, with the path against the straight walk's on the same searches."""
    limits = {_searches(one): measured for one, measured in found.items() if one.policy == LIMIT}
    lines = []
    for wanted, measured in found.items():
        limit = None if wanted.policy == LIMIT else limits.get(_searches(wanted))
        if limit is not None:
            require_paired(measured, limit)
        for rule in RULES:
            numbers = measured.summary(rule)._asdict()
            del numbers["seconds_per_episode"]
            ratio = NOTHING if limit is None else path_ratio(measured.ends[rule], limit.ends[rule])
            labels = {"policy": wanted.policy, "field": wanted.field, "scenario": wanted.scenario}
            labels |= {"stop": str(rule)} | _made_with(measured)
            lines.append((labels, numbers | {"path_ratio": ratio}))
    return lines


def _searches(wanted: Run) -> tuple[str, str]:
    return wanted.field, wanted.scenario


def _made_with(measured: Measured) -> dict[str, str]:
    names = ("preset", "particles", "seed", "weights", "steps", "device")
    found = {name: measured.about.get(name) for name in names}
    return {name: "" if value is None else str(value) for name, value in found.items()}


def against(
    found: Mapping[Run, Measured], planners: Sequence[Line], ours: str = OURS
) -> list[tuple[dict[str, str], dict[str, Estimate]]]:
    """Ours minus every other policy in the scenario id, on every field under every rule."""
    lines = []
    for wanted, measured in found.items():
        if (wanted.policy, wanted.scenario) != (ours, "id"):
            continue
        others = {
            one.policy: other
            for one, other in found.items()
            if _searches(one) == _searches(wanted) and one.policy not in (ours, *LIMITS)
        }
        for rule in RULES:
            rivals = {name: paired(measured.ends[rule], other.ends[rule]) for name, other in others.items()}
            here = measured.summary(rule)._asdict()
            for line in where(planners, field=wanted.field, stop=str(rule)):
                if line["policy"] not in LIMITS:
                    rivals[line["policy"]] = by_intervals(here, estimates(line))
            lines += [_compared(wanted, str(rule), name, one) for name, one in rivals.items()]
    return lines


def _compared(
    wanted: Run, rule: str, rival: str, found: Against
) -> tuple[dict[str, str], dict[str, Estimate]]:
    labels = {"policy": wanted.policy, "rival": rival, "field": wanted.field, "stop": rule}
    labels |= {"from": "the same searches" if found.paired else "intervals"}
    return labels, {"stop_rate": found.stop_rate, "path_length": found.path_length}


def planners_of(path: Path, found: Mapping[Run, Measured]) -> list[Line]:
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


def _compare_limits(path: Path, lines: Sequence[Line], found: Mapping[Run, Measured]) -> None:
    """A ValueError where the straight walk here is not the one of the table: then neither are the searches.

    On another kind of device many searches go otherwise for rounding alone: there it is only told.
    """
    limits = [(run, one) for run, one in found.items() if (run.policy, run.scenario) == (LIMIT, "id")]
    for (wanted, measured), rule in product(limits, RULES):
        here = measured.summary(rule)._asdict()
        for line in where(lines, policy=LIMIT, field=wanted.field, stop=str(rule)):
            there = estimates(line)
            strange = [name for name, slack in SLACK.items() if _apart(here[name], there[name]) > slack]
            if not strange:
                continue
            values = "; ".join(f"{name} {here[name].value} and {there[name].value}" for name in strange)
            said = f"{LIMIT} on {wanted.field} under {rule} differs from {path}: {values}"
            if line.get("device", PUBLISHED_ON) == measured.about["device"]:
                raise ValueError(f"{said}. Measure the planners again, or with the code of then.")
            print(said, file=sys.stderr)


def _apart(here: Estimate, there: Estimate) -> float:
    """The difference as a share of what is there."""
    if here.value is None or there.value is None:
        return 0.0 if here.value == there.value else math.inf
    return abs(here.value - there.value) / max(abs(there.value), 1e-9)


def write(found: Mapping[Run, Measured], data: Path, searches: Path) -> None:
    """Write the files for which there are runs."""
    seeded = {one: measured for one, measured in found.items() if "-seed-" in one.policy}
    rest = {one: measured for one, measured in found.items() if "-seed-" not in one.policy}
    texts = {}
    learnt = {one: measured for one, measured in rest.items() if one.policy not in LIMITS}
    if learnt:
        texts[LEARNED] = labelled_csv(lines_of(rest))
        texts[AGAINST] = labelled_csv(against(rest, planners_of(searches, rest)))
        texts[elsewhere.FILE] = labelled_csv(elsewhere.lines_of(rest))
    if seeded:
        limits = {one: measured for one, measured in rest.items() if one.policy == LIMIT}
        texts[ABLATION] = labelled_csv([line for line in lines_of(seeded | limits) if line[0]["weights"]])
    data.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        if not text:
            continue
        with replace_file(data / name) as partial:
            partial.write_text(text, encoding="utf-8")


def write_cards(found: Mapping[Run, Measured]) -> None:
    """Note in the cards of shipped policies what they reach: value, low, high and n."""
    names = ("stop_rate", "path_length_stopped", "false_stop_given_stop", "path_ratio")
    shipped = {LIMIT, *(entry.name for entry in SHIPPED)}
    everything = lines_of({one: measured for one, measured in found.items() if one.policy in shipped})
    for entry in SHIPPED:
        card = PRETRAINED_FOLDER / f"{entry.name}.json"
        lines = [line for line in everything if line[0]["policy"] == entry.name]
        if not lines or not card.exists():
            continue
        results: dict[str, dict] = {}
        for labels, numbers in lines:
            at = results.setdefault(labels["scenario"], {}).setdefault(labels["field"], {})
            at[labels["stop"]] = {name: _rounded(numbers[name]) for name in names}
        about = json.loads(card.read_text(encoding="utf-8"))
        if any(labels["weights"] != about["digest"] for labels, _ in lines):
            raise ValueError(f"{card} is of other weights than those that were measured: collect them first.")
        with replace_file(card) as partial:
            text = json.dumps(about | {"results": results}, indent=2) + "\n"
            partial.write_text(text, encoding="utf-8")


def _rounded(number: Estimate) -> list[float | None]:
    return [None if part is None else float(f"{part:.5g}") for part in number]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs/learned"), help="the folder of the runs")
    parser.add_argument(
        "--weights", type=Path, default=PRETRAINED_FOLDER, help="of policies, or of training runs"
    )
    parser.add_argument("--parts", nargs="+", default=["id", "ood"], choices=PARTS)
    parser.add_argument("--fields", nargs="+", default=FIELDS, choices=FIELDS)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--budget", type=float, default=math.inf, metavar="SECONDS")
    parser.add_argument("--data", type=Path, default=DATA, help="where the tables are written")
    parser.add_argument("--searches", type=Path, default=DATA / SEARCHES, help="the planners' table")
    parser.add_argument("--cards", action="store_true", help="note the results in the shipped cards")
    parser.add_argument(
        "--trust", nargs="+", default=[], metavar="CODE", help="marks of code that is known to search alike"
    )
    parser.add_argument("--throughput", action="store_true", help="only measure moves a second")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    if options.throughput:
        throughput.write(options.data, tiny=options.tiny)
        return
    try:
        known = policies_in(options.weights, options.tiny)
    except ValueError as error:
        parser.error(str(error))
    wanted, everything = (
        [resize(one, options.episodes, options.tiny) for one in plan(known, parts, fields)]
        for parts, fields in ((options.parts, options.fields), (PARTS, FIELDS))
    )
    if not wanted:
        parser.error(f"there are no trained policies for {', '.join(options.parts)} in {options.weights}")
    try:
        store = open_store(options.out, options.trust)
        compute(store, wanted, options.budget)
        found = read_measured(store, everything)
        write(found, options.data, options.out / SEARCHES if options.tiny else options.searches)
        if options.cards and not options.tiny:
            write_cards(found)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
