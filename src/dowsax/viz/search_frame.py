"""One picture of a search that is drawn again for every reading: a map, and curves over the readings.

The axes, their scales and the places of everything are settled once; what a reading changes is set anew.
"""

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

from dowsax.viz.belief_map import INSET_SIZE, REGIONS, SMALL, emptiest_corner
from dowsax.viz.density import Density, highest_density_level, position_density
from dowsax.viz.reading_norm import reading_norm
from dowsax.viz.search_moments import Moment
from dowsax.viz.style import BLUE, DENSITY_COLOURS, GREEN, INK, MUTED, ORANGE, READING_COLOURS, new_figure
from dowsax.world.motion import SIDE

# The layout, in inches.
_WIDTH, _HEIGHT = 9.0, 5.0
_LEFT, _BOTTOM, _MAP = 0.52, 0.5, 3.78
_RIGHT, _BREADTH = 5.72, 3.1
_MARGIN = 0.4
"""[m], shown around the search area."""
_NEAR_EDGE = np.array([0.17, 0.08])
"""Shares of the map's sides within which the label of the truth would cross the right or the upper border."""


class Subject(NamedTuple):
    """What is searched, how, and by which rule it stops."""

    title: str
    unit: str
    """Of the readings, or empty."""
    contraction: float | None
    """[m], if the search stops below this spread."""
    credible: float | None
    """If it stops at this probability of being within 1 m."""


class Truth(NamedTuple):
    """What is told at the end alone."""

    position: np.ndarray
    """(2,) [m]"""
    verdict: str


class _PositionArtists:
    """Density, regions and mean in one axes: for the map and for its magnified part."""

    def __init__(self, axes: Axes, cross: float) -> None:
        self.axes = axes
        self.image = axes.imshow(
            np.zeros((2, 2)), origin="lower", cmap=DENSITY_COLOURS, interpolation="bilinear", zorder=1
        )
        self.regions: list[Artist] = []
        self.crosses = [
            axes.plot([], [], "+", color=colour, markersize=cross + more, markeredgewidth=width, zorder=7)[0]
            for colour, more, width in (("white", 1, 3.4), (INK, 0, 2))
        ]
        (self.star,) = axes.plot([], [], "*", color=GREEN, markersize=17, markeredgecolor="white", zorder=6)

    def artists(self) -> list[Artist]:
        return [self.image, *self.regions, *self.crosses, self.star]

    def update(self, density: Density | None, mean: np.ndarray, truth: np.ndarray | None) -> None:
        for region in self.regions:
            region.remove()
        self.regions = []
        self.image.set_visible(density is not None)
        for cross in self.crosses:
            cross.set_data(*((mean[:1], mean[1:]) if density is not None else ([], [])))
        self.star.set_data(*((truth[:1], truth[1:]) if truth is not None else ([], [])))
        if density is None:
            return
        self.image.set(data=density.mass, extent=density.extent, clim=(0, 1.1 * density.mass.max()))
        for probability, width, line in REGIONS:
            level = highest_density_level(density.mass, probability)
            region = self.axes.contour(
                density.x, density.y, density.mass, levels=[level], colors=BLUE, linewidths=width,
                linestyles=line, zorder=2,
            )  # fmt: skip
            self.regions.append(region)


