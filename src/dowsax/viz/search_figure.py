"""A figure of a search that is updated for every reading: a map, and curves over the readings."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, SymLogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from dowsax.viz.density import Density, position_density
from dowsax.viz.maps import (
    INSET_SIZE,
    MAX_INSET_RADIUS,
    PositionArtists,
    draw_key_above,
    draw_reading_scale,
    emptiest_corner,
    inset_half_width,
    inset_label,
    mean_and_region_marks,
    style_inset,
    style_map,
)
from dowsax.viz.reading_norm import reading_norm
from dowsax.viz.search_snapshots import Snapshot
from dowsax.viz.style import BLUE, GREEN, INK, MUTED, ORANGE, READING_COLOURS, add_panel, new_figure
from dowsax.world.motion import AREA_SIDE_M

# The layout, in inches.
_WIDTH, _HEIGHT = 9.0, 5.0
_LEFT, _BOTTOM, _MAP_SIDE = 0.52, 0.5, 3.78
_PANELS_LEFT, _PANELS_WIDTH = 5.72, 3.1
_MARGIN_M = 0.4
"""Shown around the search area."""
_LABEL_SHARES = np.array([0.17, 0.08])
"""Shares of the map's sides within which the label of the truth would cross the right or the upper border."""


class Subject(NamedTuple):
    """Title and unit of a search, and its stop rule."""

    title: str
    unit: str
    """Of the readings, or empty."""
    contraction: float | None
    """[m], if the search stops below this spread."""
    credible: float | None
    """If it stops at this probability of being within 1 m."""


class Truth(NamedTuple):
    """What is shown only at the end."""

    position: np.ndarray
    """(2,) [m]"""
    verdict: str


