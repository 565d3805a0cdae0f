"""The suites of searches: the main comparison, sources elsewhere, a jump, other priors, mixing."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dowsax.evaluate.metrics import Estimate, ends
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode
from dowsax.experiments.presets import RHOS, mixing
from dowsax.experiments.run import CONTRACTION, CREDIBLE, Run
from dowsax.experiments.suites.measures import MEASURES, Line, first_of, mean_difference, numbers_of, ratio
from dowsax.experiments.suites.printed import printed
from dowsax.experiments.suites.suite import Reproduction, Suite
from dowsax.viz.paper_figures import Series, by_field, summary
from dowsax.world import LOCATIONS, MODALITIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FIELDS = tuple(MODALITIES)
AGDC = ("agdc-kld", "agdc-ent", "agdc-ee")
METHODS = ("att-pfrl", *AGDC, "infotaxis", "entrotaxis", "dcee", "random", "straight")
"""Those of the paper, and the oracle that walks straight to the source."""
PRESETS = ("paper", "default")
OUTER = ("ood-west", "ood-east")
HOME = "ood-training"
ELSEWHERE = {
    "att-pfrl": "att-pfrl-ood",
    "att-pfrl-ood-guarded": "att-pfrl-ood-guarded",
    **{name: f"{name}-ood" for name in AGDC},
}
"""Policies that were trained with sources in the middle only, by their rows in the table."""
SUMMARY = ("OCE", "false stops", "ADE", "LPS")


def filter_for(policy: str, preset: str) -> str:
    """The filter of a policy under a preset: AGDC has a plain particle filter in place of the paper's."""
    return "plain" if preset == "paper" and policy.startswith("agdc") else preset


def rules_for(filter_: str) -> tuple[TraceRule, ...]:
    """The paper's rule, and ours for filters whose probabilities are calibrated."""
    return (CONTRACTION, CREDIBLE) if filter_.startswith("default") else (CONTRACTION,)


def lines_for(paper: Reproduction, row: str, column: str, runs: Sequence[Run]) -> Iterator[Line]:
    """A line for each rule, from the searches of all these runs together, which have one filter.

    If a run is missing, the lines of an earlier table.
    """
    filter_ = runs[0].preset
    parts = [paper.episodes(run) for run in runs]
    if any(part is None for part in parts):
        place = row, column, filter_
        yield from (line for line in paper.earlier if (line.row, line.column, line.filter) == place)
        return
    episodes: list[Episode] = [episode for part in parts for episode in part or ()]
    for rule in rules_for(filter_):
        yield Line(row, column, filter_, str(rule), numbers_of(episodes, rule))


def _id_runs(paper: Reproduction) -> list[Run]:
    return [
        paper.run(policy, field, "id", filter_for(policy, preset))
        for field in FIELDS
        for preset in PRESETS
        for policy in METHODS
    ]


def _id_lines(paper: Reproduction) -> list[Line]:
    runs = _id_runs(paper)
    return [line for run in runs for line in lines_for(paper, run.policy, run.field, [run])]


def _id_figures(paper: Reproduction, lines: Sequence[Line]) -> "dict[str, Figure]":
    """One page: ATT-PFRL, what the paper claims of it, and every other method."""
    del paper
    theirs = printed("id")
    claimed = {
        measure: [Estimate(theirs["att-pfrl", field, measure].value, None, None, 0) for field in FIELDS]
        for measure in ("OCE", "ADE", "LPS")
    }
    elsewhere = printed("calibration")
    claimed["false stops"] = [
        Estimate(elsewhere[field, "", "false stops"].value, None, None, 0) for field in FIELDS
    ]
    series = {"ATT-PFRL, the paper": Series(claimed)}
    for filter_, rule in (("paper", CONTRACTION), ("default", CONTRACTION), ("default", CREDIBLE)):
        series[f"ATT-PFRL, {filter_}, {rule}"] = _series(lines, "att-pfrl", filter_, rule)
    for method in METHODS[1:]:
        series[f"{method}, default, {CREDIBLE}"] = _series(lines, method, "default", CREDIBLE)
    titles = {name: f"{name}: {MEASURES[name].meaning}" for name in SUMMARY}
    return {"summary.png": summary(series, titles, FIELDS, lengths=("ADE", "LPS"))}


def _series(lines: Sequence[Line], method: str, filter_: str, rule: TraceRule) -> "Series":
    found = [
        first_of(lines, row=method, column=field, filter=filter_, stop=str(rule)) or {} for field in FIELDS
    ]
    numbers = {measure: [one.get(measure) for one in found] for measure in SUMMARY}
    return Series(numbers, rival=method != "att-pfrl")


ID = Suite(
    name="id",
    title="Sources from the prior: the main comparison",
    label="tab:fundamental_experiments_",
    runs=_id_runs,
    lines=_id_lines,
    measures=(*SUMMARY, "REV"),
    across="columns",
    figures=_id_figures,
)


def _ood_runs(paper: Reproduction) -> list[Run]:
    return [
        paper.run(policy, field, scenario, filter_for(policy, preset))
        for field in FIELDS
        for scenario in (*OUTER, HOME)
        for preset in PRESETS
        for policy in ELSEWHERE.values()
    ]


