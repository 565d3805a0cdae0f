"""The figures of the paper: searches on a map, stop rates by field, weights and thresholds."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from dowsax.viz.style import (
    AMBER,
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    SKY,
    error_bars,
    new_figure,
    styled,
)

_COLOURS = (BLUE, ORANGE, GREEN, SKY, INK, MUTED, PURPLE, AMBER)
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_SIDE_M = 25.0
_START_SIDE_M = 5.0


class Track(NamedTuple):
    """The path of one search."""

    positions: np.ndarray
    """(k, 2) [m]"""
    source: np.ndarray
    """(2,) [m]"""
    stopped: bool
    false: bool
    """Stopped with an error of 1 m or more."""


def trajectories(panels: Mapping[str, Sequence[Track]]) -> Figure:
    """Draw the paths from the start to the stop, a panel for each name."""
    with styled():
        columns = min(2, len(panels))
        rows = math.ceil(len(panels) / columns)
        figure = new_figure(3.9 * columns, 3.9 * rows)
        for at, (name, tracks) in enumerate(panels.items()):
            axes = figure.add_subplot(rows, columns, at + 1)
            _tracks(axes, tracks)
            stopped, false = sum(track.stopped for track in tracks), sum(track.false for track in tracks)
            axes.set_title(f"{name}: {stopped} of {len(tracks)} stopped, {false} of them false")
        figure.tight_layout()
    return figure


def _tracks(axes: Axes, tracks: Sequence[Track]) -> None:
    axes.add_patch(Rectangle((0, 0), _START_SIDE_M, _START_SIDE_M, facecolor="#eef1f4", edgecolor="none"))
    for track in tracks:
        colour = MUTED if not track.stopped else ORANGE if track.false else BLUE
        axes.plot(*track.positions.T, color=colour, linewidth=0.6, alpha=0.45)
    for kind, colour, label in (
        ([track for track in tracks if track.stopped and not track.false], BLUE, "stopped, right"),
        ([track for track in tracks if track.false], ORANGE, "stopped, false"),
        ([track for track in tracks if not track.stopped], MUTED, "no stop"),
    ):
        if kind:
            places = np.array([track.source for track in kind])
            axes.plot(*places.T, ".", color=colour, markersize=5, label=f"source: {label}")
    axes.set(xlim=(0, _SIDE_M), ylim=(0, _SIDE_M), aspect="equal", xlabel="x [m]", ylabel="y [m]")
    axes.legend(loc="lower right", fontsize=6.5)


def by_field(series: Mapping[tuple[str, str], Sequence[Any]], fields: Sequence[str], title: str) -> Figure:
    """Draw stop rates and false stops of each field: pairs of estimates, or None where missing.

    Series are named by policy and setting; the colour shows the policy, the marker the setting.
    """
    present = {names: pairs for names, pairs in series.items() if any(pair is not None for pair in pairs)}
    colours = _assign_looks((policy for policy, _ in present), _COLOURS)
    marks = _assign_looks((setting for _, setting in present), _MARKS)
    with styled():
        figure = new_figure(9.6, 4.4)
        panels = figure.subplots(1, 2, sharey=True)
        for which, (axes, heading) in enumerate(
            zip(panels, (title, "False stops, of the stops"), strict=True)
        ):
            for number, ((policy, setting), pairs) in enumerate(present.items()):
                apart = 0.7 * ((number + 0.5) / len(present) - 0.5)
                look = {"color": colours[policy], "fmt": marks[setting], "label": f"{policy}, {setting}"}
                _dots(axes, [None if pair is None else pair[which] for pair in pairs], apart, look)
            axes.set(title=heading, xlim=(-0.02, 1.02), yticks=range(len(fields)), yticklabels=fields)
            axes.grid(True, axis="x")
        panels[0].invert_yaxis()
        figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=min(4, len(present)))
        figure.tight_layout(rect=(0, 0.04 + 0.05 * math.ceil(len(present) / 4), 1, 1))
    return figure


def _assign_looks(names: Iterable[str], looks: Sequence[str]) -> dict[str, str]:
    """Assign a look to each name, in order."""
    return {name: looks[number % len(looks)] for number, name in enumerate(dict.fromkeys(names))}


def _dots(axes: Axes, estimates: Sequence[Any], apart: float, look: Mapping[str, Any]) -> None:
    """Draw the dots of one series with their intervals, shifted by `apart`."""
    known = [
        (at + apart, one) for at, one in enumerate(estimates) if one is not None and one.value is not None
    ]
    places, values = [at for at, _ in known], [one.value for _, one in known]
    axes.errorbar(
        values, places, xerr=error_bars([one for _, one in known]), markersize=3.5, linewidth=0.9, **look
    )


def weight_evolution(panels: Mapping[str, Mapping[str, np.ndarray]]) -> Figure:
    """Draw ESS / particles over readings: the median, and the 10th to 90th percentile."""
    with styled():
        figure = new_figure(4.2 * len(panels), 3.4)
        for at, (title, series) in enumerate(panels.items()):
            axes = figure.add_subplot(1, len(panels), at + 1)
            for number, (name, shares) in enumerate(series.items()):
                low, middle, high = np.quantile(shares, [0.1, 0.5, 0.9], axis=0)
                readings = np.arange(1, shares.shape[1] + 1)
                colour = _COLOURS[number % len(_COLOURS)]
                axes.plot(readings, middle, color=colour, label=name)
                axes.fill_between(readings, low, high, color=colour, alpha=0.15, linewidth=0)
            axes.set(title=title, xlabel="reading", ylabel="ESS / particles", ylim=(0, 1.02))
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.grid(True)
            axes.legend()
        figure.tight_layout()
    return figure


def threshold_curves(
    zetas: Sequence[float], theirs: Mapping[str, Sequence[float]], ours: Mapping[str, Sequence[Any]]
) -> Figure:
    """Draw stop rate and false stops over the threshold: the paper's, and ours with intervals."""
    with styled():
        figure = new_figure(8.0, 3.4)
        for at, (measure, numbers) in enumerate(theirs.items()):
            axes = figure.add_subplot(1, len(theirs), at + 1)
            axes.plot(zetas, numbers, "--", color=MUTED, label="the paper")
            for number, (name, found) in enumerate(ours.items()):
                _curve(axes, zetas, [one[measure] for one in found], _COLOURS[number], f"ours, {name}")
            axes.set(title=measure, xlabel="ζ [m]", ylim=(-0.02, 1.02))
            axes.grid(True)
            axes.legend()
        figure.tight_layout()
    return figure


