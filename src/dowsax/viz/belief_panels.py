"""The panels beside the map: what is known of the other parameters, and how the spread fell."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from dowsax.inference import Posterior
from dowsax.inference.posterior import INTERVAL_PROBABILITY
from dowsax.viz.density import marginal_density
from dowsax.viz.style import BLUE, GREEN, INK, ORANGE
from dowsax.world import Parameter

_SYMBOLS = {"alpha": "α", "lambda": "λ"}
_NO_SPREAD = 1e-3
"""[m], where a spread of nothing is drawn on the logarithmic axis."""


def label(parameter: Parameter) -> str:
    """Symbol and unit, as on an axis; a dash stands for a unit the model leaves open."""
    symbol = _SYMBOLS.get(parameter.name, parameter.name)
    return f"{symbol} [{parameter.unit or '–'}]"


def draw_marginal(axes: Axes, posterior: Posterior, column: int, truth: float | None) -> None:
    """The density of one parameter, its mean and its 95 % interval."""
    parameter, values = posterior.parameters[column], posterior.samples[:, column]
    centres, density = marginal_density(values, posterior.weights)
    low, high = (float(bound[column]) for bound in posterior.interval(INTERVAL_PROBABILITY))
    axes.fill_between(centres, density, color=BLUE, alpha=0.12, linewidth=0)
    axes.fill_between(
        centres, density, where=(centres >= low) & (centres <= high), color=BLUE, alpha=0.35, linewidth=0
    )
    axes.plot(centres, density, color=BLUE, linewidth=1.2)
    axes.axvline(float(posterior.mean[column]), color=INK, linewidth=1.2)
    if truth is not None:
        axes.axvline(truth, color=GREEN, linewidth=1.8, linestyle=(0, (4, 1.5)))
    axes.set_title(parameter.meaning.split(" (")[0], pad=2)
    axes.set(xlabel=label(parameter), yticks=[], ylim=(0, 1.12))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.labelpad = 1
    axes.spines["left"].set_visible(False)


def draw_marginal_key(axes: Axes, with_truth: bool) -> None:
    """What the marginals show, in a place of its own."""
    marks = [
        Patch(facecolor=BLUE, alpha=0.45, label=f"{100 * INTERVAL_PROBABILITY:.0f} % interval"),
        Line2D([], [], color=INK, linewidth=1.2, label="mean"),
    ]
    if with_truth:
        marks.append(Line2D([], [], color=GREEN, linewidth=1.8, linestyle=(0, (4, 1.5)), label="true value"))
    axes.set_axis_off()
    axes.legend(handles=marks, loc="center left")


def draw_progress(axes: Axes, posterior: Posterior) -> None:
    """Standard deviation and credible radius [m] after each reading, with the limits that mean a stop."""
    number = np.arange(1, len(posterior.readings) + 1)
    radius = np.maximum(posterior.trace.credible_radius, _NO_SPREAD)
    spread = np.maximum(posterior.trace.std[:, :2].max(axis=1), _NO_SPREAD)
    marker = "o" if len(number) == 1 else ""
    axes.set_yscale("log")
    curves = (
        (radius, 1.0, BLUE, "95 % credible radius", "located: 1 m"),
        (spread, 0.5, ORANGE, "standard deviation, larger axis", "contracted: 0.5 m"),
    )
    for values, limit, colour, name, meaning in curves:
        axes.plot(number, values, color=colour, marker=marker, label=name)
        axes.axhline(limit, color=colour, linewidth=0.9, linestyle=":")
        axes.text(
            0.01,
            limit,
            meaning,
            transform=axes.get_yaxis_transform(),
            color=colour,
            fontsize=7.5,
            va="bottom",
        )
    least, most = min(spread.min(), 0.5), max(radius.max(), 1.0)
    axes.set(ylim=(0.7 * least, 1.5 * most), xlim=(0.5, len(number) + 0.5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(True, axis="y")
    axes.set(xlabel="reading number", ylabel="spread [m]")
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.015, 0.98), ncols=2, columnspacing=1.5, borderaxespad=0.2
    )
