"""The style of all figures: colours for colour-blind readers too, labelled axes, a white background."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.text import Text

from dowsax.viz import require_format

INK = "#22303c"
"""Text, axes and paths."""
MUTED = "#7b8894"
"""Thresholds, hints, borders."""
BLUE = "#0072b2"
ORANGE = "#d55e00"
GREEN = "#009e73"
SKY = "#56b4e9"
PURPLE = "#cc79a7"
AMBER = "#e69f00"
"""Okabe and Ito's colours, which differ in lightness as well as in hue."""
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY, AMBER, INK)
"""The colours of series, in order."""

READING_COLOURS = "YlOrRd"
DENSITY_COLOURS = LinearSegmentedColormap.from_list(
    "density", [(0.0, "#9ecae100"), (0.06, "#deebf7c0"), (0.4, "#9ecae1"), (1.0, "#3182bd")]
)
"""From transparent to blue."""

DOTS_PER_INCH = 150

_SETTINGS: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "grid.color": "#e3e8ec",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "lines.linewidth": 1.6,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def styled() -> AbstractContextManager[None]:
    """Return a context in which figures have this style; nothing outside it changes."""
    return matplotlib.rc_context(_SETTINGS)


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size [inch], without global state. Draw it in `styled()`."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def add_panel(
    figure: Figure, left: float, bottom: float, width: float, height: float, label: str = ""
) -> Axes:
    """Add axes at a place given in inches: unlike a constrained layout, this takes no time."""
    across, along = figure.get_size_inches()
    return figure.add_axes((left / across, bottom / along, width / across, height / along), label=label)


def shorten_text(text: Text, part: str, width: float) -> None:
    """Shorten this part of a text, with an ellipsis, until the text fits into `width` [inch]."""
    figure, words = text.get_figure(root=True), text.get_text()
    assert figure is not None
    for length in range(len(part) - 1, 0, -1):
        if text.get_window_extent().width <= width * figure.dpi:
            return
        text.set_text(words.replace(part, f"{part[:length].rstrip()}…", 1))


def error_bars(estimates: Sequence[Any]) -> np.ndarray:
    """Return the lengths (2, k) of the error bars of estimates; 0 for one without an interval."""
    spans = [
        (0.0, 0.0) if one.low is None else (one.value - one.low, one.high - one.value) for one in estimates
    ]
    return np.maximum(np.array(spans).reshape(-1, 2).T, 0.0)


def save(figure: Figure, path: str | Path, picture_format: str | None = None) -> Path:
    """Write the figure, by default in the format of the file name; return the path."""
    path = Path(path)
    if picture_format is None:
        require_format(path)
    with styled():
        figure.savefig(path, dpi=DOTS_PER_INCH, format=picture_format)
    return path