class SearchFigure:
    """A figure of 9 × 5 inch that shows a search up to any of its readings. Use it in `styled()`."""

    def __init__(self, subject: Subject, snapshots: Sequence[Snapshot]) -> None:
        self.subject, self.snapshots = subject, snapshots
        self.figure: Figure = new_figure(_WIDTH, _HEIGHT)
        self._lay_out_map()
        self._lay_out_curves()
        head = (_LEFT / _WIDTH, 1 - 0.1 / _HEIGHT)
        self.heading = self.figure.text(*head, "", fontsize=10, va="top", linespacing=1.4)

    def draw(self, count: int, truth: Truth | None = None) -> Figure:
        """Show the first `count` readings, and the truth if given."""
        shown = self.snapshots[:count]
        newest = shown[-1]
        place = None if truth is None else truth.position
        self.heading.set_text(f"{self.subject.title}\n{_status(newest) if truth is None else truth.verdict}")
        density = position_density(newest.points, newest.weights) if newest.has_particles else None
        self.position.update(density, newest.mean, place)
        self._update_path(shown, place)
        self._update_inset(newest, density, place)
        self._update_curves(shown)
        return self.figure

    def changing_artists(self) -> list[Artist]:
        """Return the artists that differ between readings, in drawing order."""
        parts = [
            *self.position.artists(), self.path, self.readings, self.sensor, self.truth_label, self.outline,
            self.inset, *self.curves, self.line, self.dots, self.heading,
        ]  # fmt: skip
        return sorted(parts, key=lambda part: part.get_zorder())

    def _lay_out_map(self) -> None:
        axes = self.axes = add_panel(self.figure, _LEFT, _BOTTOM, _MAP_SIDE, _MAP_SIDE)
        self.position = PositionArtists(axes, star=17.0)
        self.norm = reading_norm(np.array([snapshot.reading for snapshot in self.snapshots]))
        (self.path,) = axes.plot([], [], color=MUTED, linewidth=0.9, zorder=3)
        self.readings = axes.scatter(
            [], [], c=[], norm=self.norm, cmap=READING_COLOURS, s=24, edgecolors=INK, linewidths=0.5, zorder=4
        )
        (self.sensor,) = axes.plot(
            [], [], "o", color="none", markeredgecolor=ORANGE, markeredgewidth=2, markersize=12, zorder=5
        )
        self.truth_label = axes.annotate(
            "truth",
            (0, 0),
            xytext=(9, 5),
            textcoords="offset points",
            color=GREEN,
            weight="bold",
            zorder=9,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
        )
        limits = (-_MARGIN_M, AREA_SIDE_M + _MARGIN_M)
        axes.set(xlim=limits, ylim=limits)
        style_map(axes)
        draw_reading_scale(axes, ScalarMappable(self.norm, READING_COLOURS), self.subject.unit)
        places = np.stack([snapshot.position for snapshot in self.snapshots] + [self.snapshots[-1].mean])
        corner = emptiest_corner((places + _MARGIN_M) / (AREA_SIDE_M + 2 * _MARGIN_M))
        self.inset = axes.inset_axes((*corner, INSET_SIZE, INSET_SIZE), zorder=8)
        self.outline = axes.add_patch(
            Rectangle((0, 0), 1, 1, fill=False, edgecolor=MUTED, linewidth=0.8, zorder=5)
        )
        self.magnified = PositionArtists(self.inset, cross=9.0, star=17.0)
        self.scale = style_inset(self.inset)
        _draw_key(axes)

    def _update_path(self, shown: Sequence[Snapshot], truth: np.ndarray | None) -> None:
        places = np.stack([snapshot.position for snapshot in shown])
        self.path.set_data(places[:, 0], places[:, 1])
        self.readings.set(offsets=places, array=np.array([snapshot.reading for snapshot in shown]))
        self.sensor.set_data(places[-1:, 0], places[-1:, 1])
        self.truth_label.set_visible(truth is not None)
        if truth is not None:
            self.truth_label.xy = tuple(truth)
            # On the inner side of its mark, where it does not cross the border.
            right, top = truth > AREA_SIDE_M * (1 - _LABEL_SHARES)
            self.truth_label.set(
                position=(-9 if right else 9, -5 if top else 5),
                ha="right" if right else "left",
                va="top" if top else "baseline",
            )

    def _update_inset(self, newest: Snapshot, density: Density | None, truth: np.ndarray | None) -> None:
        """Show the neighbourhood of the mean magnified, once the belief is small."""
        small = density is not None and newest.radius < MAX_INSET_RADIUS * AREA_SIDE_M
        self.inset.set_visible(small)
        self.outline.set_visible(small)
        if not small:
            return
        half = inset_half_width(newest.mean, newest.radius, truth)
        self.magnified.update(density, newest.mean, truth)
        (x, y) = newest.mean
        self.inset.set(xlim=(x - half, x + half), ylim=(y - half, y + half))
        self.outline.set(xy=(x - half, y - half), width=2 * half, height=2 * half)
        self.scale.set_text(inset_label(2 * half))

    def _lay_out_curves(self) -> None:
        """Add panels of spread, probability and readings over the reading number."""
        numbers = (0.5, len(self.snapshots) + 0.5)
        heights, gap = (1.2, 1.0, 0.98), 0.3
        tops = _BOTTOM + _MAP_SIDE - np.concatenate([[0], np.cumsum(heights[:-1]) + gap * np.arange(1, 3)])
        spread, mass, readings = (
            add_panel(self.figure, _PANELS_LEFT, top - height, _PANELS_WIDTH, height)
            for top, height in zip(tops, heights, strict=True)
        )
        _lay_out_spread(spread, self.snapshots, self.subject.contraction)
        _lay_out_mass(mass, self.subject.credible)
        _lay_out_readings(readings, self.snapshots, self.norm, self.subject.unit)
        for axes in (spread, mass, readings):
            axes.set_xlim(*numbers)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.grid(True, axis="y")
        for axes in (spread, mass):
            axes.set_xticklabels([])
        readings.set_xlabel("reading number")
        self.curves = [
            axes.plot([], [], color=colour, marker="o", markersize=3.5, markevery=[-1])[0]
            for axes, colour in ((spread, ORANGE), (mass, BLUE))
        ]
        (self.line,) = readings.plot([], [], color=MUTED, linewidth=0.9)
        self.dots = readings.scatter(
            [], [], c=[], norm=self.norm, cmap=READING_COLOURS, s=14, edgecolors=INK, linewidths=0.5, zorder=4
        )

    def _update_curves(self, shown: Sequence[Snapshot]) -> None:
        numbers = np.array([snapshot.number for snapshot in shown])
        spreads = np.array([snapshot.spread if snapshot.has_particles else np.nan for snapshot in shown])
        values = np.array([snapshot.reading for snapshot in shown])
        self.curves[0].set_data(numbers, spreads)
        self.curves[1].set_data(numbers, [snapshot.mass for snapshot in shown])
        self.line.set_data(numbers, values)
        self.dots.set(offsets=np.stack([numbers, values], axis=1), array=values)