class SearchFrame:
    """A figure of 9 × 5 inch that shows a search up to any of its readings. To be used in `styled()`."""

    def __init__(self, subject: Subject, moments: Sequence[Moment]) -> None:
        self.subject, self.moments = subject, moments
        self.figure: Figure = new_figure(_WIDTH, _HEIGHT)
        self._lay_out_map()
        self._lay_out_curves()
        head = (_LEFT / _WIDTH, 1 - 0.1 / _HEIGHT)
        self.heading = self.figure.text(*head, "", fontsize=10, va="top", linespacing=1.4)

    def draw(self, count: int, truth: Truth | None = None) -> Figure:
        """Show the first `count` readings, and the truth if it is told."""
        shown = self.moments[:count]
        newest = shown[-1]
        place = None if truth is None else truth.position
        self.heading.set_text(f"{self.subject.title}\n{_status(newest) if truth is None else truth.verdict}")
        density = position_density(newest.points, newest.weights) if newest.living else None
        self.position.update(density, newest.mean, place)
        self._update_path(shown, place)
        self._update_magnified(newest, density, place)
        self._update_curves(shown)
        return self.figure

    def moving(self) -> list[Artist]:
        """All that differs between readings, in the order in which to draw it over what does not."""
        parts = [
            *self.position.artists(), self.path, self.readings, self.sensor, self.told, self.outline,
            self.inset, *self.curves, self.line, self.dots, self.heading,
        ]  # fmt: skip
        return sorted(parts, key=lambda part: part.get_zorder())

    def _lay_out_map(self) -> None:
        axes = self.axes = _panel(self.figure, _LEFT, _BOTTOM, _MAP, _MAP)
        self.position = _PositionArtists(axes, cross=11.0)
        self.norm = reading_norm(np.array([moment.reading for moment in self.moments]))
        (self.path,) = axes.plot([], [], color=MUTED, linewidth=0.9, zorder=3)
        self.readings = axes.scatter(
            [], [], c=[], norm=self.norm, cmap=READING_COLOURS, s=24, edgecolors=INK, linewidths=0.5, zorder=4
        )
        (self.sensor,) = axes.plot(
            [], [], "o", color="none", markeredgecolor=ORANGE, markeredgewidth=2, markersize=12, zorder=5
        )
        self.told = axes.annotate(
            "truth",
            (0, 0),
            xytext=(9, 5),
            textcoords="offset points",
            color=GREEN,
            weight="bold",
            zorder=9,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
        )
        limits = (-_MARGIN, SIDE + _MARGIN)
        axes.set(xlim=limits, ylim=limits, xlabel="x, east [m]", ylabel="y, north [m]")
        axes.set_aspect("equal")
        for side in ("top", "right"):
            axes.spines[side].set_visible(True)
        colours = ScalarMappable(self.norm, READING_COLOURS)
        bar = self.figure.colorbar(colours, cax=axes.inset_axes((1.03, 0.0, 0.025, 1.0)))
        bar.set_label(f"reading [{self.subject.unit or 'sensor unit'}]")
        bar.outline.set_visible(False)
        places = np.stack([moment.position for moment in self.moments] + [self.moments[-1].mean])
        corner = emptiest_corner((places + _MARGIN) / (SIDE + 2 * _MARGIN))
        self.inset = axes.inset_axes((*corner, INSET_SIZE, INSET_SIZE), zorder=8)
        self.outline = axes.add_patch(
            Rectangle((0, 0), 1, 1, fill=False, edgecolor=MUTED, linewidth=0.8, zorder=5)
        )
        self.magnified = _PositionArtists(self.inset, cross=9.0)
        self.inset.set(xticks=[], yticks=[])
        for spine in self.inset.spines.values():
            spine.set(visible=True, color=MUTED)
        self.scale = self.inset.text(
            0.5, 0.03, "", transform=self.inset.transAxes, fontsize=7.5, ha="center", va="bottom", zorder=9,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0},
        )  # fmt: skip
        _draw_key(axes)

    def _update_path(self, shown: Sequence[Moment], truth: np.ndarray | None) -> None:
        places = np.stack([moment.position for moment in shown])
        self.path.set_data(places[:, 0], places[:, 1])
        self.readings.set(offsets=places, array=np.array([moment.reading for moment in shown]))
        self.sensor.set_data(places[-1:, 0], places[-1:, 1])
        self.told.set_visible(truth is not None)
        if truth is not None:
            self.told.xy = tuple(truth)
            # On the side of its mark that is towards the middle, where it does not cross the border.
            right, top = truth > SIDE * (1 - _NEAR_EDGE)
            self.told.set(
                position=(-9 if right else 9, -5 if top else 5),
                ha="right" if right else "left",
                va="top" if top else "baseline",
            )

    def _update_magnified(self, newest: Moment, density: Density | None, truth: np.ndarray | None) -> None:
        """The neighbourhood of the mean again, larger, once the belief is small."""
        small = density is not None and newest.radius < SMALL * SIDE
        self.inset.set_visible(small)
        self.outline.set_visible(small)
        if not small:
            return
        half = 1.6 * max(newest.radius, 1e-3)
        if truth is not None:
            half = max(half, min(1.15 * float(np.abs(truth - newest.mean).max()), 3 * newest.radius))
        self.magnified.update(density, newest.mean, truth)
        (x, y) = newest.mean
        self.inset.set(xlim=(x - half, x + half), ylim=(y - half, y + half))
        self.outline.set(xy=(x - half, y - half), width=2 * half, height=2 * half)
        self.scale.set_text(f"{2 * half:.2g} m wide")

    def _lay_out_curves(self) -> None:
        """Spread, probability and readings, one above the other on one axis of reading numbers."""
        numbers = (0.5, len(self.moments) + 0.5)
        heights, gap = (1.2, 1.0, 0.98), 0.3
        tops = _BOTTOM + _MAP - np.concatenate([[0], np.cumsum(heights[:-1]) + gap * np.arange(1, 3)])
        spread, mass, readings = (
            _panel(self.figure, _RIGHT, top - height, _BREADTH, height)
            for top, height in zip(tops, heights, strict=True)
        )
        _lay_out_spread(spread, self.moments, self.subject.contraction)
        _lay_out_mass(mass, self.subject.credible)
        _lay_out_readings(readings, self.moments, self.norm, self.subject.unit)
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

    def _update_curves(self, shown: Sequence[Moment]) -> None:
        numbers = np.array([moment.number for moment in shown])
        spreads = np.array([moment.spread if moment.living else np.nan for moment in shown])
        values = np.array([moment.reading for moment in shown])
        self.curves[0].set_data(numbers, spreads)
        self.curves[1].set_data(numbers, [moment.mass for moment in shown])
        self.line.set_data(numbers, values)
        self.dots.set(offsets=np.stack([numbers, values], axis=1), array=values)


