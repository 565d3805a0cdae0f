"""The suites of searches: the main comparison, elsewhere, after a jump, other priors, mixing, attention."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dowsax.evaluate.metrics import Estimate, ends
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode
from dowsax.reproduce.cells import SearchCell
from dowsax.reproduce.filters import RHOS, mixing
from dowsax.reproduce.lines import (
    CONTRACTION,
    CREDIBLE,
    MEASURES,
    Line,
    first_of,
    mean_difference,
    numbers_of,
    ratio,
)
from dowsax.reproduce.printed import printed
from dowsax.reproduce.store import Store
from dowsax.reproduce.suite import Suite
from dowsax.viz.paper_figures import Series, by_field, summary
from dowsax.world import LOCATIONS, MODALITIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FIELDS = tuple(MODALITIES)
AGDC = ("agdc-kld", "agdc-ent", "agdc-ee")
METHODS = ("att-pfrl", *AGDC, "infotaxis", "entrotaxis", "dcee", "random", "straight")
"""Those of the paper, and the straight walk, which is told where the source is."""
PRESETS = ("paper", "default")
OUTER = ("ood-west", "ood-east")
HOME = "ood-training"
ELSEWHERE = {
    "att-pfrl": "att-pfrl-ood",
    "att-pfrl-ood-guarded": "att-pfrl-ood-guarded",
    **{name: f"{name}-ood" for name in AGDC},
}
"""Those that were trained with sources in the middle alone, by their rows in the table."""
SUMMARY = ("OCE", "false stops", "ADE", "LPS")


def filter_for(policy: str, preset: str) -> str:
    """AGDC comes with a plain particle filter, so that is what it has next to the paper's own filter."""
    return "plain" if preset == "paper" and policy.startswith("agdc") else preset


def rules_for(filter_: str) -> tuple[TraceRule, ...]:
    """The paper's rule for all, and ours where a belief can be trusted to name a probability."""
    return (CONTRACTION, CREDIBLE) if filter_.startswith("default") else (CONTRACTION,)


def lines_for(store: Store, row: str, column: str, cells: Sequence[SearchCell]) -> Iterator[Line]:
    """A line for each rule, from the searches of all these cells together, which have one filter.

    Where a cell is missing they are those of an earlier table, if there is one that has them.
    """
    filter_ = cells[0].filter
    parts = [store.episodes(cell) for cell in cells]
    if any(part is None for part in parts):
        place = row, column, filter_
        yield from (line for line in store.earlier if (line.row, line.column, line.filter) == place)
        return
    episodes: list[Episode] = [episode for part in parts for episode in part or ()]
    for rule in rules_for(filter_):
        yield Line(row, column, filter_, str(rule), numbers_of(episodes, rule))


def _id_cells(store: Store) -> list[SearchCell]:
    del store
    return [
        SearchCell(policy, field, "id", filter_for(policy, preset))
        for field in FIELDS
        for preset in PRESETS
        for policy in METHODS
    ]


def _id_lines(store: Store) -> list[Line]:
    cells = _id_cells(store)
    return [line for cell in cells for line in lines_for(store, cell.policy, cell.field, [cell])]


def _id_figures(store: Store, lines: Sequence[Line]) -> "dict[str, Figure]":
    """One page: ATT-PFRL, what the paper claims of it, the straight walk, and every other method."""
    del store

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
    cells=_id_cells,
    lines=_id_lines,
    measures=(*SUMMARY, "REV"),
    across="columns",
    note=(
        "All methods of a field search for the same sources. AGDC runs on a plain particle filter in place "
        "of the paper's. `straight` is told where the source is: its path is what an agent needs that knows "
        "the answer. REV depends on the device and on how many searches ran together; a record goes on after "
        "the stop, and its time is shared out over its readings."
    ),
    figures=_id_figures,
)


def _ood_cells(store: Store) -> list[SearchCell]:
    del store
    return [
        SearchCell(policy, field, scenario, filter_for(policy, preset))
        for field in FIELDS
        for scenario in (*OUTER, HOME)
        for preset in PRESETS
        for policy in ELSEWHERE.values()
    ]


def _ood_lines(store: Store) -> list[Line]:
    lines: list[Line] = []
    for field in FIELDS:
        for row in ELSEWHERE:
            for preset in PRESETS:
                lines += _elsewhere(store, row, field, filter_for(row, preset))
    return lines


def _elsewhere(store: Store, row: str, field: str, filter_: str) -> list[Line]:
    """Both regions together, each of them, and sources as in training."""
    west, east, home = (SearchCell(ELSEWHERE[row], field, at, filter_) for at in (*OUTER, HOME))
    lines = list(lines_for(store, row, field, [west, east]))
    regions = {"west": west, "east": east, "as in training": home}
    apart = [
        line for name, cell in regions.items() for line in lines_for(store, f"{row}, {name}", field, [cell])
    ]
    found = [store.episodes(cell) for cell in (home, west, east)]
    if lines and found[0] is not None:
        for line, rule in zip(lines, rules_for(filter_), strict=True):
            first, *others = (ends(part or [], rule).stopped for part in found)
            line.numbers["drop"] = mean_difference(first, others)
    return lines + apart


