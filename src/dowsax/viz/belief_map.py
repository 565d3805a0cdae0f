"""The map: density of the source position, its regions, the path with its readings, estimate and truth."""

from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dowsax.inference import Posterior
from dowsax.viz.density import Density, highest_density_level, position_density
from dowsax.viz.reading_norm import reading_norm
from dowsax.viz.style import BLUE, DENSITY_COLOURS, GREEN, INK, MUTED, READING_COLOURS
from dowsax.world.motion import SIDE

SMALL = 0.12
"""A belief whose 95 % radius is a smaller share of the map than this is shown magnified as well."""
INSET_SIZE = 0.34
_INSET_GAP = 0.02
"""Side of the magnified part and its distance from the border, as shares of the map."""
_EDGE = 0.06
"""Share of the map within which a label below a mark, or about it, would cross the border."""
REGIONS: tuple[tuple[float, float, Literal["-", "--"]], ...] = ((0.95, 1.0, "--"), (0.5, 1.5, "-"))
"""Probability, line width and line style of the highest-density regions."""


def draw_map(axes: Axes, posterior: Posterior, truth: np.ndarray | None, unit: str) -> None:
    """Everything about the position, to scale [m]."""
    density = position_density(posterior.samples, posterior.weights)
    low, high = _limits(posterior, truth)
    _draw_position(axes, posterior, density, truth)
    path = posterior.positions
    axes.plot(path[:, 0], path[:, 1], color=MUTED, linewidth=0.9, zorder=3)
    norm = reading_norm(posterior.readings)
    readings = axes.scatter(
        path[:, 0], path[:, 1], c=posterior.readings, norm=norm, cmap=READING_COLOURS,
        s=34, edgecolors=INK, linewidths=0.6, zorder=4,
    )  # fmt: skip
    across, along = (path[0] - low) / (high - low)
    below = along > _EDGE
    axes.annotate(
        "start", path[0], xytext=(0, -7 if below else 7), textcoords="offset points", fontsize=8,
        ha="left" if across < _EDGE else "right" if across > 1 - _EDGE else "center",
        va="top" if below else "bottom", zorder=5,
    )  # fmt: skip
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x, east [m]", ylabel="y, north [m]")
    axes.set_aspect("equal")
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    bar = axes.figure.colorbar(readings, cax=axes.inset_axes((1.025, 0.0, 0.022, 1.0)))
    bar.set_label(f"reading [{unit}]" if unit else "reading [sensor unit]")
    bar.outline.set_visible(False)
    if float(posterior.credible_radius(0.95)) < SMALL * (high - low).min():
        _draw_magnified(axes, posterior, density, truth, low, high)
    _draw_key(axes, truth is not None)


def _draw_position(axes: Axes, posterior: Posterior, density: Density, truth: np.ndarray | None) -> None:
    """Density, regions, estimate and truth: what both the map and its magnified part show."""
    axes.imshow(
        density.mass, extent=density.extent, origin="lower", cmap=DENSITY_COLOURS, vmin=0,
        vmax=1.1 * density.mass.max(), interpolation="bilinear", zorder=1,
    )  # fmt: skip
    for probability, width, line in REGIONS:
        level = highest_density_level(density.mass, probability)
        axes.contour(
            density.x, density.y, density.mass, levels=[level], colors=BLUE, linewidths=width,
            linestyles=line, zorder=2,
        )  # fmt: skip
    if truth is not None:
        axes.plot(*truth, "*", color=GREEN, markersize=15, markeredgecolor="white", zorder=6)
    axes.plot(*posterior.mean[:2], "+", color="white", markersize=12, markeredgewidth=4, zorder=6)
    axes.plot(*posterior.mean[:2], "+", color=INK, markersize=11, markeredgewidth=2, zorder=7)


def _draw_magnified(
    axes: Axes,
    posterior: Posterior,
    density: Density,
    truth: np.ndarray | None,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """The neighbourhood of the estimate again, larger, in the emptiest corner of the map."""
    centre, radius = posterior.mean[:2], float(posterior.credible_radius(0.95))
    half = 1.6 * radius
    if truth is not None:
        half = max(half, min(1.15 * float(np.abs(truth - centre).max()), 3 * radius))
    shares = (np.concatenate([posterior.positions, centre[None]]) - low) / (high - low)
    size, corner = INSET_SIZE, emptiest_corner(shares)
    inset = axes.inset_axes((*corner, size, size), zorder=8)
    _draw_position(inset, posterior, density, truth)
    inset.set(xlim=(centre[0] - half, centre[0] + half), ylim=(centre[1] - half, centre[1] + half))
    inset.set_aspect("equal")
    inset.set(xticks=[], yticks=[])
    for spine in inset.spines.values():
        spine.set(visible=True, color=MUTED)
    inset.text(
        0.5, 0.02, f"{2 * half:.2g} m wide", transform=inset.transAxes, fontsize=8, ha="center", va="bottom",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
    )  # fmt: skip
    axes.indicate_inset_zoom(inset, edgecolor=MUTED, alpha=0.8)


def emptiest_corner(shares: np.ndarray) -> tuple[float, float]:
    """The corner for an inset with the least of these points, given as shares of the axes, in or near it."""
    ends = (_INSET_GAP, 1 - _INSET_GAP - INSET_SIZE)
    return min(((x, y) for x in ends for y in ends), key=lambda corner: _crowding(shares, np.array(corner)))


def _crowding(shares: np.ndarray, corner: np.ndarray) -> float:
    outside = np.maximum(np.maximum(corner - shares, shares - corner - INSET_SIZE), 0)
    return float(np.sum(np.exp(-np.linalg.norm(outside, axis=1) / 0.05)))


def _draw_key(axes: Axes, with_truth: bool) -> None:
    """What the marks mean, below the map, where it hides nothing."""
    marks = [
        Line2D([], [], color=INK, marker="+", markersize=10, markeredgewidth=2, linestyle="", label="mean"),
        *(
            Line2D(
                [], [], color=BLUE, linewidth=width, linestyle=line, label=f"{100 * probability:.0f} % region"
            )
            for probability, width, line in reversed(REGIONS)
        ),
        Patch(facecolor=BLUE, alpha=0.35, label="density"),
        Line2D(
            [],
            [],
            color=MUTED,
            marker="o",
            markerfacecolor="#fd8d3c",
            markeredgecolor=INK,
            label="path, readings",
        ),
    ]
    if with_truth:
        star = Line2D([], [], color=GREEN, marker="*", markersize=13, markeredgecolor="white", linestyle="")
        star.set_label("true position")
        marks.insert(1, star)
    axes.legend(
        handles=marks, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=len(marks),
        columnspacing=1.2, handletextpad=0.5, handlelength=1.6, borderaxespad=0.2,
    )  # fmt: skip


def _limits(posterior: Posterior, truth: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The benchmark's area when it holds everything, else a square about everything."""
    kept = posterior.samples[posterior.weights > 0, :2]
    points = [posterior.positions, kept, posterior.mean[None, :2]]
    points = np.concatenate(points if truth is None else [*points, truth[None]])
    low, high = points.min(axis=0), points.max(axis=0)
    if low.min() >= 0 and high.max() <= SIDE:
        low, high = np.zeros(2), np.full(2, SIDE)
    half = 0.5 * max(float((high - low).max()), 1.0)
    centre, margin = 0.5 * (low + high), 0.03 * half
    return centre - half - margin, centre + half + margin
