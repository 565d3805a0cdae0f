"""The picture of the growth curves: log-log, with the law they are held against."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dowsax.viz.style import BLUE, GREEN, MUTED, ORANGE, new_figure, styled

if TYPE_CHECKING:
    from benchmarks.growth import Point

ANCHOR = 10_000
"""The guide meets the curve here, or at the first point where nothing was measured here."""


def n_log_n(sizes: np.ndarray) -> np.ndarray:
    return sizes * np.log(sizes)


def growth_figure(points: Sequence["Point"]) -> Figure:
    """Left: time against the particles. Right: time of a survey against its readings."""
    with styled():
        figure = new_figure(8.4, 3.6)
        left, right = figure.subplots(1, 2)
        attention = _curve(left, points, "attention", "attention and smoothing", BLUE)
        _curve(left, points, "step", "whole step, paper preset", ORANGE)
        _guide(left, attention, n_log_n, "N log N")
        _mark_recall(left, points)
        _finish(left, "particles N", "wall time [ms]", "Growth with the particles")
        survey = _curve(right, points, "survey", "whole survey, default preset", GREEN)
        _guide(right, survey, lambda sizes: sizes, "proportional")
        _finish(right, "readings", "wall time [ms]", "Growth with the readings")
        figure.tight_layout()
    return figure


def _curve(axes: Axes, points: Sequence["Point"], name: str, label: str, colour: str):
    """Draw one curve and return it, (2, points)."""
    of = sorted((one.size, one.wall_ms) for one in points if one.curve == name)
    sizes, times = np.asarray(of, float).reshape(-1, 2).T
    axes.plot(sizes, times, "o-", color=colour, label=label, markersize=4)
    return sizes, times


def _guide(axes: Axes, curve, law: Callable[[np.ndarray], np.ndarray], label: str) -> None:
    sizes, times = curve
    if len(sizes) == 0:
        return
    at = int(np.argmin(np.abs(sizes - ANCHOR))) if (sizes >= ANCHOR).any() else 0
    guide = times[at] * law(sizes) / law(sizes)[at]
    axes.plot(sizes, guide, "--", color=MUTED, linewidth=1.0, label=label)


def _mark_recall(axes: Axes, points: Sequence["Point"]) -> None:
    """The recall of the tree beside its points."""
    for one in points:
        if one.recall is not None and one.search == "tree":
            axes.annotate(
                f"{one.recall:.2f}",
                (one.size, one.wall_ms),
                xytext=(4, -11),
                textcoords="offset points",
                fontsize=7,
                color=BLUE,
            )


def _finish(axes: Axes, below: str, beside: str, title: str) -> None:
    axes.set(xscale="log", yscale="log", xlabel=below, ylabel=beside, title=title)
    axes.grid(True, which="major")
    axes.legend()
