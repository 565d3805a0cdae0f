"""The tables and pictures of the paper's results, from a folder of `dowsax reproduce`.

    dowsax reproduce id ood shift --seed 0 --seed 1 --out runs/paper
    python -m benchmarks.paper_tables --source runs/paper

What each suite has written is copied: tables to results/paper, pictures to docs/pictures/paper. The tables of
the docs are made of them in results/tables/paper: the whole table where it is small, a part of it where it is
wide.
"""

import argparse
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import ROOT
from benchmarks.table_files import TABLES, judged, write_tables
from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.evaluate.tables import markdown, number
from dowsax.experiments.run import CONTRACTION, CREDIBLE
from dowsax.experiments.suites.measures import MEASURES
from dowsax.experiments.suites.printed import printed
from dowsax.experiments.suites.registry import all_suites
from dowsax.experiments.suites.report import TABLE, draw_table, lines_in, picture_of
from dowsax.experiments.suites.rewards import REWARDED
from dowsax.experiments.suites.searches import ELSEWHERE, FIELDS
from dowsax.experiments.suites.suite import no_figures
from dowsax.viz.style import save

FOLDER, PICTURES = ROOT / "results/paper", ROOT / "docs/pictures/paper"
KEPT = ("table.md", "table.csv", "about.json")
PAPER, OURS, GUARDED = "att-pfrl-paper", "pfrl", "pfrl-guarded"
OCE, FALSE, ADE, LPS, NEEDED = "OCE", "false stops", "ADE", "LPS", "episodes to 0.90"
STOPS = (OCE, FALSE)
BY_SEED = "by training seed"
"""The heading of shares of the training seeds, the lowest to the highest, and the end of their measure."""
HEAT = "temperature"
"""The field of the rewards."""
MOST_FALSE = {CONTRACTION: 0.08, CREDIBLE: 0.05}
MOST_LOST, LEAST_KEPT = 0.05, 0.90
"""The levels to reach: false stops of the stops, what sources elsewhere cost, and what a jump leaves."""
COMPARED = ("id", "ood", "shift")
"""The suites with two test seeds."""
SHARES = (OCE, FALSE, ADE)
"""The numbers that are compared between test seeds."""


class Found(NamedTuple):
    """The numbers of a suite."""

    suite: str
    numbers: dict[tuple, Estimate]
    """By row, column, filter, rule, seed and measure."""

    @property
    def seeds(self) -> list[int]:
        """The test seeds."""
        return sorted({place[4] for place in self.numbers})

    def at(self, row: str, column: str, filter_: str, rule: object, measure: str, seed: int = 0) -> Estimate:
        return self.numbers.get((row, column, filter_, str(rule), seed, measure), NOTHING)

    def said(self, row: str, column: str, filter_: str, rule: object, measure: str, seed: int = 0) -> str:
        """In words; a dash where it has not been measured."""
        found, about = self.at(row, column, filter_, rule, measure, seed), MEASURES[measure]
        return "–" if found.value is None else number(found, about.digits, about.sign)

    def span(
        self, row: str, column: str, filter_: str, rule: object, seed: int = 0, measure: str = OCE
    ) -> str:
        """The lowest and the highest share of a training seed; a dash where there is only one.

        Without brackets, as it is no interval.
        """
        found = self.at(row, column, filter_, rule, f"{measure} {BY_SEED}", seed)
        return "–" if found.value is None else f"{found.low:.3f} to {found.high:.3f}"

    def theirs(self, row: str, column: str, measure: str) -> str:
        found = printed(self.suite).get((row, column, measure))
        return "–" if found is None else found.text


def read(folder: Path, suite: str) -> Found:
    """What a suite has written; nothing where it has not."""
    numbers = {
        (*line[:4], line.seed, measure): estimate
        for line in lines_in(folder / suite)
        for measure, estimate in line.numbers.items()
    }
    return Found(suite, numbers)


def as_printed(found: Found) -> str:
    """The paper's own system on Algorithm 1, field by field: what it claims and what comes out."""
    headings = ("field", "test seed", "OCE: the paper", "ours", BY_SEED, "false stops: the paper")
    others = ("ours", BY_SEED, "path [m]: the paper", "ours", "error [m]: the paper", "ours")
    claimed = printed("calibration")
    rows = []
    for field in FIELDS:
        for seed in found.seeds:
            own = lambda measure, at=(field, seed): found.said(  # noqa: E731
                PAPER, at[0], "paper", CONTRACTION, measure, at[1]
            )
            false = claimed[field, "", FALSE].text
            spans = [found.span(PAPER, field, "paper", CONTRACTION, seed, measure) for measure in STOPS]
            stops = (found.theirs(PAPER, field, OCE), own(OCE), spans[0])
            wrong = (false, own(FALSE), spans[1])
            ends = [text for name in (ADE, LPS) for text in (found.theirs(PAPER, field, name), own(name))]
            rows.append((field, str(seed), *stops, *wrong, *ends))
    return _table((*headings, *others), rows)


