"""A table as a figure: a panel per measure, a line per row, published and own numbers side by side."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from dowsax.viz.style import BLUE, GREEN, INK, MUTED, ORANGE, SKY, error_bars, new_figure, styled

_LOOKS = ((INK, "o"), (ORANGE, "s"), (GREEN, "^"), (BLUE, "D"), (SKY, "v"), (MUTED, "P"))
_MAX_COLUMNS = 4
# Numbers that differ by a larger factor have a logarithmic axis.
_MAX_LINEAR_RATIO = 30.0

Marks = Sequence[tuple[int, Any]]
"""Numbers of rows, each with an estimate, which may have no interval."""


def table_figure(title: str, rows: Sequence[str], panels: Mapping[str, Mapping[str, Marks]]) -> Figure:
    """Draw the numbers of a table; panels and their series by name. A series may be empty in a panel."""
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    columns = min(_MAX_COLUMNS, len(panels))
    deep = math.ceil(len(panels) / columns)
    with styled():
        # With room for the names of the rows and for the key.
        figure = new_figure(1.6 + 2.4 * columns, 0.9 + deep * (0.7 + 0.3 * len(rows)))
        grid = figure.subplots(deep, columns, sharey=True, squeeze=False)
        for axes, (measure, series) in zip(grid.ravel(), panels.items(), strict=False):
            _panel(axes, series, names)
            axes.set(title=measure, yticks=range(len(rows)), yticklabels=rows)
        for axes in grid.ravel()[len(panels) :]:
            axes.set_visible(False)
        # All panels share the axis.
        grid[0, 0].set_ylim(len(rows) - 0.5, -0.5)
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
        handles = {
            label: handle
            for axes in grid.ravel()
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        present = [name for name in names if name in handles]
        figure.legend(
            [handles[name] for name in present], present, loc="lower center", ncols=min(4, len(present))
        )
        figure.tight_layout(rect=(0, 0.45 / figure.get_figheight(), 1, 1))
    return figure


def _panel(axes: Axes, series: Mapping[str, Marks], names: Sequence[str]) -> None:
    """Draw the numbers of one measure."""
    for name, marks in series.items():
        if marks:
            _draw(axes, marks, names.index(name), len(names), name)
    _scale(axes, [one.value for marks in series.values() for _, one in marks])
    axes.grid(True, axis="x")


def _draw(axes: Axes, marks: Marks, number: int, total: int, name: str) -> None:
    """Draw the marks of one series, shifted from the others. A number without an interval is hollow."""
    colour, mark = _LOOKS[number % len(_LOOKS)]
    places = [at + 0.7 * ((number + 0.5) / total - 0.5) for at, _ in marks]
    bare = all(one.low is None for _, one in marks)
    axes.errorbar(
        [one.value for _, one in marks],
        places,
        xerr=error_bars([one for _, one in marks]),
        fmt=mark,
        color=colour,
        markerfacecolor="white" if bare else colour,
        markersize=4,
        linewidth=0.9,
        label=name,
    )


def _scale(axes: Axes, values: Sequence[float]) -> None:
    """Set the axis: [0, 1] for shares, logarithmic where numbers differ by large factors."""
    axes.margins(x=0.08)
    if min(values) > 0 and max(values) / min(values) > _MAX_LINEAR_RATIO and max(values) > 1:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=5))
        axes.xaxis.set_minor_locator(NullLocator())
    elif min(values) >= 0 and max(values) <= 1:
        axes.set_xlim(-0.03, 1.03)