def _ood_lines(paper: Reproduction) -> list[Line]:
    lines: list[Line] = []
    for field in FIELDS:
        for row in ELSEWHERE:
            for preset in PRESETS:
                lines += _elsewhere(paper, row, field, filter_for(row, preset))
    return lines


def _elsewhere(paper: Reproduction, row: str, field: str, filter_: str) -> list[Line]:
    """Both regions together, each of them, and sources as in training."""
    west, east, home = (paper.run(ELSEWHERE[row], field, at, filter_) for at in (*OUTER, HOME))
    lines = list(lines_for(paper, row, field, [west, east]))
    regions = {"west": west, "east": east, "as in training": home}
    apart = [
        line for name, run in regions.items() for line in lines_for(paper, f"{row}, {name}", field, [run])
    ]
    found = [paper.episodes(run) for run in (home, west, east)]
    if lines and found[0] is not None:
        for line, rule in zip(lines, rules_for(filter_), strict=True):
            first, *others = (ends(part or [], rule).stopped for part in found)
            line.numbers["drop"] = mean_difference(first, others)
    return lines + apart


def _ood_figures(paper: Reproduction, lines: Sequence[Line]) -> "dict[str, Figure]":
    del paper
    series = {
        (row, filter_): stop_rates(lines, row, filter_)
        for row in ELSEWHERE
        for filter_ in (filter_for(row, "paper"), "default")
    }
    return {"ood.png": by_field(series, FIELDS, "Stopped (ζ = 0.5), sources in the outer regions")}


def stop_rates(lines: Sequence[Line], row: str, filter_: str) -> list:
    """The stop rate and the false stops of each field under the paper's rule; none where they are missing."""
    found = [
        first_of(lines, row=row, column=field, filter=filter_, stop=str(CONTRACTION)) for field in FIELDS
    ]
    return [None if numbers is None else (numbers["OCE"], numbers["false stops"]) for numbers in found]


OOD = Suite(
    name="ood",
    title="Sources elsewhere than in training",
    label="tab:ood_compact",
    runs=_ood_runs,
    lines=_ood_lines,
    measures=(*SUMMARY, "drop"),
    across="columns",
    figures=_ood_figures,
)


def _shift_runs(paper: Reproduction) -> list[Run]:
    return [
        paper.run(policy, field, scenario, filter_for(policy, preset))
        for field in FIELDS
        for preset in PRESETS
        for policy in ("att-pfrl", "agdc-kld")
        for scenario in ("shift", "id")
    ]


def _shift_lines(paper: Reproduction) -> list[Line]:
    lines: list[Line] = []
    for run in _shift_runs(paper):
        if run.scenario != "shift":
            continue
        own = list(lines_for(paper, run.policy, run.field, [run]))
        moved = paper.episodes(run)
        still = paper.episodes(paper.run(run.policy, run.field, "id", run.preset))
        if moved is not None and still is not None:
            for line, rule in zip(own, rules_for(run.preset), strict=True):
                line.numbers["kept"] = ratio(ends(moved, rule).stopped, ends(still, rule).stopped)
        lines += own
    return lines


SHIFT = Suite(
    name="shift",
    title="The source moves after reading 15",
    label="tab:nonstationary_conditions_",
    runs=_shift_runs,
    lines=_shift_lines,
    measures=(*SUMMARY, "kept"),
    across="columns",
)


def _prior_runs(paper: Reproduction) -> list[Run]:
    return [
        paper.run("att-pfrl", "temperature", _started(shape), preset)
        for preset in PRESETS
        for shape in LOCATIONS
    ]


def _started(shape: str) -> str:
    return f"prior-{shape.replace('_', '-')}"


def _prior_lines(paper: Reproduction) -> list[Line]:
    return [
        line
        for run in _prior_runs(paper)
        for line in lines_for(paper, run.scenario.removeprefix("prior-"), "temperature", [run])
    ]


PRIORS = Suite(
    name="priors",
    title="Particles that start in other shapes than the prior",
    label="tab:complex_distribution_",
    runs=_prior_runs,
    lines=_prior_lines,
    measures=SUMMARY,
)


def _mixing_runs(paper: Reproduction) -> list[Run]:
    return [
        paper.run(policy, "temperature", scenario, filter_)
        for preset in PRESETS
        for filter_ in (*(mixing(preset, rho) for rho in RHOS), *(["paper"] if preset == "paper" else []))
        for policy, scenario in (("att-pfrl", "id"), *(("att-pfrl-ood", outer) for outer in OUTER))
    ]


def _mixing_lines(paper: Reproduction) -> list[Line]:
    named = [(f"{rho:.1f}", mixing(preset, rho)) for preset in PRESETS for rho in RHOS]
    lines: list[Line] = []
    for row, filter_ in [*named, ("attention", "paper")]:
        here = [paper.run("att-pfrl", "temperature", "id", filter_)]
        outside = [paper.run("att-pfrl-ood", "temperature", outer, filter_) for outer in OUTER]
        lines += [*lines_for(paper, row, "ID", here), *lines_for(paper, row, "OOD", outside)]
    return lines


MIXING = Suite(
    name="mixing",
    title="Uniform mixing in the place of attention",
    label="tab:uniform_mixing_comparison_",
    runs=_mixing_runs,
    lines=_mixing_lines,
    measures=SUMMARY,
)