def _status(newest: Snapshot) -> str:
    walked = f"reading {newest.number}, {newest.path_length:.0f} m walked"
    if not newest.has_particles:
        return f"{walked}: no particle explains the readings"
    (x, y) = newest.mean
    return f"{walked}: source at ({x:.1f}, {y:.1f}) ± {newest.spread:.1f} m"


def _lay_out_spread(axes: Axes, snapshots: Sequence[Snapshot], stop: float | None) -> None:
    finite = [
        snapshot.spread for snapshot in snapshots if snapshot.has_particles and snapshot.spread > 0
    ] or [1.0]
    level = 0.5 if stop is None else stop
    axes.set_yscale("log")
    axes.set(ylim=(0.6 * min(*finite, level), 1.5 * max(*finite, level)), ylabel="spread [m]")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_title("larger standard deviation of x and y", pad=3)
    _draw_threshold(
        axes, level, ORANGE, f"stop below {level:g} m" if stop is not None else f"{level:g} m", stop
    )


def _lay_out_mass(axes: Axes, stop: float | None) -> None:
    level = 0.95 if stop is None else stop
    axes.set(ylim=(0, 1.06), ylabel="probability", yticks=(0, 0.5, 1))
    axes.set_title("P(source within 1 m of the mean)", pad=3)
    _draw_threshold(axes, level, BLUE, f"stop from {level:g}" if stop is not None else f"{level:g}", stop)


def _draw_threshold(axes: Axes, level: float, colour: str, meaning: str, stop: float | None) -> None:
    """Draw a dotted line, coloured if the search stops by it."""
    colour = MUTED if stop is None else colour
    axes.axhline(level, color=colour, linewidth=1.1, linestyle=":")
    axes.annotate(
        meaning, (0.01, level), xycoords=("axes fraction", "data"), xytext=(0, -3),
        textcoords="offset points", color=colour, fontsize=7.5, va="top",
    )  # fmt: skip


def _lay_out_readings(axes: Axes, snapshots: Sequence[Snapshot], norm: Normalize, unit: str) -> None:
    """Give the readings the scale of their colours."""
    values = np.array([snapshot.reading for snapshot in snapshots])
    low, high = float(values.min()), float(values.max())
    if isinstance(norm, SymLogNorm):
        linear = float(norm.linthresh)
        axes.set_yscale("symlog", linthresh=linear, linscale=0.4)
        axes.set_ylim(1.6 * low - 0.4 * linear if low < 0 else -0.4 * linear, 1.8 * high)
        axes.set_yticks(_decades(linear, high))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        room = 0.12 * (high - low) or 0.5
        axes.set_ylim(low - room, high + room)
        axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.set_title("reading", pad=3)
    axes.set_ylabel(f"[{unit or 'sensor unit'}]")


def _decades(linear: float, high: float) -> list[float]:
    """Return zero and at most four powers of ten above the linear part of a scale."""
    exponents = np.arange(np.ceil(np.log10(linear)), np.floor(np.log10(max(high, linear))) + 1)
    return [0.0, *(10.0 ** exponents[:: -(-len(exponents) // 4) or 1])]


def _draw_key(axes: Axes) -> None:
    """Draw the key above the map."""
    marks = mean_and_region_marks()
    sensor = Line2D([], [], color="none", marker="o", markeredgecolor=ORANGE, markeredgewidth=2, markersize=9)
    sensor.set_label("sensor")
    draw_key_above(axes, [marks[0], sensor, *marks[1:]])
