"""`dowsax compare`: tables of runs, differences between policies on the same searches, and their stops."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from dowsax import viz
from dowsax.cli.console import print_status, say, waiting
from dowsax.cli.outputs import can_draw, require_folder, require_picture, require_writable
from dowsax.evaluate.metrics import count_undecided, summarise
from dowsax.evaluate.paired import compare as compare_searches
from dowsax.evaluate.paired import same_searches
from dowsax.evaluate.stop_calibration import StopCalibration, calibrate_stops
from dowsax.evaluate.stops import LADDER, TraceRule
from dowsax.evaluate.tables import (
    curve_csv,
    paired_csv,
    paired_table,
    search_csv,
    search_table,
    signal_table,
    spread_table,
    sweep_table,
)
from dowsax.evaluate.trace import Episode
from dowsax.experiments.evaluation import Evaluation, read_evaluation
from dowsax.experiments.run import stop_rule

_TABLES, _PICTURE = "tables.md", "stops.png"
_CSV = ("summary.csv", "differences.csv", "sweep.csv", "stops.csv")


class Entry(NamedTuple):
    """The searches of one policy on one field in one run."""

    labels: dict[str, str]
    """What it is, from the policy to the seed."""
    name: str
    """The policy, with its run where several runs have it."""
    max_readings: int
    num_asked: int
    """How many searches were asked for; these are the first of them."""
    episodes: list[Episode]

    @property
    def searches(self) -> tuple[str, ...]:
        """Entries in which this is equal had the same sources, starts and noise."""
        return (*(self.labels[name] for name in ("field", "scenario", "seed")), str(self.max_readings))


class Section(NamedTuple):
    """A part of the answer."""

    heading: str
    text: str
    """Markdown."""
    file: str
    """The name of its CSV."""
    csv: str


def compare(
    runs: list[Path],
    /,
    *,
    stop: Annotated[list[str] | None, Parameter(negative="")] = None,
    threshold: Annotated[list[float] | None, Parameter(negative="")] = None,
    baseline: str | None = None,
    sweep: Annotated[bool, Parameter(negative="")] = False,
    csv: Path | None = None,
    figure: Path | None = None,
    out: Path | None = None,
) -> None:
    """Compare runs of `dowsax evaluate`. No search is run again.

    Policies that searched for the same sources (same seed, field, scenario and number of readings) are
    compared search by search, which shows smaller differences than two tables would.

    Parameters
    ----------
    runs
        Run folders.
    stop
        The stop rule; repeat it for several. Default: those of the runs.
    threshold
        Its threshold; as often as --stop. Default: that of the rule.
    baseline
        Show differences to this policy only, instead of between all pairs.
    sweep
        Also show stops, false stops and paths over the thresholds of the contraction and the credible rule.
    csv
        CSV file for the numbers of the first table.
    figure
        Picture of the calibration of stops (.png, .pdf or .svg); its numbers are printed.
    out
        Folder for all tables and the picture; made if it does not exist.
    """
    with waiting("Reading the runs"):
        evaluations = _read(runs)
        entries = _entries(evaluations)
        rules = _rules(evaluations, stop, threshold)
        _require_decided(entries, rules)
        pairs = _pairs(entries, baseline, len(evaluations))
    _require_outputs(csv, figure, out)
    _warn_of_incomplete(entries)
    with waiting("Comparing"):
        sections = [_summary(entries, rules)]
        if pairs:
            sections.append(_differences(pairs, rules))
        if sweep or out is not None:
            sections.append(_sweep(entries))
        if figure is not None or out is not None:
            reports = _stop_reports(entries, rules)
            sections.append(_stops(entries, reports))
            drawn = out / _PICTURE if out is not None and can_draw(_PICTURE) else None
            for picture in filter(None, (figure, drawn)):
                _draw(entries, reports, picture)
    _write(sections, csv, out)
    unasked = {"sweep.csv": not sweep, "stops.csv": figure is None}
    say("\n".join(_with_heading(section) for section in sections if not unasked.get(section.file)))
    written = [str(path) for path in (csv, figure, out) if path is not None]
    if written:
        say(f"Wrote {', '.join(written)}")


def _read(folders: Sequence[Path]) -> list[Evaluation]:
    return [read_evaluation(folder) for folder in {folder.resolve(): folder for folder in folders}.values()]


def _entries(evaluations: Sequence[Evaluation]) -> list[Entry]:
    """The runs in which at least one search has ended."""
    entries = []
    for evaluation in evaluations:
        for run, episodes in evaluation.episodes().items():
            labels = {
                "policy": run.policy,
                "run": str(evaluation.folder),
                "field": run.field,
                "scenario": run.scenario,
                "preset": run.preset,
                "particles": str(run.particles or "of the preset"),
                "seed": str(run.seed),
            }
            shared = sum(any(run.policy == one.policy for one in other.runs) for other in evaluations) > 1
            name = f"{run.policy} ({_folder_name(evaluation, evaluations)})" if shared else run.policy
            if episodes:
                entries.append(Entry(labels, name, run.max_readings, run.episodes, episodes))
    if not entries:
        raise ValueError("No search has ended in these runs: go on with the same `dowsax evaluate` first.")
    return entries


def _folder_name(evaluation: Evaluation, evaluations: Sequence[Evaluation]) -> str:
    """The name of its folder, or the whole path where several folders have the same name."""
    names = [other.folder.resolve().name for other in evaluations]
    name = evaluation.folder.resolve().name
    return name if names.count(name) == 1 else str(evaluation.folder)


def _warn_of_incomplete(entries: Sequence[Entry]) -> None:
    for labels, _, _, num_asked, episodes in entries:
        if len(episodes) < num_asked:
            where = f"{labels['run']}: {labels['policy']} on {labels['field']}"
            print_status(f"{where} has {len(episodes)} of {num_asked} episodes so far.")


def _rules(
    evaluations: Sequence[Evaluation], stops: list[str] | None, thresholds: list[float] | None
) -> list[TraceRule]:
    """The rules that are asked for, or those of the evaluations."""
    own = list(dict.fromkeys(evaluation.rule for evaluation in evaluations))
    if stops is None and thresholds is None:
        return own
    names = list(dict.fromkeys(rule.name for rule in own)) if stops is None else stops
    if thresholds is not None and len(thresholds) != len(names):
        raise ValueError(
            f"Give --threshold as often as --stop, in the same order; got {len(thresholds)} for "
            f"{', '.join(names)}."
        )
    return list(dict.fromkeys(map(stop_rule, names, thresholds or [None] * len(names))))


def _require_decided(entries: Sequence[Entry], rules: Sequence[TraceRule]) -> None:
    """Raise a ValueError if records end before a rule has stopped the search."""
    for rule in rules:
        for entry in entries:
            number = count_undecided(entry.episodes, rule)
            if number:
                raise ValueError(
                    f"{entry.labels['run']} cannot tell where {rule} would have stopped {number} of "
                    f"{len(entry.episodes)} searches of {entry.labels['policy']}, whose records end before: "
                    "give a laxer --threshold, or evaluate with this rule or with --to-the-end."
                )


def _pairs(entries: Sequence[Entry], baseline: str | None, num_runs: int) -> list[tuple[Entry, Entry]]:
    """Entries with the same searches, the one to be subtracted second: the baseline, where there is one."""
    policies = list(dict.fromkeys(entry.labels["policy"] for entry in entries))
    if baseline is not None and baseline not in policies:
        raise ValueError(f"No run has the policy {baseline!r}; they have {', '.join(policies)}.")
    same = [pair for pair in combinations(entries, 2) if pair[0].searches == pair[1].searches]
    # Runs of other fields are tabulated side by side, as long as each has policies to compare.
    if num_runs > 1 and not same:
        raise ValueError(
            "These runs share no searches, as they differ in seed, field, scenario or number of readings: "
            f"{'; '.join(_described(entries))}."
        )
    if baseline is None:
        return same
    return [
        (one, other) if other.labels["policy"] == baseline else (other, one)
        for one, other in same
        if baseline in (one.labels["policy"], other.labels["policy"])
    ]


def _described(entries: Sequence[Entry]) -> list[str]:
    """The searches of each run in words."""
    return list(
        dict.fromkeys(
            f"{entry.labels['run']} has seed {entry.labels['seed']}, {entry.labels['field']}, "
            f"{entry.labels['scenario']}, {entry.max_readings} readings"
            for entry in entries
        )
    )


def _require_outputs(csv: Path | None, figure: Path | None, out: Path | None) -> None:
    if csv is not None:
        require_writable(csv)
    if figure is not None:
        require_picture(figure)
    if out is not None:
        require_folder(out)
        for name in (_TABLES, *_CSV, _PICTURE):
            require_writable(out / name)


def _summary(entries: Sequence[Entry], rules: Sequence[TraceRule]) -> Section:
    cells = [
        (entry.labels | {"stop": str(rule)}, summarise(entry.episodes, rule))
        for entry in entries
        for rule in rules
    ]
    return Section("Searches", search_table(cells), "summary.csv", search_csv(cells))


def _differences(pairs: Sequence[tuple[Entry, Entry]], rules: Sequence[TraceRule]) -> Section:
    lines = []
    for one, other in pairs:
        # An incomplete run has the first of its searches.
        number = min(len(one.episodes), len(other.episodes))
        first, second = one.episodes[:number], other.episodes[:number]
        if not same_searches(first, second):
            raise ValueError(
                f"{one.labels['run']} and {other.labels['run']} have the same seed but other sources on "
                f"{one.labels['field']}: they were made by other versions, and cannot be paired."
            )
        labels = {name: one.labels[name] for name in ("field", "scenario", "seed")}
        named = {"difference": f"{one.name} − {other.name}"} | labels
        lines += [(named | {"stop": str(rule)}, compare_searches(first, second, rule)) for rule in rules]
    return Section(
        "Differences on the same searches", paired_table(lines), "differences.csv", paired_csv(lines)
    )


def _sweep(entries: Sequence[Entry]) -> Section:
    """All thresholds of the ladder that the records can tell of."""
    cells = [
        (entry.labels | {"stop": str(rule)}, summarise(entry.episodes, rule))
        for entry in entries
        for rule in LADDER
        if count_undecided(entry.episodes, rule) == 0
    ]
    return Section("Thresholds of the stop rules", sweep_table(cells), "sweep.csv", search_csv(cells))


def _stop_reports(entries: Sequence[Entry], rules: Sequence[TraceRule]) -> list[StopCalibration]:
    return [calibrate_stops(entry.episodes, rules, entry.max_readings) for entry in entries]


def _stops(entries: Sequence[Entry], reports: Sequence[StopCalibration]) -> Section:
    cells = [(entry.labels, report) for entry, report in zip(entries, reports, strict=True)]
    text = "\n".join(
        [
            "Spearman's correlation of spread and error: positive is good.",
            spread_table(cells),
            "The rule as a signal that the error is below 1 m, over all recorded readings after the first.",
            signal_table(cells),
        ]
    )
    return Section("Calibration of stops", text, "stops.csv", curve_csv(cells))


def _draw(entries: Sequence[Entry], reports: Sequence[StopCalibration], picture: Path) -> None:
    rows: dict[str, dict] = {}
    for entry, report in zip(entries, reports, strict=True):
        label = f"{entry.labels['field']}, {entry.labels['scenario']}, seed {entry.labels['seed']}"
        rows.setdefault(label, {})[entry.name] = viz.summarise_stops(report)
    viz.save(viz.stop_figure(rows, "Can the stops be trusted?"), picture)


def _write(sections: Sequence[Section], csv: Path | None, out: Path | None) -> None:
    if csv is not None:
        csv.write_text(sections[0].csv, encoding="utf-8")
    if out is not None:
        (out / _TABLES).write_text("\n".join(map(_with_heading, sections)), encoding="utf-8")
        for section in sections:
            (out / section.file).write_text(section.csv, encoding="utf-8")


def _with_heading(section: Section) -> str:
    return f"## {section.heading}\n\n{section.text}"
