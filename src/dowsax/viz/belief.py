"""The belief after a survey as a figure: map, marginals of the other parameters, and spread over readings."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from dowsax.inference import Posterior
from dowsax.inference.posterior import INTERVAL_PROBABILITY
from dowsax.report.findings import source_places
from dowsax.viz.density import Density, marginal_density, position_density
from dowsax.viz.maps import (
    INSET_SIZE,
    MAX_INSET_RADIUS,
    PositionArtists,
    draw_key_above,
    draw_reading_scale,
    emptiest_corner,
    inset_half_width,
    mean_and_region_marks,
    style_inset,
    style_map,
)
from dowsax.viz.reading_norm import reading_norm
from dowsax.viz.style import BLUE, GREEN, INK, MUTED, ORANGE, READING_COLOURS, add_panel, new_figure, styled
from dowsax.world import Parameter
from dowsax.world.motion import AREA_SIDE_M

# The layout, in inches.
_WIDTH, _HEIGHT = 12.0, 6.8
_LEFT, _BOTTOM, _TOP, _MAP_SIDE = 0.62, 0.55, 6.05, 5.25
_PANELS_LEFT, _PANELS_WIDTH, _PANEL_GAP, _MARGINALS_BOTTOM = 7.35, 4.45, 0.35, 2.3
_NUM_COLUMNS = 2
_EDGE_SHARE = 0.06
"""Share of the map within which the label of the start would cross the border."""
_SYMBOLS = {"alpha": "α", "lambda": "λ"}
_MIN_SPREAD_M = 1e-3
"""A spread of 0 is drawn here on the logarithmic axis."""


def belief_figure(
    posterior: Posterior,
    truth: Sequence[float] | np.ndarray | None = None,
    title: str | None = None,
    unit: str = "",
    verdict: str | None = None,
) -> Figure:
    """Draw a map of the belief with the path, marginals of the other parameters, and spread over readings.

    Parameters
    ----------
    truth
        The true position, or the whole true Θ, of a simulation.
    unit
        The unit of the readings.
    verdict
        The heading. Default: the posterior's verdict.
    """
    if posterior.is_batch:
        raise ValueError("A figure shows one survey: locate the surveys of a batch one by one to draw them.")
    if len(posterior.position_columns) != 2:
        raise ValueError("A figure shows positions in the plane: draw the samples of another one yourself.")
    known = None if truth is None else np.asarray(truth, np.float64)
    if known is not None and known.shape not in ((2,), posterior.mean.shape):
        raise ValueError(
            f"`truth` must be a position (2,) or a whole Θ {posterior.mean.shape}; got {known.shape}."
        )
    verdict = posterior.verdict() if verdict is None else verdict
    heading = verdict if title is None else f"{title}\n{verdict}"
    with styled():
        figure = new_figure(_WIDTH, _HEIGHT)
        _draw_map(
            add_panel(figure, _LEFT, _BOTTOM, _MAP_SIDE, _MAP_SIDE),
            posterior,
            None if known is None else known if known.shape == (2,) else posterior.position(known),
            unit,
        )
        _draw_marginals(figure, posterior, known)
        _draw_progress(add_panel(figure, _PANELS_LEFT, _BOTTOM, _PANELS_WIDTH, 1.5), posterior)
        figure.text(_LEFT / _WIDTH, 1 - 0.12 / _HEIGHT, heading, fontsize=11, va="top", linespacing=1.35)
    return figure


def _draw_marginals(figure: Figure, posterior: Posterior, truth: np.ndarray | None) -> None:
    """Draw one small panel per parameter besides the position, and a key after them."""
    positions = {*posterior.position_columns, *(at for own in posterior.source_columns for at in own[:2])}
    columns = [at for at in range(len(posterior.names)) if at not in positions]
    others = len(columns)
    if others == 0:
        return
    rows = others // _NUM_COLUMNS + 1
    width, pitch = (_PANELS_WIDTH - _PANEL_GAP) / _NUM_COLUMNS, (_TOP - _MARGINALS_BOTTOM) / rows
    values = truth if truth is not None and truth.shape == posterior.mean.shape else None
    for place in range(others + 1):
        row, column = divmod(place, _NUM_COLUMNS)
        left, bottom = _PANELS_LEFT + column * (width + _PANEL_GAP), _TOP - (row + 1) * pitch + 0.45
        panel = add_panel(figure, left, bottom, width, min(pitch, 1.6) - 0.68)
        if place < others:
            at = columns[place]
            draw_marginal(panel, posterior, at, None if values is None else float(values[at]))
        else:
            draw_marginal_key(panel, values is not None)


def _draw_map(axes: Axes, posterior: Posterior, truth: np.ndarray | None, unit: str) -> None:
    """Draw everything about the position, to scale [m]."""
    density = position_density(*source_places(posterior))
    low, high = _limits(posterior, truth)
    PositionArtists(axes).update(density, posterior.source_positions(posterior.mean), truth)
    path = posterior.places
    axes.plot(path[:, 0], path[:, 1], color=MUTED, linewidth=0.9, zorder=3)
    readings = axes.scatter(
        path[:, 0], path[:, 1], c=posterior.readings, norm=reading_norm(posterior.readings),
        cmap=READING_COLOURS, s=34, edgecolors=INK, linewidths=0.6, zorder=4,
    )  # fmt: skip
    across, along = (path[0] - low) / (high - low)
    below = along > _EDGE_SHARE
    axes.annotate(
        "start", path[0], xytext=(0, -7 if below else 7), textcoords="offset points", fontsize=8,
        ha="left" if across < _EDGE_SHARE else "right" if across > 1 - _EDGE_SHARE else "center",
        va="top" if below else "bottom", zorder=5,
    )  # fmt: skip
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    style_map(axes)
    draw_reading_scale(axes, readings, unit)
    if (
        posterior.num_sources == 1
        and float(posterior.credible_radius(0.95)) < MAX_INSET_RADIUS * (high - low).min()
    ):
        _draw_inset(axes, posterior, density, truth, low, high)
    marks = mean_and_region_marks()
    if truth is not None:
        star = Line2D([], [], color=GREEN, marker="*", markersize=13, markeredgecolor="white", linestyle="")
        star.set_label("true position")
        marks.insert(1, star)
    dots = Line2D([], [], color=MUTED, marker="o", markerfacecolor="#fd8d3c", markeredgecolor=INK)
    dots.set_label("path, readings")
    draw_key_above(axes, [*marks, Patch(facecolor=BLUE, alpha=0.35, label="density"), dots])


def _draw_inset(
    axes: Axes,
    posterior: Posterior,
    density: Density,
    truth: np.ndarray | None,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """Draw the neighbourhood of the estimate again, magnified, in the emptiest corner of the map."""
    (x, y), radius = posterior.position(posterior.mean), float(posterior.credible_radius(0.95))
    half = inset_half_width(posterior.position(posterior.mean), radius, truth)
    shares = (np.concatenate([posterior.places, posterior.position(posterior.mean)[None]]) - low) / (
        high - low
    )
    inset = axes.inset_axes((*emptiest_corner(shares), INSET_SIZE, INSET_SIZE), zorder=8)
    PositionArtists(inset).update(density, posterior.position(posterior.mean), truth)
    inset.set(xlim=(x - half, x + half), ylim=(y - half, y + half))
    inset.set_aspect("equal")
    style_inset(inset, 2 * half)
    axes.indicate_inset_zoom(inset, edgecolor=MUTED, alpha=0.8)


def _limits(posterior: Posterior, truth: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the benchmark's area if it holds everything, else a square around everything."""
    particles = posterior.source_positions(posterior.samples[posterior.weights > 0]).reshape(-1, 2)
    points = [posterior.places, particles, posterior.position(posterior.mean)[None]]
    points = np.concatenate(points if truth is None else [*points, truth[None]])
    low, high = points.min(axis=0), points.max(axis=0)
    if low.min() >= 0 and high.max() <= AREA_SIDE_M:
        low, high = np.zeros(2), np.full(2, AREA_SIDE_M)
    half = 0.5 * max(float((high - low).max()), 1.0)
    centre, margin = 0.5 * (low + high), 0.03 * half
    return centre - half - margin, centre + half + margin


