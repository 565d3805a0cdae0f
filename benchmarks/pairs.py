"""Policies compared search by search, on the same sources with the same noise.

    python -m benchmarks.pairs --source runs/paper --episodes 300    # after `dowsax reproduce id`

Every method of the main comparison against our policy, and the policy that was trained with attention against
itself: attention in the filter of the search, or not. Credible rule. On the same searches a difference has a
much shorter interval than two numbers side by side.
"""

from benchmarks import from_runs
from benchmarks.from_runs import Lines
from dowsax.evaluate.paired import compare
from dowsax.experiments.run import CREDIBLE
from dowsax.experiments.suites.searches import METHODS, STRAIGHT
from dowsax.experiments.suites.suite import Reproduction

FILE = "pairs.csv"
OURS = ("pfrl", "default")
WITHOUT, WITH = ("att-pfrl", "default"), ("att-pfrl", "default-attention")
PAIRS = (
    (WITH, WITHOUT),
    (WITH, OURS),
    *(((name, "default"), OURS) for name in METHODS if name not in (OURS[0], STRAIGHT)),
)
"""Policy and filter, and those they are compared with."""


def lines(paper: Reproduction, field: str) -> Lines:
    """Return a line for each pair of which both runs are complete."""
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
        yield labels, numbers | {"false_stop_all": found.false_stop_all}


if __name__ == "__main__":
    from_runs.main(__doc__, FILE, lines)
