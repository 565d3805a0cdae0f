"""The tables and pictures of the paper's results, from a folder of `dowsax reproduce`.

    dowsax reproduce --out runs/paper --weights runs/train
    python -m benchmarks.paper_tables --source runs/paper

What each suite has written is copied: tables to results/paper, pictures to docs/pictures/paper. The tables of
the docs are made of them in results/tables/paper: the whole table where it is small, ATT-PFRL's part of it,
a line a field, where it is wide.
"""

import argparse
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
from dowsax.experiments.suites.rewards import REWARDED, SEEDS
from dowsax.experiments.suites.searches import FIELDS
from dowsax.experiments.suites.suite import no_figures
from dowsax.viz.style import save

FOLDER, PICTURES = ROOT / "results/paper", ROOT / "docs/pictures/paper"
KEPT = ("table.md", "table.csv", "about.json")
OURS, GUARDED = "att-pfrl", "att-pfrl-ood-guarded"
OCE, FALSE, ADE, NEEDED = "OCE", "false stops", "ADE", "episodes to 0.90"
HEAT = "temperature"
"""The field of the rewards."""
MOST_FALSE = {CONTRACTION: 0.08, CREDIBLE: 0.05}
MOST_LOST, LEAST_KEPT = 0.05, 0.90
"""The levels to reach: false stops of the stops, what sources elsewhere cost, and what a jump leaves."""


class Found(NamedTuple):
    """The numbers of a suite."""

    suite: str
    numbers: dict[tuple[str, ...], Estimate]
    """By row, column, filter, rule and measure."""

    def at(self, row: str, column: str, filter_: str, rule: object, measure: str) -> Estimate:
        return self.numbers.get((row, column, filter_, str(rule), measure), NOTHING)

    def said(self, row: str, column: str, filter_: str, rule: object, measure: str) -> str:
        """In words; a dash where it has not been measured."""
        found, about = self.at(row, column, filter_, rule, measure), MEASURES[measure]
        return "–" if found.value is None else number(found, about.digits, about.sign)

    def theirs(self, row: str, column: str, measure: str) -> str:
        found = printed(self.suite).get((row, column, measure))
        return "–" if found is None else found.text


def read(folder: Path, suite: str) -> Found:
    """What a suite has written; nothing where it has not."""
    numbers = {
        (*line[:4], measure): estimate
        for line in lines_in(folder / suite)
        for measure, estimate in line.numbers.items()
    }
    return Found(suite, numbers)


def comparison(found: Found) -> str:
    """ATT-PFRL at home: stops and false stops with both filters, and the path beside the straight walk."""
    headings = ("field", "OCE: the paper", "Algorithm 1", "of these false", "default", "of these false")
    paths = ("path [m]: the paper", "default", "straight walk")
    rows = [
        (
            field,
            found.theirs(OURS, field, OCE),
            *(found.said(OURS, field, "paper", CONTRACTION, measure) for measure in (OCE, FALSE)),
            *(found.said(OURS, field, "default", CREDIBLE, measure) for measure in (OCE, FALSE)),
            found.theirs(OURS, field, ADE),
            *(found.said(policy, field, "default", CREDIBLE, ADE) for policy in (OURS, "straight")),
        )
        for field in FIELDS
    ]
    return _table((*headings, *paths), rows)


def elsewhere(found: Found) -> str:
    """ATT-PFRL with sources elsewhere than in training, and what that costs."""
    names = {OURS: "bare", GUARDED: "guarded"}
    headings = [f"{name}: {word}" for name in names.values() for word in ("OCE", "of these false", "lost")]
    rows = [
        (
            field,
            found.theirs(OURS, field, OCE),
            *(
                found.said(name, field, "default", CREDIBLE, measure)
                for name in names
                for measure in (OCE, FALSE, "drop")
            ),
        )
        for field in FIELDS
    ]
    return _table(("field", "OCE: the paper", *headings), rows)


