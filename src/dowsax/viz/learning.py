"""Learning curves: how searches end, over moves and over time."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from dowsax.viz.style import PALETTE, add_panel, new_figure, styled

_DASHES = ("-", "--", ":")
# The layout, in inches.
_PANEL, _HEIGHT, _GAP, _ROW_GAP = 2.3, 1.7, 0.62, 0.7
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.65, 0.25, 0.75, 0.55
_LEGEND_COLUMNS = 6
_MINUTE_S, _HOUR_S = 60.0, 3600.0

_PANELS = {
    "stop_rate": "searches that stopped",
    "path_length": "path to the stop [m]",
    "false_stops": "false stops, of the stops",
    "entropy": "entropy of the choice [nats]",
}


class LearningCurve(NamedTuple):
    """The measures of one run after every update; NaN where there is none yet."""

    steps: np.ndarray
    """Number of moves."""
    seconds: np.ndarray
    measures: Mapping[str, np.ndarray]
    """`stop_rate`, `path_length`, `false_stops` and `entropy`."""


def learning_figure(runs: Mapping[str, LearningCurve], title: str) -> Figure:
    """Draw one colour per run; the upper row over moves, the lower one over time."""
    legend_lines = 0 if len(runs) < 2 else 1 + (len(runs) - 1) // _LEGEND_COLUMNS
    top = _TOP + 0.2 * legend_lines
    width = _LEFT + len(_PANELS) * (_PANEL + _GAP) - _GAP + _RIGHT
    height = top + 2 * _HEIGHT + _ROW_GAP + _BOTTOM
    longest = max((float(run.seconds[-1]) for run in runs.values() if len(run.seconds)), default=0.0)
    unit, scale = _time_unit(longest)
    with styled():
        figure = new_figure(width, height)
        for number, (name, heading) in enumerate(_PANELS.items()):
            left = _LEFT + number * (_PANEL + _GAP)
            over_steps, over_time = (
                add_panel(figure, left, bottom, _PANEL, _HEIGHT)
                for bottom in (_BOTTOM + _HEIGHT + _ROW_GAP, _BOTTOM)
            )
            over_steps.set_title(heading)
            for place, (label, run) in enumerate(runs.items()):
                _draw(over_steps, run.steps, run.measures[name], place, label)
                _draw(over_time, run.seconds / scale, run.measures[name], place, label)
            _finish(over_steps, name, "moves")
            over_steps.xaxis.set_major_formatter(EngFormatter(sep=" "))
            _finish(over_time, name, f"time [{unit}]")
        figure.text(_LEFT / width, 1 - 0.3 / height, title, fontsize=11, fontweight="bold")
        if legend_lines:
            figure.legend(
                *figure.axes[0].get_legend_handles_labels(),
                loc="upper left",
                bbox_to_anchor=(_LEFT / width, 1 - 0.42 / height),
                borderaxespad=0.0,
                ncols=_LEGEND_COLUMNS,
            )
    return figure


def _draw(axes: Axes, places: np.ndarray, numbers: np.ndarray, number: int, label: str) -> None:
    """Draw a run; a single update is a point."""
    axes.plot(
        places,
        numbers,
        color=PALETTE[number % len(PALETTE)],
        linestyle=_DASHES[number // len(PALETTE) % len(_DASHES)],
        marker="o" if len(places) == 1 else None,
        markersize=4,
        label=label,
    )


def _finish(axes: Axes, name: str, along: str) -> None:
    """Set the axes. Shares have their whole range, so that figures of different runs can be compared."""
    axes.set_xlabel(along)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.set_xlim(left=0.0)
    axes.grid(True)
    if name == "stop_rate":
        axes.set_ylim(0.0, 1.02)
    elif name == "false_stops":
        # Most are below 0.1, but larger ones must show too.
        axes.set_ylim(0.0, max(0.2, axes.get_ylim()[1]))
    else:
        axes.set_ylim(bottom=0.0)


def _time_unit(longest: float) -> tuple[str, float]:
    """Return the unit of time for a duration [s], and the seconds in it."""
    if longest < 3 * _MINUTE_S:
        return "s", 1.0
    return ("min", _MINUTE_S) if longest < 3 * _HOUR_S else ("h", _HOUR_S)
