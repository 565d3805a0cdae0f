"""Rehearsals of a site as a figure: where sources were found, when, and three missions on the way."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dowsax.mission.rehearsal import Rehearsal, SimulatedMission
from dowsax.report.findings import TRACK_COLOURS
from dowsax.site.site import Site
from dowsax.viz.maps import draw_degrees, draw_limits, draw_scale_bar
from dowsax.viz.style import BLUE, INK, MUTED, ORANGE, add_panel, new_figure, shorten_text, styled

# The layout, in inches.
_MAP_SIDE = 4.4
_LEFT, _BOTTOM, _TOP, _GAP, _PANEL, _RIGHT = 0.9, 0.95, 0.65, 0.85, 2.9, 0.2
_SMALL_GAP, _SMALL_TITLE = 0.25, 0.45
_EXAMPLES = ("a good mission", "a typical one", "a bad one")
"""Missions that are drawn: the source is a dot, the estimate a cross."""
_MIN_ASPECT = 0.6
"""The smallest ratio of the map's sides."""
_MARGIN_SHARE = 0.04
"""Margin around the area, as a share of its sides."""


def rehearsal_figure(rehearsal: Rehearsal, site: Site, paths: Sequence[Sequence[np.ndarray]]) -> Figure:
    """Draw a map of the sources, the share found over the number of readings, and three of the missions.

    `paths` are those of the searchers of each mission, (readings, 2) [m].
    """
    low, high = np.asarray(site.area, np.float64)
    # A long and narrow area lies in the middle of a map with a larger aspect.
    half = np.maximum(high - low, _MIN_ASPECT * (high - low).max()) * (0.5 + _MARGIN_SHARE)
    low, high = 0.5 * (low + high) - half, 0.5 * (low + high) + half
    width, height = _MAP_SIDE * (high - low) / (high - low).max()
    shown = _examples(rehearsal)
    small = (width + _GAP + _PANEL - (len(_EXAMPLES) - 1) * _SMALL_GAP) / len(_EXAMPLES)
    below = (small * height / width + 2 * _SMALL_GAP + _SMALL_TITLE) if shown else 0.0
    page = _LEFT + width + _GAP + _PANEL + _RIGHT, below + _BOTTOM + height + _TOP
    with styled():
        figure = new_figure(*page)
        left = add_panel(figure, _LEFT, below + _BOTTOM, width, height, "map")
        right = add_panel(figure, _LEFT + width + _GAP, below + _BOTTOM, _PANEL, height, "readings")
        for column, (label, number) in enumerate(shown.items()):
            place = _LEFT + column * (small + _SMALL_GAP), _SMALL_GAP
            axes = add_panel(figure, *place, small, small * height / width, label)
            _draw_mission(axes, label, rehearsal.missions[number], paths[number], site, low, high)
        _draw_map(left, rehearsal, site, low, high)
        _draw_readings(right, rehearsal)
        title = f"{rehearsal.name}: {rehearsal.with_source} rehearsals by {rehearsal.policy}"
        text = figure.text(_LEFT / page[0], 1 - 0.12 / page[1], title, fontsize=11, va="top")
        shorten_text(text, rehearsal.name, page[0] - _LEFT - _RIGHT)
    return figure


def _draw_map(axes: Axes, rehearsal: Rehearsal, site: Site, low: np.ndarray, high: np.ndarray) -> None:
    present = [one for one in rehearsal.missions if one.source is not None]
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    draw_limits(axes, site)
    _draw_paths(axes, site)
    groups = {
        "found": ([one for one in present if one.found and not one.wrong(rehearsal.radius)], "o", BLUE),
        "not found": ([one for one in present if not one.found], "o", "white"),
        "wrong: × estimate": ([one for one in present if one.wrong(rehearsal.radius)], "s", ORANGE),
    }
    for label, (missions, marker, colour) in groups.items():
        places = np.array([one.source for one in missions]).reshape(-1, 2)
        edge = MUTED if colour == "white" else "white"
        axes.scatter(
            *places.T, s=18, marker=marker, color=colour, edgecolor=edge, linewidth=0.7, label=label, zorder=4
        )
    for one in groups["wrong: × estimate"][0]:
        ends = np.array([one.source, one.estimate], np.float64)
        axes.plot(*ends.T, color=ORANGE, linewidth=0.9, zorder=3)
        axes.plot(*ends[1], color=ORANGE, marker="x", markersize=5, zorder=4)
    if site.start is not None:
        axes.plot(*site.start, color=INK, marker="*", markersize=9, linestyle="", label="start", zorder=5)
    draw_degrees(axes, site.coordinates, low, high)
    draw_scale_bar(axes, low, high)
    axes.set_title("Where the sources were")
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=4, handletextpad=0.2, columnspacing=1.0
    )


