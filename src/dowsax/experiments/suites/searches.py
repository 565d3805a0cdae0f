"""The suites of searches: the main comparison, sources elsewhere, a jump, other priors, mixing."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from matplotlib.figure import Figure

from dowsax.evaluate.metrics import Estimate, ends
from dowsax.evaluate.stops import TraceRule
from dowsax.experiments.presets import RHOS, mixing
from dowsax.experiments.run import CONTRACTION, CREDIBLE, Run
from dowsax.experiments.suites.measures import MEASURES, Line, first_of, mean_difference, ratio
from dowsax.experiments.suites.printed import printed
from dowsax.experiments.suites.suite import Entry, Reproduction, Suite, rules_for, search_lines
from dowsax.viz.paper_figures import Series, by_field, summary
from dowsax.world import LOCATIONS, MODALITIES

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


def _id_entries(paper: Reproduction) -> list[Entry]:
    return [
        Entry(policy, field, [paper.run(policy, field, "id", filter_for(policy, preset))])
        for field in FIELDS
        for preset in PRESETS
        for policy in METHODS
    ]


def _id_figures(paper: Reproduction, lines: Sequence[Line]) -> dict[str, Figure]:
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


def _series(lines: Sequence[Line], method: str, filter_: str, rule: TraceRule) -> Series:
    found = [
        first_of(lines, row=method, column=field, filter=filter_, stop=str(rule)) or {} for field in FIELDS
    ]
    numbers = {measure: [one.get(measure) for one in found] for measure in SUMMARY}
    return Series(numbers, rival=method != "att-pfrl")


ID = Suite(
    name="id",
    title="Sources from the prior: the main comparison",
    label="tab:fundamental_experiments_",
    entries=_id_entries,
    measures=(*SUMMARY, "REV"),
    across="columns",
    figures=_id_figures,
)


def _ood_entries(paper: Reproduction) -> list[Entry]:
    """Both regions together, each of them, and sources as in training."""
    entries = []
    for field, row, preset in product(FIELDS, ELSEWHERE, PRESETS):
        filter_ = filter_for(row, preset)
        west, east, home = (paper.run(ELSEWHERE[row], field, at, filter_) for at in (*OUTER, HOME))
        apart = {"west": west, "east": east, "as in training": home}
        entries += [
            Entry(row, field, [west, east]),
            *(Entry(f"{row}, {name}", field, [run]) for name, run in apart.items()),
        ]
    return entries


def _ood_lines(paper: Reproduction, entry: Entry) -> list[Line]:
    """For both regions together also what is lost against sources as in training."""
    lines = search_lines(paper, entry)
    found = [paper.store.episodes(run) for run in (replace(entry.runs[0], scenario=HOME), *entry.runs)]
    known = [part for part in found if part is not None]
    if len(entry.runs) > 1 and len(known) == len(found):
        for line, rule in zip(lines, rules_for(entry.preset), strict=True):
            first, *others = (ends(part, rule).stopped for part in known)
            line.numbers["drop"] = mean_difference(first, others)
    return lines


def _ood_figures(paper: Reproduction, lines: Sequence[Line]) -> dict[str, Figure]:
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
    entries=_ood_entries,
    make_lines=_ood_lines,
    measures=(*SUMMARY, "drop"),
    across="columns",
    figures=_ood_figures,
)


def _shift_entries(paper: Reproduction) -> list[Entry]:
    return [
        Entry(policy, field, [paper.run(policy, field, "shift", filter_for(policy, preset))])
        for field in FIELDS
        for preset in PRESETS
        for policy in ("att-pfrl", "agdc-kld")
    ]


def _still(run: Run, paper: Reproduction) -> Run:
    """The same searches without a jump."""
    return paper.run(run.policy, run.field, "id", run.preset)


def _shift_lines(paper: Reproduction, entry: Entry) -> list[Line]:
    lines = search_lines(paper, entry)
    moved, still = (paper.store.episodes(run) for run in (entry.runs[0], _still(entry.runs[0], paper)))
    if moved is not None and still is not None:
        for line, rule in zip(lines, rules_for(entry.preset), strict=True):
            line.numbers["kept"] = ratio(ends(moved, rule).stopped, ends(still, rule).stopped)
    return lines


SHIFT = Suite(
    name="shift",
    title="The source moves after reading 15",
    label="tab:nonstationary_conditions_",
    entries=_shift_entries,
    make_lines=_shift_lines,
    other_runs=lambda paper: [_still(entry.runs[0], paper) for entry in _shift_entries(paper)],
    measures=(*SUMMARY, "kept"),
    across="columns",
)


def _prior_entries(paper: Reproduction) -> list[Entry]:
    shapes = [shape.replace("_", "-") for shape in LOCATIONS]
    return [
        Entry(shape, "temperature", [paper.run("att-pfrl", "temperature", f"prior-{shape}", preset)])
        for preset in PRESETS
        for shape in shapes
    ]


PRIORS = Suite(
    name="priors",
    title="Particles that start in other shapes than the prior",
    label="tab:complex_distribution_",
    entries=_prior_entries,
    measures=SUMMARY,
)


def _mixing_entries(paper: Reproduction) -> list[Entry]:
    named = [(f"{rho:.1f}", mixing(preset, rho)) for preset in PRESETS for rho in RHOS]
    entries = []
    for row, filter_ in [*named, ("attention", "paper")]:
        outside = [paper.run("att-pfrl-ood", "temperature", outer, filter_) for outer in OUTER]
        entries.append(Entry(row, "ID", [paper.run("att-pfrl", "temperature", "id", filter_)]))
        entries.append(Entry(row, "OOD", outside))
    return entries


MIXING = Suite(
    name="mixing",
    title="Uniform mixing in place of attention",
    label="tab:uniform_mixing_comparison_",
    entries=_mixing_entries,
    measures=SUMMARY,
)
