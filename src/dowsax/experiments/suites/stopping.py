"""The suites of stopping. They need no runs of their own: they read those of other suites."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode
from dowsax.experiments.run import CONTRACTION, CREDIBLE, Run
from dowsax.experiments.suites.measures import (
    Line,
    correlation,
    cut_to_ladder,
    first_of,
    numbers_of,
    require_decided,
    signal_of,
)
from dowsax.experiments.suites.printed import printed
from dowsax.experiments.suites.searches import FIELDS, OUTER, PRESETS, lines_for
from dowsax.experiments.suites.suite import Reproduction, Suite
from dowsax.viz.paper_figures import threshold_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ZETAS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
STOPPING = ("OCE", "false stops", "GT-success", "readings", "ADE")
_SIGNALS = {
    "contraction": "spread",
    "credible": "mass",
    "entropy": "entropy",
    "max-weight": "max_weight",
}
"""The column of the records that a rule looks at."""


def _ours(paper: Reproduction, preset: str) -> Run:
    return paper.run("att-pfrl", "temperature", "id", preset)


def _two_runs(paper: Reproduction) -> list[Run]:
    return [_ours(paper, preset) for preset in PRESETS]


def _threshold_lines(paper: Reproduction) -> list[Line]:
    lines = []
    for preset in PRESETS:
        episodes = paper.episodes(_ours(paper, preset))
        for zeta in ZETAS if episodes is not None else ():
            rule = TraceRule("contraction", zeta)
            require_decided(episodes or [], rule, paper.max_readings)
            lines.append(
                Line(f"{zeta:.1f}", "temperature", preset, str(rule), numbers_of(episodes or [], rule))
            )
    return lines


def _threshold_figures(paper: Reproduction, lines: Sequence[Line]) -> "dict[str, Figure]":
    del paper
    theirs = printed("threshold")
    ours = {
        preset: [first_of(lines, row=f"{zeta:.1f}", filter=preset) for zeta in ZETAS] for preset in PRESETS
    }
    curves = {preset: numbers for preset, numbers in ours.items() if None not in numbers}
    known = {
        name: [theirs[f"{zeta:.1f}", "temperature", name].value for zeta in ZETAS]
        for name in ("OCE", "false stops")
    }
    return {"threshold.png": threshold_curves(ZETAS, known, curves)} if curves else {}


THRESHOLD = Suite(
    name="threshold",
    title="The threshold ζ on temperature",
    label="tab:threshold_sensitivity_basic_",
    runs=_two_runs,
    lines=_threshold_lines,
    measures=STOPPING,
    figures=_threshold_figures,
)


def _calibration_runs(paper: Reproduction) -> list[Run]:
    return [paper.run("att-pfrl", field, "id", preset) for field in FIELDS for preset in PRESETS]


def _calibration_lines(paper: Reproduction) -> list[Line]:
    lines = []
    for run in _calibration_runs(paper):
        episodes = paper.episodes(run)
        if episodes is None:
            continue
        read = list(map(cut_to_ladder, episodes))
        numbers = (
            {"Spearman": correlation(read)} | numbers_of(read, CONTRACTION) | signal_of(read, CONTRACTION)
        )
        lines.append(Line(run.field, "", run.preset, str(CONTRACTION), numbers))
    return lines


CALIBRATION = Suite(
    name="calibration",
    title="Does a small spread mean a small error?",
    label="tab:calibration_metrics_",
    runs=_calibration_runs,
    lines=_calibration_lines,
    measures=("Spearman", "false stops", "precision", "recall"),
)

_CRITERIA = {
    "contraction-0.5": (CONTRACTION,),
    "credible-0.95": (CREDIBLE,),
    "entropy": tuple(TraceRule("entropy", nats) for nats in (2.0, 1.5, 1.0, 0.5)),
    "max-weight": tuple(TraceRule("max-weight", share) for share in (0.01, 0.02, 0.05, 0.5)),
    "fixed-25": (TraceRule("fixed", 25.0),),
}


def _criteria_lines(paper: Reproduction) -> list[Line]:
    lines: list[Line] = []
    for preset in PRESETS:
        episodes = paper.episodes(_ours(paper, preset))
        if episodes is not None:
            lines += _criteria(episodes, preset, paper.max_readings)
    return lines


def _criteria(episodes: Sequence[Episode], preset: str, max_readings: int) -> Iterator[Line]:
    """A line for each rule. A rule that only counts has nothing to hold against the error."""
    read = list(map(cut_to_ladder, episodes))
    found = {name: {"Spearman": correlation(read, column)} for name, column in _SIGNALS.items()}
    for row, rules in _CRITERIA.items():
        for rule in rules:
            require_decided(episodes, rule, max_readings)
            numbers = numbers_of(episodes, rule) | found.get(rule.name, {})
            yield Line(row, "temperature", preset, str(rule), numbers)


CRITERIA = Suite(
    name="criteria",
    title="When to stop: five rules on temperature",
    label="tab:termination_criteria_comparison_",
    runs=_two_runs,
    lines=_criteria_lines,
    measures=(*STOPPING, "Spearman"),
)

_SETTINGS = {
    "ID": (("att-pfrl", "id"),),
    "OOD": tuple(("att-pfrl-ood", outer) for outer in OUTER),
    "shift": (("att-pfrl", "shift"),),
}


def _robustness_runs(paper: Reproduction) -> list[Run]:
    return [
        paper.run(policy, "temperature", scenario, preset)
        for preset in PRESETS
        for places in _SETTINGS.values()
        for policy, scenario in places
    ]


def _robustness_lines(paper: Reproduction) -> list[Line]:
    return [
        line
        for preset in PRESETS
        for row, places in _SETTINGS.items()
        for line in lines_for(
            paper, row, "temperature", [paper.run(who, "temperature", at, preset) for who, at in places]
        )
    ]


ROBUSTNESS = Suite(
    name="threshold-robustness",
    title="The same threshold elsewhere and after a jump",
    label="tab:threshold_robustness_",
    runs=_robustness_runs,
    lines=_robustness_lines,
    measures=STOPPING,
)
