"""The suites of the paper's figures: with and without attention, and searches on a map."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dowsax.evaluate.metrics import ends
from dowsax.reproduce.cells import Cell, SearchCell
from dowsax.reproduce.lines import CONTRACTION, Line
from dowsax.reproduce.searching import FIELDS, OUTER, PRESETS, SUMMARY, lines_for, stop_rates
from dowsax.reproduce.store import Store
from dowsax.reproduce.suite import Suite
from dowsax.reproduce.walking import EVOLUTION_CELLS, evolution
from dowsax.viz.paper_figures import Track, by_field, trajectories, weight_evolution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN = 100
"""Searches on a map, as in the paper."""
_ABLATION = (
    ("att-pfrl", "paper"),
    ("att-pfrl", "paper-no-attention"),
    ("pfrl", "paper-no-attention"),
    ("att-pfrl", "default-attention"),
    ("att-pfrl", "default"),
    ("pfrl", "default"),
)
"""With attention and without, and without it in training too."""


def _attention_cells(store: Store) -> list[Cell]:
    del store
    searches = [SearchCell(policy, field, "id", filter_) for field in FIELDS for policy, filter_ in _ABLATION]
    return [*searches, *EVOLUTION_CELLS]


def _attention_lines(store: Store) -> list[Line]:
    return [
        line
        for field in FIELDS
        for policy, filter_ in _ABLATION
        for line in lines_for(store, policy, field, [SearchCell(policy, field, "id", filter_)])
    ]


def _attention_figures(store: Store, lines: Sequence[Line]) -> "dict[str, Figure]":

    series = {pair: stop_rates(lines, *pair) for pair in _ABLATION}
    figures = {"attention.png": by_field(series, FIELDS, "Stopped (ζ = 0.5), with and without attention")}
    found = evolution(store)
    return figures | ({"weights.png": weight_evolution(found)} if found else {})


ATTENTION = Suite(
    name="attention",
    title="With and without attention",
    label="fig_ood_ablation",
    cells=_attention_cells,
    lines=_attention_lines,
    measures=SUMMARY,
    across="columns",
    note="`pfrl` was trained without attention as well. The paper has a figure without numbers.",
    figures=_attention_figures,
)


def _drawn_cells(preset: str) -> dict[str, list[SearchCell]]:
    return {
        f"ID, {preset}": [SearchCell("att-pfrl", "temperature", "id", preset)],
        f"OOD, {preset}": [SearchCell("att-pfrl-ood", "temperature", outer, preset) for outer in OUTER],
    }


def _trajectory_cells(store: Store) -> list[SearchCell]:
    del store
    return [cell for preset in PRESETS for cells in _drawn_cells(preset).values() for cell in cells]


def _trajectory_lines(store: Store) -> list[Line]:
    return [
        line
        for preset in PRESETS
        for name, cells in _drawn_cells(preset).items()
        for line in lines_for(store, name.split(",")[0], "temperature", cells)
    ]


def _trajectory_figures(store: Store, lines: Sequence[Line]) -> "dict[str, Figure]":
    del lines

    panels = {}
    for preset in PRESETS:
        for name, cells in _drawn_cells(preset).items():
            parts = [store.episodes(cell) for cell in cells]
            if all(part is not None for part in parts):
                first = [episode for part in parts for episode in (part or [])[: DRAWN // len(parts)]]
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
    cells=_trajectory_cells,
    lines=_trajectory_lines,
    measures=SUMMARY,
    note="The picture has the first 100 searches, the table all of them. The paper has a figure alone.",
    figures=_trajectory_figures,
)
