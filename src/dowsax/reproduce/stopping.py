"""The suites of stopping. They compute nothing of their own but read the searches of other suites again."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode
from dowsax.reproduce.cells import SearchCell
from dowsax.reproduce.lines import (
    CONTRACTION,
    CREDIBLE,
    Line,
    correlation,
    first_of,
    numbers_of,
    require_decided,
    signal_of,
    until_the_ladder,
)
from dowsax.reproduce.printed import printed
from dowsax.reproduce.searching import FIELDS, OUTER, PRESETS, lines_for
from dowsax.reproduce.store import Store
from dowsax.reproduce.suite import Suite
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


def _ours(preset: str) -> SearchCell:
    return SearchCell("att-pfrl", "temperature", "id", preset)


def _two_cells(store: Store) -> list[SearchCell]:
    del store
    return [_ours(preset) for preset in PRESETS]


def _threshold_lines(store: Store) -> list[Line]:
    lines = []
    for preset in PRESETS:
        episodes = store.episodes(_ours(preset))
        for zeta in ZETAS if episodes is not None else ():
            rule = TraceRule("contraction", zeta)
            require_decided(episodes or [], rule, store.sizes.max_readings)
            lines.append(
                Line(f"{zeta:.1f}", "temperature", preset, str(rule), numbers_of(episodes or [], rule))
            )
    return lines


def _threshold_figures(store: Store, lines: Sequence[Line]) -> "dict[str, Figure]":
    del store

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
    cells=_two_cells,
    lines=_threshold_lines,
    measures=STOPPING,
    note="Rows are ζ [m]. Policy and filter are the same throughout; only the stop is moved. ATT-PFRL.",
    figures=_threshold_figures,
)


def _calibration_cells(store: Store) -> list[SearchCell]:
    del store
    return [SearchCell("att-pfrl", field, "id", preset) for field in FIELDS for preset in PRESETS]


def _calibration_lines(store: Store) -> list[Line]:
    lines = []
    for cell in _calibration_cells(store):
        episodes = store.episodes(cell)
        if episodes is None:
            continue
        read = list(map(until_the_ladder, episodes))
        numbers = (
            {"Spearman": correlation(read)} | numbers_of(read, CONTRACTION) | signal_of(read, CONTRACTION)
        )
        lines.append(Line(cell.field, "", cell.filter, str(CONTRACTION), numbers))
    return lines


CALIBRATION = Suite(
    name="calibration",
    title="Does a small spread mean a small error?",
    label="tab:calibration_metrics_",
    cells=_calibration_cells,
    lines=_calibration_lines,
    measures=("Spearman", "false stops", "precision", "recall"),
    note=(
        "Spread and error over the readings of each search, until the strictest rule of `dowsax evaluate` "
        "has spoken. Intervals are from resampling whole searches. ATT-PFRL; ζ = 0.5."
    ),
)

_CRITERIA = {
    "contraction-0.5": (CONTRACTION,),
    "credible-0.95": (CREDIBLE,),
    "entropy": tuple(TraceRule("entropy", nats) for nats in (2.0, 1.5, 1.0, 0.5)),
    "max-weight": tuple(TraceRule("max-weight", share) for share in (0.01, 0.02, 0.05, 0.5)),
    "fixed-25": (TraceRule("fixed", 25.0),),
}


def _criteria_lines(store: Store) -> list[Line]:
    lines: list[Line] = []
    for preset in PRESETS:
        episodes = store.episodes(_ours(preset))
        if episodes is not None:
            lines += _criteria(episodes, preset, store.sizes.max_readings)
    return lines


def _criteria(episodes: Sequence[Episode], preset: str, max_readings: int) -> Iterator[Line]:
    """A line for each rule. A rule that only counts has nothing to hold against the error."""
    read = list(map(until_the_ladder, episodes))
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
    cells=_two_cells,
    lines=_criteria_lines,
    measures=(*STOPPING, "Spearman"),
    note=(
        "The paper does not print its thresholds of entropy and weight, so there are several: entropy in "
        "nats of the position in cells of 1 m, the weight as a share. Correlations are of what the rule "
        "looks at, so turned that positive is good. ATT-PFRL."
    ),
)

_SETTINGS = {
    "ID": (("att-pfrl", "id"),),
    "OOD": tuple(("att-pfrl-ood", outer) for outer in OUTER),
    "shift": (("att-pfrl", "shift"),),
}


def _robustness_cells(store: Store) -> list[SearchCell]:
    del store
    return [
        SearchCell(policy, "temperature", scenario, preset)
        for preset in PRESETS
        for places in _SETTINGS.values()
        for policy, scenario in places
    ]


def _robustness_lines(store: Store) -> list[Line]:
    return [
        line
        for preset in PRESETS
        for row, places in _SETTINGS.items()
        for line in lines_for(
            store, row, "temperature", [SearchCell(who, "temperature", at, preset) for who, at in places]
        )
    ]


ROBUSTNESS = Suite(
    name="threshold-robustness",
    title="The same threshold elsewhere and after a jump",
    label="tab:threshold_robustness_",
    cells=_robustness_cells,
    lines=_robustness_lines,
    measures=STOPPING,
    note="ATT-PFRL on temperature; OOD is both outer regions with the weights trained elsewhere.",
)
