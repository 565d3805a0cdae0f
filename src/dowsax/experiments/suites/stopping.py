"""The suites of stopping. They need no runs of their own: they read those of other suites."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode
from dowsax.experiments.run import CONTRACTION, CREDIBLE
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
from dowsax.experiments.suites.searches import FIELDS, OUTER
from dowsax.experiments.suites.suite import SYSTEMS, Entry, Reproduction, Suite
from dowsax.viz.paper_figures import threshold_curves

ZETAS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
STOPPING = ("OCE", "false stops", "GT-success", "readings", "ADE")
_SIGNALS = {"contraction": "spread", "credible": "mass", "entropy": "entropy", "max-weight": "max_weight"}
"""The column of the records that a rule looks at."""


def _temperature(paper: Reproduction) -> list[Entry]:
    """Both systems on temperature."""
    return [
        Entry("", "temperature", [paper.run(policy, "temperature", "id", preset)])
        for preset, policy in SYSTEMS.items()
    ]


def _threshold_lines(paper: Reproduction, entry: Entry) -> list[Line]:
    episodes = paper.all_episodes(entry.runs)
    if episodes is None:
        return []
    rules = [TraceRule("contraction", zeta) for zeta in ZETAS]
    return [_line(paper, entry, f"{rule.threshold:.1f}", rule, episodes) for rule in rules]


def _line(paper: Reproduction, entry: Entry, row: str, rule: TraceRule, episodes: Sequence[Episode]) -> Line:
    require_decided(episodes, rule)
    return Line(row, entry.column, entry.preset, str(rule), numbers_of(episodes, rule), paper.seed)


def _threshold_figures(paper: Reproduction, lines: Sequence[Line]) -> dict[str, Figure]:
    del paper
    theirs = printed("threshold")
    ours = {
        preset: [first_of(lines, row=f"{zeta:.1f}", filter=preset) for zeta in ZETAS] for preset in SYSTEMS
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
    entries=_temperature,
    make_lines=_threshold_lines,
    measures=STOPPING,
    figures=_threshold_figures,
)


def _calibration_entries(paper: Reproduction) -> list[Entry]:
    return [
        Entry(field, "", [paper.run(policy, field, "id", preset)])
        for field in FIELDS
        for preset, policy in SYSTEMS.items()
    ]


def _calibration_lines(paper: Reproduction, entry: Entry) -> list[Line]:
    episodes = paper.all_episodes(entry.runs)
    if episodes is None:
        return []
    read = list(map(cut_to_ladder, episodes))
    numbers = {"Spearman": correlation(read)} | numbers_of(read, CONTRACTION) | signal_of(read, CONTRACTION)
    return [Line(entry.row, "", entry.preset, str(CONTRACTION), numbers, paper.seed)]


CALIBRATION = Suite(
    name="calibration",
    title="Does a small spread mean a small error?",
    label="tab:calibration_metrics_",
    entries=_calibration_entries,
    make_lines=_calibration_lines,
    measures=("Spearman", "false stops", "precision", "recall"),
)

_CRITERIA = {
    "contraction-0.5": (CONTRACTION,),
    "credible-0.95": (CREDIBLE,),
    "entropy": tuple(TraceRule("entropy", nats) for nats in (2.0, 1.5, 1.0, 0.5)),
    "max-weight": tuple(TraceRule("max-weight", share) for share in (0.01, 0.02, 0.05, 0.5)),
    "fixed-25": (TraceRule("fixed", 25.0),),
}


def _criteria_lines(paper: Reproduction, entry: Entry) -> list[Line]:
    """A line for each rule. A rule that only counts has no correlation with the error."""
    episodes = paper.all_episodes(entry.runs)
    if episodes is None:
        return []
    read = list(map(cut_to_ladder, episodes))
    found = {name: {"Spearman": correlation(read, column)} for name, column in _SIGNALS.items()}
    lines = [
        (rule, _line(paper, entry, row, rule, episodes)) for row, rules in _CRITERIA.items() for rule in rules
    ]
    return [line._replace(numbers=line.numbers | found.get(rule.name, {})) for rule, line in lines]


CRITERIA = Suite(
    name="criteria",
    title="When to stop: five rules on temperature",
    label="tab:termination_criteria_comparison_",
    entries=_temperature,
    make_lines=_criteria_lines,
    measures=(*STOPPING, "Spearman"),
)

_SETTINGS = {"ID": ("", ("id",)), "OOD": ("-ood", OUTER), "shift": ("", ("shift",))}
"""The ending of the policy, and the scenarios."""


def _robustness_entries(paper: Reproduction) -> list[Entry]:
    return [
        Entry(row, "temperature", [paper.run(policy + ending, "temperature", at, preset) for at in places])
        for preset, policy in SYSTEMS.items()
        for row, (ending, places) in _SETTINGS.items()
    ]


ROBUSTNESS = Suite(
    name="threshold-robustness",
    title="The same threshold elsewhere and after a jump",
    label="tab:threshold_robustness_",
    entries=_robustness_entries,
    measures=STOPPING,
)