def label(parameter: Parameter) -> str:
    """Return symbol and unit of a parameter, as on an axis; a dash where the model has no unit."""
    symbol = _SYMBOLS.get(parameter.name, parameter.name)
    return f"{symbol} [{parameter.unit or '–'}]"


def draw_marginal(axes: Axes, posterior: Posterior, column: int, truth: float | None) -> None:
    """Draw the density of one parameter, its mean and its 95 % interval."""
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
    """Draw the key of the marginals in axes of its own."""
    marks = [
        Patch(facecolor=BLUE, alpha=0.45, label=f"{100 * INTERVAL_PROBABILITY:.0f} % interval"),
        Line2D([], [], color=INK, linewidth=1.2, label="mean"),
    ]
    if with_truth:
        marks.append(Line2D([], [], color=GREEN, linewidth=1.8, linestyle=(0, (4, 1.5)), label="true value"))
    axes.set_axis_off()
    axes.legend(handles=marks, loc="center left")


def _draw_progress(axes: Axes, posterior: Posterior) -> None:
    """Draw standard deviation and credible radius [m] after each reading, with the limits of a stop."""
    number = np.arange(1, len(posterior.readings) + 1)
    radius = np.maximum(posterior.trace.credible_radius, _MIN_SPREAD_M)
    spread = np.maximum(posterior.source_positions(posterior.trace.std).max(axis=(1, 2)), _MIN_SPREAD_M)
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