def _ood_figures(store: Store, lines: Sequence[Line]) -> "dict[str, Figure]":
    del store

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
    cells=_ood_cells,
    lines=_ood_lines,
    measures=(*SUMMARY, "drop"),
    across="columns",
    note=(
        "Trained with sources in (10, 15)², measured with sources in (5, 10) x (15, 20) and (15, 20)². The "
        "belief's prior is the full one. A method's own line has both regions together, half of the searches "
        "in each, with intervals as if these had nothing in common; the drop is taken search by search. "
        "`att-pfrl-ood-guarded` is ATT-PFRL until a search has lasted twice as long as was usual in its "
        "training, and Infotaxis from then on; it is ours, not the paper's."
    ),
    figures=_ood_figures,
)


def _shift_cells(store: Store) -> list[SearchCell]:
    del store
    return [
        SearchCell(policy, field, scenario, filter_for(policy, preset))
        for field in FIELDS
        for preset in PRESETS
        for policy in ("att-pfrl", "agdc-kld")
        for scenario in ("shift", "id")
    ]


def _shift_lines(store: Store) -> list[Line]:
    lines: list[Line] = []
    for cell in _shift_cells(store):
        if cell.scenario != "shift":
            continue
        own = list(lines_for(store, cell.policy, cell.field, [cell]))
        moved = store.episodes(cell)
        still = store.episodes(SearchCell(cell.policy, cell.field, "id", cell.filter))
        if moved is not None and still is not None:
            for line, rule in zip(own, rules_for(cell.filter), strict=True):
                line.numbers["kept"] = ratio(ends(moved, rule).stopped, ends(still, rule).stopped)
        lines += own
    return lines


SHIFT = Suite(
    name="shift",
    title="The source moves after reading 15",
    label="tab:nonstationary_conditions_",
    cells=_shift_cells,
    lines=_shift_lines,
    measures=(*SUMMARY, "kept"),
    across="columns",
    note=(
        "The default filter reckons with jumps; the paper's and the plain one do not. A search may stop "
        "before the source moves: it is then judged by where the source was."
    ),
)


def _prior_cells(store: Store) -> list[SearchCell]:
    del store
    return [
        SearchCell("att-pfrl", "temperature", _started(shape), preset)
        for preset in PRESETS
        for shape in LOCATIONS
    ]


def _started(shape: str) -> str:
    return f"prior-{shape.replace('_', '-')}"


def _prior_lines(store: Store) -> list[Line]:
    return [
        line
        for cell in _prior_cells(store)
        for line in lines_for(store, cell.scenario.removeprefix("prior-"), "temperature", [cell])
    ]


PRIORS = Suite(
    name="priors",
    title="Particles that start in other shapes than the prior",
    label="tab:complex_distribution_",
    cells=_prior_cells,
    lines=_prior_lines,
    measures=SUMMARY,
    note="Sources are from the usual prior, so the particles start where some of them are not. ATT-PFRL.",
)


def _mixing_cells(store: Store) -> list[SearchCell]:
    del store
    return [
        SearchCell(policy, "temperature", scenario, filter_)
        for preset in PRESETS
        for filter_ in (*(mixing(preset, rho) for rho in RHOS), *(["paper"] if preset == "paper" else []))
        for policy, scenario in (("att-pfrl", "id"), *(("att-pfrl-ood", outer) for outer in OUTER))
    ]


def _mixing_lines(store: Store) -> list[Line]:
    named = [(f"{rho:.1f}", mixing(preset, rho)) for preset in PRESETS for rho in RHOS]
    lines: list[Line] = []
    for row, filter_ in [*named, ("attention", "paper")]:
        here = [SearchCell("att-pfrl", "temperature", "id", filter_)]
        outside = [SearchCell("att-pfrl-ood", "temperature", outer, filter_) for outer in OUTER]
        lines += [*lines_for(store, row, "ID", here), *lines_for(store, row, "OOD", outside)]
    return lines


MIXING = Suite(
    name="mixing",
    title="Uniform mixing in the place of attention",
    label="tab:uniform_mixing_comparison_",
    cells=_mixing_cells,
    lines=_mixing_lines,
    measures=SUMMARY,
    note=(
        "Rows are ρ. `paper-no-attention` is Algorithm 1 with ρ = 0, `paper` with attention. The default "
        "filter mixes before it resamples, so that moves mend what mixing does."
    ),
)