def other_filters(found: Found) -> str:
    """A policy trained on Algorithm 1, one trained on a calibrated filter and random moves, with either."""
    kinds = {
        "att-pfrl-paper, Algorithm 1": (PAPER, "paper"),
        "att-pfrl-paper, default": (PAPER, "default"),
        "pfrl, Algorithm 1": (OURS, "paper"),
        "pfrl, default": (OURS, "default"),
        "random moves, Algorithm 1": ("random", "paper"),
        "random moves, default": ("random", "default"),
    }
    headings = [f"{name}: {word}" for name in kinds for word in ("OCE", "of these false")]
    rows = [
        (
            field,
            str(seed),
            *(
                found.said(row, field, filter_, CONTRACTION, measure, seed)
                for row, filter_ in kinds.values()
                for measure in STOPS
            ),
        )
        for field in FIELDS
        for seed in found.seeds
    ]
    return _table(("field", "test seed", *headings), rows)


def comparison(found: Found) -> str:
    """Our policies with the default filter: attention in the filter, only in training, and nowhere."""
    kinds = {
        "att-pfrl with attention": ("att-pfrl", "default-attention"),
        "att-pfrl without": ("att-pfrl", "default"),
        "pfrl": (OURS, "default"),
    }
    words = ("OCE", BY_SEED, "of these false", "path [m]")
    headings = [f"{name}: {word}" for name in kinds for word in words]
    rows = []
    for field in FIELDS:
        for seed in found.seeds:
            line = [field, str(seed)]
            for row, filter_ in kinds.values():
                place = (row, field, filter_, CREDIBLE)
                rate, false, path = (found.said(*place, measure, seed) for measure in (*STOPS, ADE))
                line += [rate, found.span(*place, seed), false, path]
            rows.append((*line, found.said("straight", field, "default", CREDIBLE, ADE, seed)))
    return _table(("field", "test seed", *headings, "straight walk: path [m]"), rows)


def elsewhere(found: Found) -> str:
    """Sources elsewhere than in training, and what that costs."""
    rows = []
    for field in FIELDS:
        for row, (_, filter_) in ELSEWHERE.items():
            rule = CONTRACTION if filter_ == "paper" else CREDIBLE
            for seed in found.seeds:
                rate, *own = [
                    found.said(row, field, filter_, rule, name, seed) for name in (*STOPS, "drop", ADE)
                ]
                span = found.span(row, field, filter_, rule, seed)
                if rate != "–":
                    theirs = found.theirs(row, field, OCE)
                    rows.append((field, row, filter_, str(seed), theirs, rate, span, *own))
    headings = ("field", "policy", "filter", "test seed", "OCE: the paper", "OCE", BY_SEED, "of these false")
    return _table((*headings, "lost", "path [m]"), rows)


def jumped(found: Found) -> str:
    """When the source moves: stops with both systems, and what is left of the stop rate."""
    rows = []
    for field in FIELDS:
        for seed in found.seeds:
            line = [field, str(seed), found.theirs(PAPER, field, OCE)]
            for row, filter_, rule in ((PAPER, "paper", CONTRACTION), (OURS, "default", CREDIBLE)):
                rate, false = (found.said(row, field, filter_, rule, measure, seed) for measure in STOPS)
                line += [rate, found.span(row, field, filter_, rule, seed), false]
            line.append(found.said(OURS, field, "default", CREDIBLE, "kept", seed))
            line += [found.said("infotaxis", field, "default", CREDIBLE, measure, seed) for measure in STOPS]
            rows.append(line)
    headings = ("field", "test seed", "OCE: the paper", "as printed", BY_SEED, "of these false")
    own = ("ours", BY_SEED, "of these false", "of the stop rate without a jump")
    return _table((*headings, *own, "Infotaxis", "of these false"), rows)


def attended(found: Found) -> str:
    """False stops under the paper's rule, with attention and without."""
    kinds = {
        "Algorithm 1": (PAPER, "paper"),
        "Algorithm 1, learned projection": (PAPER, "paper-learned"),
        "Algorithm 1, no attention": (PAPER, "paper-no-attention"),
        "default, attention": ("att-pfrl", "default-attention"),
        "default": ("att-pfrl", "default"),
    }
    rows = [
        (field, *(found.said(row, field, filter_, CONTRACTION, FALSE) for row, filter_ in kinds.values()))
        for field in FIELDS
    ]
    return _table(("field, false stops of the stops", *kinds), rows)


def rewarded(found: Found) -> str:
    """What the learner was rewarded for: stops as in training and elsewhere, and whether the seeds agree."""
    headings = ("reward", "OCE: the paper", "ours", BY_SEED, "of these false")
    outside = ("elsewhere: the paper", "ours", "of these false", "searches to 0.90: the paper", "ours")
    rows = [
        (
            row,
            found.theirs(row, HEAT, OCE),
            found.said(row, HEAT, "default", CREDIBLE, OCE),
            found.span(row, HEAT, "default", CREDIBLE),
            found.said(row, HEAT, "default", CREDIBLE, FALSE),
            found.theirs(row, HEAT, "OCE (OOD)"),
            *(found.said(row, HEAT, "default", CREDIBLE, f"{measure} (OOD)") for measure in STOPS),
            found.theirs(row, HEAT, NEEDED),
            found.said(row, HEAT, "default", CREDIBLE, NEEDED),
        )
        for row in REWARDED
    ]
    return _table((*headings, *outside), rows)