def _curve(axes: Axes, zetas: Sequence[float], found: Sequence[Any], colour: str, label: str) -> None:
    known = [(zeta, one) for zeta, one in zip(zetas, found, strict=True) if one.value is not None]
    places = [zeta for zeta, _ in known]
    axes.plot(places, [one.value for _, one in known], "o-", markersize=3.5, color=colour, label=label)
    lows, highs = [one.low for _, one in known], [one.high for _, one in known]
    axes.fill_between(places, lows, highs, color=colour, alpha=0.15, linewidth=0)


class Series(NamedTuple):
    """The numbers of one policy on every field."""

    numbers: Mapping[str, Sequence[Any]]
    """By measure: an estimate per field, or None."""
    rival: bool = False
    """Drawn grey and smaller."""


def summary(
    series: Mapping[str, Series],
    measures: Mapping[str, str],
    fields: Sequence[str],
    lengths: Collection[str] = (),
) -> Figure:
    """Draw a page with a panel for each measure (with its title): all policies on all fields.

    Measures in `lengths` have a logarithmic axis.
    """
    with styled():
        figure = new_figure(11.0, 7.6)
        panels = figure.subplots(2, math.ceil(len(measures) / 2)).ravel()
        for axes, (measure, title) in zip(panels, measures.items(), strict=False):
            for number, (name, one) in enumerate(series.items()):
                _columns(axes, one, measure, number, len(series), name)
            axes.margins(y=0.06)
            axes.set(title=title, xticks=range(len(fields)))
            if measure in lengths:
                axes.set_yscale("log")
                axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axes.yaxis.set_major_formatter("{x:g}")
                axes.yaxis.set_minor_locator(NullLocator())
            else:
                axes.set_ylim(0, None)
            axes.set_xticklabels(fields, fontsize=6.5)
            axes.grid(True, axis="y")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=4)
        figure.tight_layout(rect=(0, 0.02 + 0.025 * math.ceil(len(series) / 4), 1, 1))
    return figure


def _columns(axes: Axes, series: Series, measure: str, number: int, total: int, name: str) -> None:
    """Draw the marks of one policy in one panel. A number without an interval is hollow."""
    found = series.numbers.get(measure, [])
    known = [(at, one) for at, one in enumerate(found) if one is not None and one.value is not None]
    places = [at + 0.8 * ((number + 0.5) / total - 0.5) for at, _ in known]
    values = [one.value for _, one in known]
    bare = any(one.low is None for _, one in known)
    colour = MUTED if series.rival else _COLOURS[number % len(_COLOURS)]
    axes.errorbar(
        places,
        values,
        yerr=error_bars([one for _, one in known]),
        fmt=_MARKS[number % len(_MARKS)],
        color=colour,
        markerfacecolor="white" if bare else colour,
        markersize=3.5 if series.rival else 5,
        linewidth=0.9,
        label=name,
    )