def _status(newest: Moment) -> str:
    walked = f"reading {newest.number}, {newest.path_length:.0f} m walked"
    if not newest.living:
        return f"{walked}: no particle explains the readings"
    (x, y) = newest.mean
    return f"{walked}: source at ({x:.1f}, {y:.1f}) ± {newest.spread:.1f} m"


def _lay_out_spread(axes: Axes, moments: Sequence[Moment], stop: float | None) -> None:
    finite = [moment.spread for moment in moments if moment.living and moment.spread > 0] or [1.0]
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
    """A dotted line, coloured where the search stops by it."""
    colour = MUTED if stop is None else colour
    axes.axhline(level, color=colour, linewidth=1.1, linestyle=":")
    axes.annotate(
        meaning, (0.01, level), xycoords=("axes fraction", "data"), xytext=(0, -3),
        textcoords="offset points", color=colour, fontsize=7.5, va="top",
    )  # fmt: skip


def _lay_out_readings(axes: Axes, moments: Sequence[Moment], norm: Normalize, unit: str) -> None:
    """The readings on the scale of their colours."""
    values = np.array([moment.reading for moment in moments])
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
    """Zero and at most four powers of ten above the linear part of a scale."""
    exponents = np.arange(np.ceil(np.log10(linear)), np.floor(np.log10(max(high, linear))) + 1)
    return [0.0, *(10.0 ** exponents[:: -(-len(exponents) // 4) or 1])]


def _draw_key(axes: Axes) -> None:
    """What the marks mean, above the map."""
    marks = [
        Line2D([], [], color=INK, marker="+", markersize=9, markeredgewidth=2, linestyle="", label="mean"),
        Line2D(
            [], [], color="none", marker="o", markeredgecolor=ORANGE, markeredgewidth=2, markersize=9,
            label="sensor",
        ),
        *(
            Line2D([], [], color=BLUE, linewidth=width, linestyle=line, label=f"{100 * share:.0f} % region")
            for share, width, line in reversed(REGIONS)
        ),
    ]  # fmt: skip
    axes.legend(
        handles=marks, loc="lower left", bbox_to_anchor=(-0.015, 0.995), ncols=len(marks),
        columnspacing=1.2, handletextpad=0.5, handlelength=1.6, borderaxespad=0.2,
    )  # fmt: skip


def _panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    return figure.add_axes((left / _WIDTH, bottom / _HEIGHT, width / _WIDTH, height / _HEIGHT))
