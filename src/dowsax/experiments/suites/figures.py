"""The suites of the paper's figures: with and without attention, and searches on a map."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dowsax.evaluate.metrics import ends
from dowsax.experiments.run import CONTRACTION, Run
from dowsax.experiments.store import AnyRun
from dowsax.experiments.suites.fixed_walks import EVOLUTION_FILTERS, evolution
from dowsax.experiments.suites.measures import Line
from dowsax.experiments.suites.searches import FIELDS, OUTER, PRESETS, SUMMARY, lines_for, stop_rates
from dowsax.experiments.suites.suite import Reproduction, Suite
from dowsax.viz.paper_figures import Track, by_field, trajectories, weight_evolution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUM_DRAWN = 100
"""Searches on a map, as in the paper."""
_ABLATION = (
    ("att-pfrl", "paper"),
    ("att-pfrl", "paper-no-attention"),
    ("pfrl", "paper-no-attention"),
    ("att-pfrl", "default-attention"),
    ("att-pfrl", "default"),
    ("pfrl", "default"),
)
"""Policies and filters: with attention, without it, and without it in training too."""


def _attention_runs(paper: Reproduction) -> list[AnyRun]:
    searches = [paper.run(policy, field, "id", filter_) for field in FIELDS for policy, filter_ in _ABLATION]
    return [*searches, *(paper.walk_run(filter_) for filter_ in EVOLUTION_FILTERS)]


def _attention_lines(paper: Reproduction) -> list[Line]:
    return [
        line
        for field in FIELDS
        for policy, filter_ in _ABLATION
        for line in lines_for(paper, policy, field, [paper.run(policy, field, "id", filter_)])
    ]


def _attention_figures(paper: Reproduction, lines: Sequence[Line]) -> "dict[str, Figure]":
    series = {pair: stop_rates(lines, *pair) for pair in _ABLATION}
    figures = {"attention.png": by_field(series, FIELDS, "Stopped (ζ = 0.5), with and without attention")}
    found = evolution(paper)
    return figures | ({"weights.png": weight_evolution(found)} if found else {})


ATTENTION = Suite(
    name="attention",
    title="With and without attention",
    label="fig_ood_ablation",
    runs=_attention_runs,
    lines=_attention_lines,
    measures=SUMMARY,
    across="columns",
    figures=_attention_figures,
)


def _drawn_runs(paper: Reproduction, preset: str) -> dict[str, list[Run]]:
    return {
        f"ID, {preset}": [paper.run("att-pfrl", "temperature", "id", preset)],
        f"OOD, {preset}": [paper.run("att-pfrl-ood", "temperature", outer, preset) for outer in OUTER],
    }


def _trajectory_runs(paper: Reproduction) -> list[Run]:
    return [run for preset in PRESETS for runs in _drawn_runs(paper, preset).values() for run in runs]


def _trajectory_lines(paper: Reproduction) -> list[Line]:
    return [
        line
        for preset in PRESETS
        for name, runs in _drawn_runs(paper, preset).items()
        for line in lines_for(paper, name.split(",")[0], "temperature", runs)
    ]


def _trajectory_figures(paper: Reproduction, lines: Sequence[Line]) -> "dict[str, Figure]":
    del lines
    panels = {}
    for preset in PRESETS:
        for name, runs in _drawn_runs(paper, preset).items():
            parts = [paper.episodes(run) for run in runs]
            if all(part is not None for part in parts):
                first = [episode for part in parts for episode in (part or [])[: NUM_DRAWN // len(parts)]]
                end = ends(first, CONTRACTION)
                panels[name] = [
                    Track(
                        np.asarray(episode.rows.position[:reading]),
                        episode.theta[:2],
                        bool(stopped),
                        bool(false),
                    )
                    for episode, reading, stopped, false in zip(
                        first, end.reading, end.stopped, end.false, strict=True
                    )
                ]
    return {"trajectories.png": trajectories(panels)} if panels else {}


TRAJECTORIES = Suite(
    name="trajectories",
    title="A hundred searches of ATT-PFRL on temperature",
    label="fig_id_ood_traj",
    runs=_trajectory_runs,
    lines=_trajectory_lines,
    measures=SUMMARY,
    figures=_trajectory_figures,
)