def _draw_paths(axes: Axes, site: Site) -> None:
    """Draw the open paths of the site."""
    for path in site.paths:
        axes.plot(*np.transpose(path.ends), color=MUTED, linewidth=1.2, zorder=2)


def _examples(rehearsal: Rehearsal) -> dict[str, int]:
    """Return the numbers of a good, a typical and a bad mission: by readings, those without a find last."""
    numbers = [number for number, one in enumerate(rehearsal.missions) if one.source is not None]
    if len(numbers) < len(_EXAMPLES):
        return {}
    missions = rehearsal.missions

    def rank(number: int) -> tuple[int, int]:
        one = missions[number]
        return 2 if one.wrong(rehearsal.radius) else 0 if one.found else 1, one.readings

    ordered = sorted(numbers, key=rank)
    places = (len(ordered) // 10, len(ordered) // 2, len(ordered) - 1 - len(ordered) // 20)
    return {label: ordered[place] for label, place in zip(_EXAMPLES, places, strict=True)}


def _draw_mission(
    axes: Axes,
    label: str,
    one: SimulatedMission,
    paths: Sequence[np.ndarray],
    site: Site,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """Draw the ways of one mission, its source and its estimate."""
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    draw_limits(axes, site)
    _draw_paths(axes, site)
    # Nobody goes from one path to the next.
    line = "" if site.paths else "-"
    for number, path in enumerate(paths):
        colour = TRACK_COLOURS[number % len(TRACK_COLOURS)] if len(paths) > 1 else BLUE
        axes.plot(*path.T, color=colour, linestyle=line, linewidth=0.8, marker=".", markersize=3, zorder=3)
        axes.plot(*path[0], color=INK, marker="*", markersize=7, linestyle="", zorder=5)
    if one.estimate is not None:
        axes.plot(*one.estimate, color=ORANGE, marker="x", markersize=6, linestyle="", zorder=5)
    if one.source is not None:
        axes.plot(*one.source, color=INK, marker="o", markersize=5, linestyle="", zorder=4)
    axes.set_title(f"{label}: {one.status},\n{one.readings} readings, {one.distance:.0f} m", fontsize=8)


def _draw_readings(axes: Axes, rehearsal: Rehearsal) -> None:
    """Draw the shares of the missions with a source by ending, over the number of readings."""
    present = [one for one in rehearsal.missions if one.source is not None]
    longest = max([one.readings for one in rehearsal.missions], default=1)
    ends = {
        "found": ([one for one in present if one.found], BLUE),
        "of these wrong": ([one for one in present if one.wrong(rehearsal.radius)], ORANGE),
        "not found": ([one for one in present if not one.found], MUTED),
    }
    for label, (missions, colour) in ends.items():
        readings = np.sort([one.readings for one in missions])
        shares = np.arange(len(readings) + 1) / max(len(present), 1)
        axes.plot(
            [0, *readings, 1.03 * longest],
            [*shares, shares[-1]],
            drawstyle="steps-post",
            color=colour,
            label=label,
        )
    axes.set(
        xlim=(0, 1.03 * longest), ylim=(0, 1.02), xlabel="readings", ylabel="share of missions with a source"
    )
    axes.grid(axis="y")
    axes.set_title("When they ended")
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, handletextpad=0.4, columnspacing=1.0
    )