def jumped(found: Found) -> str:
    """ATT-PFRL when the source moves: stops with both filters, and what is left of the stop rate."""
    headings = ("field", "OCE: the paper", "Algorithm 1", "of these false", "default", "of these false")
    rows = [
        (
            field,
            found.theirs(OURS, field, OCE),
            *(found.said(OURS, field, "paper", CONTRACTION, measure) for measure in (OCE, FALSE)),
            *(found.said(OURS, field, "default", CREDIBLE, measure) for measure in (OCE, FALSE, "kept")),
        )
        for field in FIELDS
    ]
    return _table((*headings, "of the stop rate without a jump"), rows)


def attended(found: Found) -> str:
    """False stops under the paper's rule, with attention and without."""
    pairs = {
        "Algorithm 1": ("paper", "paper-no-attention"),
        "default": ("default-attention", "default"),
    }
    headings = [f"{name}, {word}" for name in pairs for word in ("with attention", "without")]
    rows = [
        (
            field,
            *(found.said(OURS, field, one, CONTRACTION, FALSE) for pair in pairs.values() for one in pair),
        )
        for field in FIELDS
    ]
    return _table(("field, false stops of the stops", *headings), rows)


def rewarded(found: Found) -> str:
    """What the learner was paid for: stops at home and elsewhere, and whether the seeds agree."""
    headings = ("reward", "OCE: the paper", "Algorithm 1", "of these false", "default", "of these false")
    outside = ("elsewhere: the paper", "default", "of these false")
    others = ("OCE of each seed", "searches to 0.90: the paper", "ours")
    rows = [
        (
            row,
            found.theirs(row, HEAT, OCE),
            *(found.said(row, HEAT, "paper", CONTRACTION, measure) for measure in (OCE, FALSE)),
            *(found.said(row, HEAT, "default", CREDIBLE, measure) for measure in (OCE, FALSE)),
            found.theirs(row, HEAT, "OCE (OOD)"),
            *(found.said(row, HEAT, "default", CREDIBLE, f"{measure} (OOD)") for measure in (OCE, FALSE)),
            _each_seed(found, row),
            found.theirs(row, HEAT, NEEDED),
            found.said(row, HEAT, "default", CREDIBLE, NEEDED),
        )
        for row in REWARDED
    ]
    return _table((*headings, *outside, *others), rows)


def _each_seed(found: Found, row: str) -> str:
    rates = [found.at(f"{row}, seed {seed}", HEAT, "default", CREDIBLE, OCE).value for seed in SEEDS]
    return " ".join(f"{rate:.3f}" for rate in rates if rate is not None) or "–"


SHORT: dict[str, Callable[[Found], str]] = {
    "id": comparison,
    "ood": elsewhere,
    "shift": jumped,
    "attention": attended,
    "rewards": rewarded,
}
"""Suites whose tables are too wide for the page."""


def levels(folder: Path) -> str:
    """Each level that ATT-PFRL with the default filter has to reach, field by field."""
    home, away, moved = (read(folder, suite) for suite in ("id", "ood", "shift"))
    rows = []
    for field in FIELDS:
        rate = home.at(OURS, field, "default", CONTRACTION, OCE)
        false = {most: home.at(OURS, field, "default", rule, FALSE) for rule, most in MOST_FALSE.items()}
        lost = [away.at(name, field, "default", CREDIBLE, "drop") for name in (OURS, GUARDED)]
        kept = moved.at(OURS, field, "default", CREDIBLE, "kept")
        rows.append(
            (
                field,
                judged(rate, printed("id")[OURS, field, OCE].value, least=True),
                *(judged(found, most, least=False) for most, found in false.items()),
                *(judged(found, MOST_LOST, least=False) for found in lost),
                judged(kept, LEAST_KEPT, least=True),
            )
        )
    headings = ("field", "OCE, ζ = 0.5", "false stops, ζ = 0.5", "false stops, credible")
    lost_headings = ("lost with sources elsewhere", "the same, guarded")
    return _table((*headings, *lost_headings, "kept after a jump"), rows)


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
    return found | ({"levels": levels(folder)} if "id" in written else {})


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
