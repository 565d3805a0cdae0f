"""Policies compared search by search, on the same sources with the same noise.

    python -m benchmarks.pairs --source runs/paper --episodes 300    # after `dowsax reproduce id`

Every method of the main comparison against our policy, and the policy that was trained with attention against
itself: attention in the filter of the search, or not. Credible rule. On the same searches a difference has a
much shorter interval than two numbers side by side.
"""

import argparse
from pathlib import Path

from benchmarks.machine import ROOT
from dowsax.evaluate.paired import compare
from dowsax.evaluate.tables import labelled_csv
from dowsax.experiments.run import CREDIBLE
from dowsax.experiments.store import Store
from dowsax.experiments.suites.searches import FIELDS, METHODS, STRAIGHT
from dowsax.experiments.suites.suite import Reproduction
from dowsax.files import replace_file

DATA = ROOT / "results"
FILE = "pairs.csv"
OURS = ("pfrl", "default")
WITHOUT, WITH = ("att-pfrl", "default"), ("att-pfrl", "default-attention")
PAIRS = (
    (WITH, WITHOUT),
    (WITH, OURS),
    *(((name, "default"), OURS) for name in METHODS if name not in (OURS[0], STRAIGHT)),
)
"""Policy and filter, and those they are compared with."""


def write(paper: Reproduction, data: Path) -> None:
    """Write a line for each pair and field of which both runs are complete."""
    lines = []
    for field in FIELDS:
        for pair in PAIRS:
            runs = [paper.run(policy, field, "id", filter_) for policy, filter_ in pair]
            first, second = (paper.store.episodes(run) for run in runs)
            if first is None or second is None:
                continue
            (policy, filter_), (other, other_filter) = pair
            labels = {"field": field, "seed": str(paper.seed), "policy": policy, "filter": filter_}
            labels |= {"against": other, "against_filter": other_filter}
            found = compare(first, second, CREDIBLE)
            numbers = {"stop_rate": found.stop_rate, "path_length_both": found.path_length_both}
            lines.append((labels, numbers | {"false_stop_all": found.false_stop_all}))
    if not lines:
        raise ValueError(f"{paper.store.folder} has no runs to compare: run `dowsax reproduce id` first.")
    data.mkdir(parents=True, exist_ok=True)
    with replace_file(data / FILE) as partial:
        partial.write_text(labelled_csv(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, required=True, help="a folder of `dowsax reproduce`")
    parser.add_argument("--data", type=Path, default=DATA, help="where the table is written")
    parser.add_argument("--episodes", type=int, default=1000)
    options = parser.parse_args()
    try:
        write(Reproduction(Store(options.source), options.episodes), options.data)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
