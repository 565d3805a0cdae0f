"""The belief after a survey as a picture: where the source may be, what else is known, how it came about."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dowsax.inference import Posterior
from dowsax.viz.belief_map import draw_map
from dowsax.viz.belief_panels import draw_marginal, draw_marginal_key, draw_progress
from dowsax.viz.style import new_figure, styled

_COLUMNS = 2
# The layout, in inches.
_WIDTH, _HEIGHT = 12.0, 6.8
_BOTTOM, _TOP = 0.55, 6.05
_MAP = 5.25
_RIGHT, _BREADTH, _GAP = 7.35, 4.45, 0.35
_BELOW = 2.3


def belief_figure(
    posterior: Posterior,
    truth: Sequence[float] | np.ndarray | None = None,
    title: str | None = None,
    unit: str = "",
    verdict: str | None = None,
) -> Figure:
    """A map of the belief with the path, the marginals of the other parameters, and the spread over readings.

    `truth` is the true position or the whole true Θ, where one simulated; `unit` is that of the readings.
    `verdict` is said in place of the posterior's own.
    """
    if posterior.is_batch:
        raise ValueError("A picture shows one survey: locate the surveys of a batch one by one to draw them.")
    known = None if truth is None else np.asarray(truth, np.float64)
    if known is not None and known.shape not in ((2,), posterior.mean.shape):
        raise ValueError(
            f"`truth` is a position (2,) or a whole Θ {posterior.mean.shape}; got {known.shape}."
        )
    judged = posterior.verdict() if verdict is None else verdict
    heading = judged if title is None else f"{title}\n{judged}"
    with styled():
        figure = new_figure(_WIDTH, _HEIGHT)
        draw_map(
            _panel(figure, 0.62, _BOTTOM, _MAP, _MAP), posterior, None if known is None else known[:2], unit
        )
        _draw_marginals(figure, posterior, known)
        draw_progress(_panel(figure, _RIGHT, _BOTTOM, _BREADTH, 1.5), posterior)
        figure.text(0.62 / _WIDTH, 1 - 0.12 / _HEIGHT, heading, fontsize=11, va="top", linespacing=1.35)
    return figure


def _draw_marginals(figure: Figure, posterior: Posterior, truth: np.ndarray | None) -> None:
    """One small panel a parameter besides the position, and a key in the place after them."""
    others = len(posterior.names) - 2
    if others == 0:
        return
    rows = others // _COLUMNS + 1
    width, pitch = (_BREADTH - _GAP) / _COLUMNS, (_TOP - _BELOW) / rows
    values = truth if truth is not None and truth.shape == posterior.mean.shape else None
    for place in range(others + 1):
        row, column = divmod(place, _COLUMNS)
        left, bottom = _RIGHT + column * (width + _GAP), _TOP - (row + 1) * pitch + 0.45
        panel = _panel(figure, left, bottom, width, min(pitch, 1.6) - 0.68)
        if place < others:
            draw_marginal(panel, posterior, place + 2, None if values is None else float(values[place + 2]))
        else:
            draw_marginal_key(panel, values is not None)


def _panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place given in inches: known places need no search for a layout, which took two seconds."""
    return figure.add_axes((left / _WIDTH, bottom / _HEIGHT, width / _WIDTH, height / _HEIGHT))
