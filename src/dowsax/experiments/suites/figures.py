"""The suites of the paper's figures: with and without attention, and searches on a map."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dowsax.evaluate.metrics import ends
from dowsax.experiments.run import CONTRACTION
from dowsax.experiments.suites.fixed_walks import EVOLUTION_FILTERS, evolution
from dowsax.experiments.suites.measures import Line
from dowsax.experiments.suites.searches import FIELDS, OUTER, SUMMARY, stop_rates
from dowsax.experiments.suites.suite import SYSTEMS, Entry, Reproduction, Suite
from dowsax.viz.paper_figures import Track, by_field, trajectories, weight_evolution

NUM_DRAWN = 100
"""Searches on a map, as in the paper."""
_ABLATION = (
    ("att-pfrl-paper", "paper"),
    ("att-pfrl-paper", "paper-learned"),
    ("att-pfrl-paper", "paper-no-attention"),
    ("att-pfrl", "default-attention"),
    ("att-pfrl", "default"),
    ("pfrl", "default"),
)
"""Policies and filters: attention standardised, learned or left out, in the search and in training."""


def _attention_entries(paper: Reproduction) -> list[Entry]:
    return [
        Entry(policy, field, [paper.run(policy, field, "id", filter_)])
        for field in FIELDS
        for policy, filter_ in _ABLATION
    ]


def _attention_figures(paper: Reproduction, lines: Sequence[Line]) -> dict[str, Figure]:
    series = {pair: stop_rates(lines, *pair) for pair in _ABLATION}
    figures = {"attention.png": by_field(series, FIELDS, "Stopped (ζ = 0.5), with and without attention")}
    found = evolution(paper)
    return figures | ({"weights.png": weight_evolution(found)} if found else {})


ATTENTION = Suite(
    name="attention",
    title="With and without attention",
    label="fig_ood_ablation",
    entries=_attention_entries,
    measures=SUMMARY,
    across="columns",
    figures=_attention_figures,
    other_runs=lambda paper: [paper.walk_run(filter_) for filter_ in EVOLUTION_FILTERS],
)


def _trajectory_entries(paper: Reproduction) -> list[Entry]:
    places = {"ID": ("", ("id",)), "OOD": ("-ood", OUTER)}
    return [
        Entry(row, "temperature", [paper.run(policy + ending, "temperature", at, preset) for at in scenarios])
        for preset, policy in SYSTEMS.items()
        for row, (ending, scenarios) in places.items()
    ]


def _trajectory_figures(paper: Reproduction, lines: Sequence[Line]) -> dict[str, Figure]:
    del lines
    panels = {}
    for entry in _trajectory_entries(paper):
        parts = [paper.store.episodes(run) for run in entry.runs]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            continue
        first = [episode for part in known for episode in part[: NUM_DRAWN // len(parts)]]
        end = ends(first, CONTRACTION)
        panels[f"{entry.row}, {entry.preset}"] = [
            Track(np.asarray(episode.rows.position[:reading]), episode.theta[:2], bool(stopped), bool(false))
            for episode, reading, stopped, false in zip(
                first, end.reading, end.stopped, end.false, strict=True
            )
        ]
    return {"trajectories.png": trajectories(panels)} if panels else {}


TRAJECTORIES = Suite(
    name="trajectories",
    title="A hundred searches of both systems on temperature",
    label="fig_id_ood_traj",
    entries=_trajectory_entries,
    measures=SUMMARY,
    figures=_trajectory_figures,
)
