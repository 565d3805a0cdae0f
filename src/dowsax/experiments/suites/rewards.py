"""The suite of rewards: policies that were trained with different rewards."""

from collections.abc import Mapping, Sequence

import numpy as np

from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.experiments.suites.measures import Line, numbers_of
from dowsax.experiments.suites.searches import OUTER, TRAINING_SEEDS
from dowsax.experiments.suites.suite import Entry, Reproduction, Suite, rules_for, turns_of
from dowsax.policies.shipped import weights_path
from dowsax.policies.stored import card_of

REWARDED = {"R1": "att-pfrl", "R2": "att-pfrl-r2", "R3": "att-pfrl-r3", "right stop": "att-pfrl-right"}
"""The method of each row."""
_STOP_RATE = 0.90


def _entries(paper: Reproduction) -> list[Entry]:
    return [
        Entry(row, "temperature", [paper.run(policy, "temperature", at) for at in ("id", *OUTER)])
        for row, policy in REWARDED.items()
    ]


def _lines(paper: Reproduction, entry: Entry) -> list[Line]:
    """A line for each rule, over the searches of all training seeds."""
    home, *outer = entry.runs
    here, outside = paper.all_episodes([home]), paper.all_episodes(outer)
    if here is None or outside is None:
        return []
    lines = []
    for rule in rules_for(entry.preset):
        numbers = numbers_of(here, rule, turns_of([home]))
        elsewhere = numbers_of(outside, rule)
        numbers |= {f"{name} (OOD)": elsewhere[name] for name in ("OCE", "false stops")}
        numbers["episodes to 0.90"] = _episodes_needed(home.searchers)
        lines.append(Line(entry.row, entry.column, entry.preset, str(rule), numbers, paper.seed))
    return lines


def _episodes_needed(policies: Sequence[str]) -> Estimate:
    """The mean over training seeds with the least and the most; nothing unless every seed got there."""
    paths = [path for policy in policies if (path := weights_path(policy)) is not None]
    known = [need for path in paths if (need := episodes_to_reach(card_of(path).curves)) is not None]
    if not known or len(known) < len(policies):
        return NOTHING
    return Estimate(sum(known) / len(known), min(known), max(known), len(known))


def episodes_to_reach(curves: Mapping[str, Sequence[float]]) -> float | None:
    """Searches that had ended when the stop rate of training rose to 0.90 for good; none if it never did.

    Searches go side by side, and one that does not stop is the last to end: until the first has run out of
    readings all that end have stopped, and their rate of one says nothing.
    """
    rates, searches = (np.array(curves.get(name, ())) for name in ("stop_rate", "searches"))
    if not len(searches):
        return None
    missed, below = np.flatnonzero(rates < 1), np.flatnonzero(rates < _STOP_RATE)
    after = max([*missed[:1], *(below[-1:] + 1)], default=len(rates))
    return float(searches[after]) if after < len(rates) else None


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
        *TRAINING_SEEDS,
        "episodes to 0.90",
    ),
)
