"""Calibration as a figure: the ranks of the truth, with the band of uniform ranks."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dowsax.viz.style import BLUE, INK, MUTED, ORANGE, add_panel, new_figure, styled

# The layout, in inches.
_PANEL = 1.62
_LEFT, _RIGHT, _TOP, _BOTTOM, _GAP, _ROW_GAP = 0.95, 0.15, 0.75, 0.85, 0.14, 0.62


class RankCurve(NamedTuple):
    """The empirical distribution function of one parameter's ranks, with its band."""

    points: np.ndarray
    """In (0, 1)."""
    share: np.ndarray
    """The share of the ranks below each point."""
    low: np.ndarray
    high: np.ndarray
    caption: str
    """Written after the name of the parameter, such as a p-value."""


def rank_figure(rows: Mapping[str, Sequence[RankCurve]], names: Sequence[str], title: str) -> Figure:
    """Draw one row per filter, one panel per parameter: share of ranks below a point, minus the point.

    The curve of a correct filter stays in the band. A belief that is too narrow gives a curve above zero and
    then below it, one that is too wide the reverse; a curve on one side means bias.
    """
    width = _LEFT + len(names) * (_PANEL + _GAP) - _GAP + _RIGHT
    height = _TOP + len(rows) * (_PANEL + _ROW_GAP) - _ROW_GAP + _BOTTOM
    limit = 1.08 * max(_reach(curve) for curves in rows.values() for curve in curves)
    with styled():
        figure = new_figure(width, height)
        for row, (label, curves) in enumerate(rows.items()):
            last = row == len(rows) - 1
            bottom = _BOTTOM + (len(rows) - 1 - row) * (_PANEL + _ROW_GAP)
            panels = [
                add_panel(figure, _LEFT + at * (_PANEL + _GAP), bottom, _PANEL, _PANEL)
                for at in range(len(names))
            ]
            for panel, name, curve in zip(panels, names, curves, strict=True):
                _draw(panel, name, curve)
                panel.set_ylim(-limit, limit)
                panel.tick_params(labelleft=panel is panels[0], labelbottom=last)
            panels[0].set_ylabel(f"{label}\nshare below − point")
        _annotate(figure, title)
    return figure


def _annotate(figure: Figure, title: str) -> None:
    """Write the title, the axis and the meaning of the colours."""
    width, height = figure.get_size_inches()
    axis = "point: normalised rank of the truth among draws of its belief"
    colours = (
        "Grey: where all curves of a correct filter stay with probability 0.95 or more. Orange: outside."
    )
    figure.text(_LEFT / width, 1 - 0.12 / height, title, fontsize=11, va="top")
    figure.text((_LEFT + width - _RIGHT) / 2 / width, 0.30 / height, axis, ha="center")
    figure.text(_LEFT / width, 0.08 / height, colours, fontsize=8, color=MUTED)


def _reach(curve: RankCurve) -> float:
    return float(max(np.max(np.abs(values - curve.points)) for values in curve[1:4]))


def _draw(panel: Axes, name: str, curve: RankCurve) -> None:
    # The curve starts and ends on zero by construction.
    points, share, low, high = (np.concatenate([[0.0], values, [1.0]]) for values in curve[:4])
    panel.fill_between(points, low - points, high - points, color="#dfe5ea", linewidth=0)
    panel.axhline(0.0, color=MUTED, linewidth=0.8)
    difference = share - points
    outside = (share < low) | (share > high)
    panel.plot(points, difference, color=BLUE, linewidth=1.4)
    panel.plot(points, np.where(outside, difference, np.nan), color=ORANGE, linewidth=2.2)
    panel.set_xlim(0.0, 1.0)
    panel.set_xticks([0.0, 0.5, 1.0], ["0", "½", "1"])
    panel.set_title(f"{name}   {curve.caption}", color=ORANGE if outside.any() else INK)