SHORT: dict[str, Callable[[Found], str]] = {
    "id": comparison,
    "ood": elsewhere,
    "shift": jumped,
    "attention": attended,
    "rewards": rewarded,
}
"""Suites whose tables are too wide for the page."""


def levels(folder: Path) -> str:
    """Each level that our policy with the default filter has to reach, field by field."""
    home, away, moved = (read(folder, suite) for suite in COMPARED)
    rows = []
    for field in FIELDS:
        rate = home.at(OURS, field, "default", CONTRACTION, OCE)
        false = {most: home.at(OURS, field, "default", rule, FALSE) for rule, most in MOST_FALSE.items()}
        lost = [away.at(name, field, "default", CREDIBLE, "drop") for name in (OURS, GUARDED)]
        kept = moved.at(OURS, field, "default", CREDIBLE, "kept")
        rows.append(
            (
                field,
                judged(rate, printed("id")[PAPER, field, OCE].value, least=True),
                *(judged(found, most, least=False) for most, found in false.items()),
                *(judged(found, MOST_LOST, least=False) for found in lost),
                judged(kept, LEAST_KEPT, least=True),
            )
        )
    headings = ("field", "OCE, ζ = 0.5", "false stops, ζ = 0.5", "false stops, credible")
    lost_headings = ("lost with sources elsewhere", "the same, guarded")
    return _table((*headings, *lost_headings, "kept after a jump"), rows)


def agreement(folder: Path) -> str:
    """How many numbers of the two test seeds agree, suite by suite."""
    rows = []
    for suite in COMPARED:
        found = read(folder, suite)
        pairs = [
            (estimate, found.numbers[*place[:4], 1, place[5]])
            for place, estimate in found.numbers.items()
            if place[4] == 0 and place[5] in SHARES and (*place[:4], 1, place[5]) in found.numbers
        ]
        known = [pair for pair in pairs if None not in (pair[0].value, pair[1].value)]
        if known:
            same = sum(agrees(*pair) for pair in known)
            rows.append((suite, str(len(known)), str(same), f"{same / len(known):.3f}"))
    return _table(("suite", "numbers with both seeds", "agree", "share"), rows) if rows else ""


def agrees(one: Estimate, other: Estimate) -> bool:
    """Whether two independent estimates differ by no more than the 95 % interval of their difference."""
    low, high = sorted((one, other), key=lambda estimate: estimate.value)
    return high.value - low.value <= math.hypot(low.high - low.value, high.value - high.low)


def whole(folder: Path, suite: str) -> str:
    """The tables of a suite as they were written, with their headings."""
    text = (folder / suite / "table.md").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if line.startswith(("|", "### "))]
    return "\n".join(f"\n#{line}\n" if line.startswith("#") else line for line in kept).strip()


def tables(folder: Path) -> dict[str, str]:
    """By the name of their place; those of suites that are not there are left out."""
    written = [suite for suite in all_suites() if (folder / suite / TABLE).exists()]
    found = {
        suite: SHORT[suite](read(folder, suite)) if suite in SHORT else whole(folder, suite)
        for suite in written
    }
    if "id" in written:
        home = read(folder, "id")
        found |= {"as-printed": as_printed(home), "other-filters": other_filters(home)}
        found["test-seeds"] = agreement(folder)
    if set(COMPARED) <= set(written):
        found["levels"] = levels(folder)
    return {name: text for name, text in found.items() if text}


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(markdown(headings, rows))


def copied(source: Path, folder: Path, pictures: Path) -> None:
    """What the suites have written, for the repository: tables by suite, pictures all in one folder."""
    for suite in all_suites():
        files = [path for name in KEPT for path in sorted((source / suite).glob(name))]
        for path in files:
            (folder / suite).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / suite / path.name)
        for path in sorted((source / suite).glob("*.png")):
            pictures.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, pictures / path.name)


def drawn(folder: Path, pictures: Path) -> None:
    """A picture for each table that has none, of suites without pictures of their own."""
    for suite in all_suites().values():
        lines, path = lines_in(folder / suite.name), pictures / picture_of(suite)
        if lines and suite.figures is no_figures and not path.exists():
            pictures.mkdir(parents=True, exist_ok=True)
            save(draw_table(suite, lines), path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    parser.add_argument("--out", type=Path, default=TABLES / "paper")
    options = parser.parse_args()
    if not tables(options.source):
        parser.error(f"{options.source} has no tables: run `dowsax reproduce --out {options.source}` first.")
    copied(options.source, options.folder, options.pictures)
    drawn(options.folder, options.pictures)
    # Of the folder: a level may ask for a suite that was written another time.
    write_tables(options.out, tables(options.folder))


if __name__ == "__main__":
    main()
