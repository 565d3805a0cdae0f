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
from dowsax.experiments.suites.suite import SYSTEMS, Entry, Reproduction, Suite, rules_for, search_lines
from dowsax.viz.paper_figures import Series, by_field, summary
from dowsax.world import LOCATIONS, MODALITIES

FIELDS = tuple(MODALITIES)
AGDC = ("agdc-kld", "agdc-ent", "agdc-ee")
STRAIGHT = "straight"
"""The oracle that walks straight to the source."""
METHODS: dict[str, tuple[str, ...]] = {
    "att-pfrl-paper": ("paper", "default"),
    "att-pfrl": ("default-attention", "default"),
    "pfrl": ("paper", "default"),
    **dict.fromkeys(AGDC, ("plain", "default")),
    **dict.fromkeys(("infotaxis", "entrotaxis", "dcee", "random", STRAIGHT), ("paper", "default")),
}
"""The filters of each method of the main comparison, the paper's own system first."""
OUTER = ("ood-west", "ood-east")
HOME = "ood-training"
ELSEWHERE: dict[str, tuple[str, str]] = {
    "att-pfrl-paper": ("att-pfrl-paper-ood", "paper"),
    "pfrl": ("pfrl-ood", "default"),
    "pfrl-guarded": ("pfrl-ood-guarded", "default"),
    **{name: (f"{name}-ood", "default") for name in AGDC},
    "infotaxis": ("infotaxis", "default"),
}
"""Policy and filter of each row. All but Infotaxis, to which the guard hands over, were trained with sources
in the middle only."""
SHIFTED = (
    ("att-pfrl-paper", "paper"),
    ("pfrl", "default"),
    ("agdc-kld", "plain"),
    ("agdc-kld", "default"),
    ("infotaxis", "default"),
)
"""Policies and filters for which the source jumps."""
SUMMARY = ("OCE", "false stops", "ADE", "LPS")
TRAINING_SEEDS = ("OCE by training seed", "false stops by training seed")


def _id_entries(paper: Reproduction) -> list[Entry]:
    return [
        Entry(policy, field, [paper.run(policy, field, "id", filter_)])
        for field in FIELDS
        for policy, filters in METHODS.items()
        for filter_ in filters
    ]


def _id_lines(paper: Reproduction, entry: Entry) -> list[Line]:
    """Also the path against that of the straight walk, with the default filter."""
    lines = search_lines(paper, entry)
    own, straight = (paper.store.episodes(run) for run in (entry.runs[0], _straight(paper, entry)))
    if entry.preset == "default" and entry.row != STRAIGHT and own is not None and straight is not None:
        for line, rule in zip(lines, rules_for(entry.preset), strict=True):
            ours, theirs = ends(own, rule), ends(straight, rule)
            both = ours.stopped & theirs.stopped
            line.numbers["path ratio"] = ratio(ours.path_length[both], theirs.path_length[both])
    return lines


def _straight(paper: Reproduction, entry: Entry) -> Run:
    return paper.run(STRAIGHT, entry.column, "id", entry.preset)


def _id_figures(paper: Reproduction, lines: Sequence[Line]) -> dict[str, Figure]:
    """One page: what the paper claims, its own system, ours, and every other method."""
    del paper
    theirs = printed("id")
    claimed = {
        measure: [Estimate(theirs["att-pfrl-paper", field, measure].value, None, None, 0) for field in FIELDS]
        for measure in ("OCE", "ADE", "LPS")
    }
    elsewhere = printed("calibration")
    claimed["false stops"] = [
        Estimate(elsewhere[field, "", "false stops"].value, None, None, 0) for field in FIELDS
    ]
    series = {
        "ATT-PFRL, the paper": Series(claimed),
        "ATT-PFRL as printed, on Algorithm 1": _series(lines, "att-pfrl-paper", "paper", CONTRACTION),
    }
    for method in METHODS:
        rival = method not in ("pfrl", "att-pfrl")
        series[f"{method}, default, {CREDIBLE}"] = _series(lines, method, "default", CREDIBLE, rival=rival)
    titles = {name: f"{name}: {MEASURES[name].meaning}" for name in SUMMARY}
    return {"summary.png": summary(series, titles, FIELDS, lengths=("ADE", "LPS"))}


def _series(
    lines: Sequence[Line], method: str, filter_: str, rule: TraceRule, *, rival: bool = False
) -> Series:
    found = [
        first_of(lines, row=method, column=field, filter=filter_, stop=str(rule)) or {} for field in FIELDS
    ]
    numbers = {measure: [one.get(measure) for one in found] for measure in SUMMARY}
    return Series(numbers, rival=rival)


ID = Suite(
    name="id",
    title="Sources from the prior: the main comparison",
    label="tab:fundamental_experiments_",
    entries=_id_entries,
    make_lines=_id_lines,
    measures=(*SUMMARY, "path ratio", *TRAINING_SEEDS, "REV"),
    across="columns",
    figures=_id_figures,
)


def _ood_entries(paper: Reproduction) -> list[Entry]:
    """Both regions together, each of them, and sources as in training."""
    entries = []
    for field, (row, (policy, filter_)) in product(FIELDS, ELSEWHERE.items()):
        west, east, home = (paper.run(policy, field, at, filter_) for at in (*OUTER, HOME))
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
    series = {(row, filter_): stop_rates(lines, row, filter_) for row, (_, filter_) in ELSEWHERE.items()}
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
    measures=(*SUMMARY, "drop", *TRAINING_SEEDS),
    across="columns",
    figures=_ood_figures,
)


def _shift_entries(paper: Reproduction) -> list[Entry]:
    return [
        Entry(policy, field, [paper.run(policy, field, "shift", filter_)])
        for field in FIELDS
        for policy, filter_ in SHIFTED
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


def _shift_figures(paper: Reproduction, lines: Sequence[Line]) -> dict[str, Figure]:
    del paper
    series = {(row, filter_): stop_rates(lines, row, filter_) for row, filter_ in SHIFTED}
    return {"shift.png": by_field(series, FIELDS, "Stopped (ζ = 0.5), the source moves after reading 15")}


SHIFT = Suite(
    name="shift",
    title="The source moves after reading 15",
    label="tab:nonstationary_conditions_",
    entries=_shift_entries,
    make_lines=_shift_lines,
    other_runs=lambda paper: [_still(entry.runs[0], paper) for entry in _shift_entries(paper)],
    measures=(*SUMMARY, "kept", *TRAINING_SEEDS),
    across="columns",
    figures=_shift_figures,
)


def _prior_entries(paper: Reproduction) -> list[Entry]:
    shapes = [shape.replace("_", "-") for shape in LOCATIONS]
    return [
        Entry(shape, "temperature", [paper.run(policy, "temperature", f"prior-{shape}", preset)])
        for preset, policy in SYSTEMS.items()
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
    named = [
        (f"{rho:.1f}", policy, mixing(preset, rho)) for preset, policy in SYSTEMS.items() for rho in RHOS
    ]
    entries = []
    for row, policy, filter_ in [*named, ("attention", SYSTEMS["paper"], "paper")]:
        outside = [paper.run(f"{policy}-ood", "temperature", outer, filter_) for outer in OUTER]
        entries.append(Entry(row, "ID", [paper.run(policy, "temperature", "id", filter_)]))
        entries.append(Entry(row, "OOD", outside))
    return entries


MIXING = Suite(
    name="mixing",
    title="Uniform mixing in place of attention",
    label="tab:uniform_mixing_comparison_",
    entries=_mixing_entries,
    measures=SUMMARY,
)
