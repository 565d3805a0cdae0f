"""The suite of fixed walks: what filters make of the same readings."""

import numpy as np

from dowsax.evaluate.metrics import Estimate, means, share
from dowsax.experiments.suites.measures import Line, Numbers, bootstrap
from dowsax.experiments.suites.suite import Entry, Reproduction, Suite
from dowsax.experiments.walks import Walks

VARIANTS = {
    "PF": "paper-bare",
    "PF + attention": "paper-no-moves",
    "PF + MH": "paper-no-attention",
    "PF + attention + MH": "paper",
    "default": "default",
    "default + attention": "default-attention",
    "reference": "reference",
}
"""The filter of each row."""
_WITH, _WITHOUT = "with attention", "without"
_EVOLUTION = {
    "no moves": {_WITH: "paper-no-moves", _WITHOUT: "paper-bare"},
    "moves after resampling": {_WITH: "paper", _WITHOUT: "paper-no-attention"},
}
EVOLUTION_FILTERS = tuple(name for pair in _EVOLUTION.values() for name in pair.values())


def _entries(paper: Reproduction) -> list[Entry]:
    return [Entry(row, "temperature", [paper.walk_run(filter_)]) for row, filter_ in VARIANTS.items()]


def _lines(paper: Reproduction, entry: Entry) -> list[Line]:
    walks, reference = (paper.walks(run) for run in (entry.runs[0], paper.walk_run("reference")))
    if walks is None:
        return []
    return [
        Line(entry.row, entry.column, entry.preset, "20 readings", walk_numbers(walks, reference), paper.seed)
    ]


def walk_numbers(walks: Walks, reference: Walks | None) -> Numbers:
    """Error, weights, cost and calibration after the last reading."""
    ess, evaluations, seconds, inside = means(
        walks.ess[:, -1], walks.evaluations, walks.seconds * 1000, walks.inside.mean(axis=1)
    )
    numbers = {
        "RMSE@20": bootstrap(walks.error[:, -1].astype(np.float64) ** 2, lambda part: np.sqrt(part.mean())),
        "ESS@20": ess,
        "likelihood evaluations": evaluations,
        "wall time": seconds,
        # Both axes of a walk belong together, so the interval is from resampling walks.
        "coverage": inside if 0 < (inside.value or 0) < 1 else share(np.all(walks.inside, axis=1)),
    }
    if reference is not None:
        numbers["std ratio"] = _ratio(walks, reference)
    return numbers


def _ratio(walks: Walks, reference: Walks) -> Estimate:
    ratios = walks.std[:, -1] / np.maximum(reference.std[:, -1], 1e-6)
    return bootstrap(ratios.astype(np.float64), np.median)


FIXED = Suite(
    name="fixed",
    title="Filters on the same random walks",
    label="tab:fixed_trajectory_inference_",
    entries=_entries,
    make_lines=_lines,
    measures=("RMSE@20", "ESS@20", "likelihood evaluations", "wall time", "coverage", "std ratio"),
)


def evolution(paper: Reproduction) -> dict[str, dict[str, np.ndarray]]:
    """ESS as a share of the particles, (walks, readings), with and without attention on the same walks."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for panel, pair in _EVOLUTION.items():
        for name, filter_ in pair.items():
            run = paper.walk_run(filter_)
            walks = paper.walks(run)
            if walks is not None:
                found.setdefault(panel, {})[name] = walks.ess / run.filter.config.num_particles
    return found
