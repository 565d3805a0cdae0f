"""Does the filter of training tell the truth? Its false stops, next to those of other filters.

    python -m benchmarks.training_filter --out runs/training-filter                    # 100 searches a run
    python -m benchmarks.training_filter --out runs/training-filter-card --episodes 1000 --budget 540
    python -m benchmarks.training_filter --out runs/tiny-filter --tiny --data runs/tiny-filter  # a rehearsal

A learner that is paid for stops is paid for a belief that collapses, so a filter that stops falsely teaches
to stop falsely. `training` and `training-attention` are the filters of training, `plain` that of the AGDC
methods; `default` and `paper` are there for contrast. One run of it is
`dowsax evaluate --preset training --policy straight --field gas --episodes 100`.
"""

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.machine import ROOT
from benchmarks.measured import RULES, Measured, compute, open_store, read_measured, resize
from benchmarks.searches import FIELDS
from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.tables import labelled_csv
from dowsax.experiments.run import Run
from dowsax.files import replace_file
from dowsax.policies import policy_names

FILTERS = ("training", "training-attention", "default", "plain", "paper")
POLICIES = ("straight", "infotaxis", "att-pfrl")
"""The last where it ships: a learned policy seeks out what the filter is weak at."""
FILE = "training-filter.csv"
NAMES = ("stop_rate", "false_stop_given_stop", "error_stopped", "path_length_stopped")


def plan(filters: Sequence[str], policies: Sequence[str], fields: Sequence[str]) -> list[Run]:
    """Filter by filter, as each has to be compiled; the filters of training first."""
    return [
        Run(Path(policy).stem, field, preset=preset, weights=policy)
        for preset in filters
        for field in fields
        for policy in policies
    ]


def lines_of(found: Mapping[Run, Measured]) -> list[tuple[dict[str, str], dict[str, Estimate]]]:
    """A line for each run and rule."""
    lines = []
    for wanted, measured in found.items():
        labels = {"preset": wanted.preset, "particles": str(measured.about["particles"])}
        labels |= {"policy": wanted.policy, "field": wanted.field}
        for rule in RULES:
            summary = measured.summary(rule)._asdict()
            numbers = {name: summary[name] for name in NAMES}
            made = {"stop": str(rule), "seed": str(wanted.seed), "device": str(measured.about["device"])}
            lines.append((labels | made, numbers))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = [name for name in POLICIES if name in policy_names()]
    parser.add_argument("--out", type=Path, default=Path("runs/training-filter"), help="of the runs")
    parser.add_argument("--filters", nargs="+", default=FILTERS, choices=FILTERS)
    parser.add_argument("--policies", nargs="+", default=usual, help="names, or files of weights")
    parser.add_argument("--fields", nargs="+", default=FIELDS, choices=FIELDS)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--budget", type=float, default=math.inf, metavar="SECONDS")
    parser.add_argument("--data", type=Path, default=ROOT / "results", help="where the table is written")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    wanted, everything = (
        [resize(one, options.episodes, options.tiny) for one in plan(filters, options.policies, fields)]
        for filters, fields in ((options.filters, options.fields), (FILTERS, FIELDS))
    )
    try:
        store = open_store(options.out)
        compute(store, wanted, options.budget)
        found = read_measured(store, everything)
    except ValueError as error:
        parser.error(str(error))
    if found:
        options.data.mkdir(parents=True, exist_ok=True)
        with replace_file(options.data / FILE) as partial:
            partial.write_text(labelled_csv(lines_of(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
