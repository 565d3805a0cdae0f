"""The suite of rewards: policies that were trained with different rewards, from a folder of training runs."""

import csv
from itertools import product
from pathlib import Path

from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.experiments.suites.measures import Line, numbers_of
from dowsax.experiments.suites.searches import OUTER, PRESETS
from dowsax.experiments.suites.suite import Entry, Reproduction, Suite, rules_for

REWARDED = {"R1": "att-pfrl", "R2": "att-pfrl-r2", "R3": "att-pfrl-r3", "right stop": "att-pfrl-right"}
"""The method of each row."""
SEEDS = range(16)
_STOP_RATE = 0.90


def weights_in(folder: Path) -> dict[str, str]:
    """The policies of the ablation in a folder of training runs, by method and seed."""
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}: give --weights one of training runs.")
    places = {
        f"{method}-seed-{seed}": folder / "ablation" / f"{method}-seed-{seed}" / f"{method}.safetensors"
        for method in REWARDED.values()
        for seed in SEEDS
    }
    found = {name: str(path) for name, path in places.items() if path.exists()}
    if not found:
        example = next(iter(places.values()))
        raise ValueError(
            f"No policies of the ablation below {folder}: there is no {example} nor any like it."
        )
    return found


def _seeds(paper: Reproduction, method: str) -> list[str]:
    return [f"{method}-seed-{seed}" for seed in SEEDS if f"{method}-seed-{seed}" in paper.weights]


def _entries(paper: Reproduction) -> list[Entry]:
    """All seeds together, and each alone if there are several."""
    entries = []
    for preset, (row, method) in product(PRESETS, REWARDED.items()):
        policies = _seeds(paper, method)
        alone = [(f"{row}, seed {policy.rpartition('-')[2]}", [policy]) for policy in policies]
        for name, of in [(row, policies), *(alone if len(alone) > 1 else [])]:
            runs = [paper.run(policy, "temperature", at, preset) for policy in of for at in ("id", *OUTER)]
            entries += [Entry(name, "temperature", runs)] if runs else []
    return entries


def _lines(paper: Reproduction, entry: Entry) -> list[Line]:
    """A line for each rule, over the searches of all seeds."""
    here = paper.all_episodes([run for run in entry.runs if run.scenario == "id"])
    outside = paper.all_episodes([run for run in entry.runs if run.scenario != "id"])
    if here is None or outside is None:
        return []
    lines = []
    for rule in rules_for(entry.preset):
        numbers, elsewhere = numbers_of(here, rule), numbers_of(outside, rule)
        numbers |= {f"{name} (OOD)": elsewhere[name] for name in ("OCE", "false stops")}
        numbers["episodes to 0.90"] = _episodes_needed(list(dict.fromkeys(run.source for run in entry.runs)))
        lines.append(Line(entry.row, entry.column, entry.preset, str(rule), numbers))
    return lines


def _episodes_needed(paths: list[str]) -> Estimate:
    """The mean over seeds with the least and the most; nothing unless every seed got there."""
    needed = [episodes_to_reach(Path(path).with_name("curves.csv")) for path in paths]
    known = [number for number in needed if number is not None]
    if not known or len(known) < len(needed):
        return NOTHING
    return Estimate(sum(known) / len(known), float(min(known)), float(max(known)), len(known))


def episodes_to_reach(curve: Path) -> int | None:
    """Searches that had ended when the recent stop rate rose to 0.90 for good; none if it never did.

    Searches go side by side, and one that does not stop is the last to end: until the first has run out of
    readings all that end have stopped, and their rate of one says nothing.
    """
    if not curve.exists():
        return None
    with curve.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ended = [int(float(row["ended"])) for row in rows]
    missed = [at for at, row in enumerate(rows) if float(row["stopped"]) < ended[at]]
    below = [at for at, row in enumerate(rows) if not float(row["recent_stop_rate"]) >= _STOP_RATE]
    after = max([*missed[:1], *(at + 1 for at in below[-1:])], default=len(rows))
    return sum(ended[: after + 1]) if after < len(rows) else None


REWARDS = Suite(
    name="rewards",
    title="What the learner is rewarded for",
    label="tab:reward_design_ablation_",
    entries=_entries,
    make_lines=_lines,
    measures=(
        "OCE",
        "false stops",
        "GT-success",
        "ADE",
        "OCE (OOD)",
        "false stops (OOD)",
        "episodes to 0.90",
    ),
)
