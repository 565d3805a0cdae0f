"""The command line of scripts that read runs of `dowsax reproduce` and write a CSV file."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from benchmarks.machine import ROOT
from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.tables import labelled_csv
from dowsax.experiments.store import Store
from dowsax.experiments.suites.searches import FIELDS
from dowsax.experiments.suites.suite import Reproduction
from dowsax.files import replace_file

Lines = Iterable[tuple[Mapping[str, str], Mapping[str, Estimate]]]
"""The labels and the numbers of each line."""


def main(doc: str | None, name: str, lines: Callable[[Reproduction, str], Lines]) -> None:
    """Write the file of this name, with the lines of each field of which the runs are complete."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="a folder of `dowsax reproduce`")
    parser.add_argument("--data", type=Path, default=ROOT / "results", help="where the file is written")
    parser.add_argument("--fields", nargs="+", default=FIELDS, choices=FIELDS)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the test seed")
    parser.add_argument("--trust", nargs="+", default=(), help="as of `dowsax reproduce`")
    options = parser.parse_args()
    store = Store(options.source, trusted=tuple(options.trust))
    paper = Reproduction(store, options.episodes, (options.seed,))
    try:
        found = [line for field in options.fields for line in lines(paper, field)]
    except ValueError as error:
        parser.error(str(error))
    if not found:
        size = options.episodes
        parser.error(
            f"{options.source} has no runs of {size} searches: run `dowsax reproduce id --episodes {size}`."
        )
    options.data.mkdir(parents=True, exist_ok=True)
    with replace_file(options.data / name) as partial:
        partial.write_text(labelled_csv(found), encoding="utf-8")
