"""The map of a survey: track, readings, regions, estimate, wind, geofence, to scale and with north up."""

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch as Swatch
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from dowsax.report.findings import Findings
from dowsax.report.regions import Region
from dowsax.report.summary import verdict
from dowsax.viz.belief_map import INSET_SIZE, emptiest_corner, reading_norm
from dowsax.viz.map_marks import draw_compass, draw_degrees, draw_limits, draw_scale_bar
from dowsax.viz.style import BLUE, GREEN, INK, MUTED, ORANGE, READING_COLOURS, new_figure, shorten, styled

_LONGEST = 6.6
"""[inch], the longer side of the map."""
_FLATTEST = 0.6
"""The least ratio of the map's sides."""
_LEFT, _BOTTOM, _MARGIN = 0.95, 0.55, 0.1
_TITLE, _LINE = 0.48, 0.18
"""[inch], above the map: its name, and each line of the verdict."""
_COLUMN, _GAP, _BAR = 1.75, 0.12, 0.14
"""[inch], what stands beside the map: a colour bar, then a column of marks."""
_ARROWS = 16
"""How many readings at most show the wind measured with them."""
_MARK, _LEAST_ROOM = 0.22, 0.8
"""[inch], each mark in the key, and the least height of what stands below it."""
_SMALL = 0.05
"""A 95 % radius that is a smaller share of the map than this is shown magnified as well."""
_RING = 13.0
"""[points], across the mark of the estimate: wider than that of a reading."""
_NO_SOURCE = ("no-evidence", "misfit")
"""States in which the regions are those of a source that may not be there, or not as the model has it."""
_GUESSES = {
    "inconclusive": "guess: cannot tell yet",
    "no-evidence": "guess: no source",
    "misfit": "guess: nothing fits",
}
_SHADES = {0.95: (0.18, 1.1, "--"), 0.5: (0.42, 1.6, "-")}
"""Opacity of the filling, width and style of the border of each region."""


def survey_map(findings: Findings, *, titled: bool = True) -> Figure:
    """Everything that has a place, on one map; its title is the name and the verdict."""
    low, high = _limits(findings)
    width, height = _LONGEST * (high - low) / (high - low).max()
    across = _LEFT + width + _GAP + _BAR + 0.75 + _COLUMN
    words = textwrap.wrap(verdict(findings), int((across - _LEFT) * 14)) if titled else []
    page = across, _BOTTOM + height + (_TITLE + _LINE * len(words) if titled else _MARGIN)
    with styled():
        figure = new_figure(*page)
        axes = figure.add_axes(
            (_LEFT / page[0], _BOTTOM / page[1], width / page[0], height / page[1]), label="map"
        )
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        for side in ("top", "right"):
            axes.spines[side].set_visible(True)
        draw_limits(axes, findings)
        _draw_belief(axes, findings)
        _draw_readings(axes, findings, page, width, height)
        _draw_waypoints(axes, findings)
        draw_degrees(axes, findings.coordinates, low, high)
        draw_scale_bar(axes, low, high)
        right = (_LEFT + width + _GAP + _BAR + 0.75) / page[0]
        compass = figure.add_axes(
            (right, (_BOTTOM + height - 1.75) / page[1], 1.45 / page[0], 1.75 / page[1]), label="compass"
        )
        draw_compass(compass, *_wind(findings))
        marks = _draw_key(figure, findings, right, (_BOTTOM + height - 1.95) / page[1])
        room = height - 1.95 - _MARK * marks
        beside = (right, _BOTTOM / page[1], 1.55 / page[0], min(room, 1.55) / page[1])
        _draw_inset(axes, findings, low, high, beside if room >= _LEAST_ROOM else None)
        if titled:
            _draw_title(figure, findings.name, words, page)
    return figure


def _draw_title(figure: Figure, name: str, words: list[str], page: tuple[float, float]) -> None:
    left = _LEFT / page[0]
    title = figure.text(left, 1 - 0.1 / page[1], name, fontsize=12, fontweight="bold", va="top")
    shorten(title, name, page[0] - _LEFT - _MARGIN)
    figure.text(left, 1 - 0.36 / page[1], "\n".join(words), fontsize=9.5, va="top", linespacing=1.3)


def _draw_belief(axes: Axes, findings: Findings) -> None:
    """The regions, and the estimate: bars of a standard deviation below the readings, a ring above them.

    So no reading is hidden. A guess has no bars, and is grey; so are its regions where no source is shown.
    """
    sure, regions = findings.is_sure, MUTED if findings.status in _NO_SOURCE else BLUE
    for probability, region in sorted(findings.regions.items(), reverse=True):
        opacity, width, line = _SHADES.get(probability, _SHADES[0.95])
        if region.patches:
            axes.add_patch(
                PathPatch(_outline(region), facecolor=regions, alpha=opacity, linewidth=0, zorder=2.5)
            )
            axes.add_patch(
                PathPatch(
                    _outline(region), fill=False, edgecolor=regions, linewidth=width, linestyle=line,
                    zorder=2.6,
                )
            )  # fmt: skip
    for place in findings.places:
        for colour, width, order in (("white", 4.0, 3.4), (INK, 1.8, 3.5)):
            if sure:
                axes.errorbar(
                    *place.position, xerr=place.std[0], yerr=place.std[1], color=colour, elinewidth=width,
                    capsize=3.5, capthick=width, linestyle="", zorder=order,
                )  # fmt: skip
        for colour, width, order in (("white", 3.6, 6), (INK if sure else MUTED, 1.8, 7)):
            axes.plot(
                *place.position, "o", markersize=_RING, markerfacecolor="none", markeredgecolor=colour,
                markeredgewidth=width, zorder=order,
            )  # fmt: skip


def _outline(region: Region) -> Path:
    """All borders and holes as one path."""
    corners, codes = [], []
    for patch in region.patches:
        for ring in (patch.border, *patch.holes):
            corners.append(np.concatenate([ring, ring[:1]]))
            codes += [Path.MOVETO, *[Path.LINETO] * (len(ring) - 1), Path.CLOSEPOLY]
    return Path(np.concatenate(corners), codes)


def _draw_readings(
    axes: Axes, findings: Findings, page: tuple[float, float], width: float, height: float
) -> None:
    """The track, the readings in colours with their scale, and some of the winds measured with them."""
    path = findings.positions
    axes.plot(path[:, 0], path[:, 1], color=MUTED, linewidth=0.8, alpha=0.8, zorder=3)
    # The greatest readings lie on top.
    order = np.argsort(findings.values, kind="stable")
    size = float(np.clip(4000 / len(path), 9, 36))
    dots = axes.scatter(
        path[order, 0], path[order, 1], c=findings.values[order], norm=reading_norm(findings.values),
        cmap=READING_COLOURS, s=size, edgecolors=INK, linewidths=0.45, zorder=4,
    )  # fmt: skip
    if findings.wind is not None:
        shown = np.unique(np.linspace(0, len(path) - 1, min(_ARROWS, len(path))).astype(int))
        axes.quiver(
            *path[shown].T, *findings.wind[shown].T, color=INK, alpha=0.55, width=0.0028,
            scale=12 * max(float(np.hypot(*findings.wind.T).max()), 1e-9), zorder=5,
        )  # fmt: skip
    left = (_LEFT + width + _GAP) / page[0]
    place = (left, _BOTTOM / page[1], _BAR / page[0], height / page[1])
    bar = axes.figure.colorbar(dots, cax=axes.figure.add_axes(place, label="scale of the readings"))
    bar.set_label(f"reading [{findings.unit}]" if findings.unit else "reading")
    bar.outline.set_visible(False)


def _draw_waypoints(axes: Axes, findings: Findings) -> None:
    """Where to read next, joined to the last reading."""
    if len(findings.waypoints) == 0:
        return
    way = np.concatenate([findings.positions[-1:], findings.waypoints])
    axes.plot(*way.T, color=GREEN, linewidth=1.4, linestyle=(0, (2, 1.5)), zorder=5)
    axes.plot(*findings.waypoints.T, "D", color=GREEN, markeredgecolor="white", markersize=7, zorder=5.5)


def _draw_inset(
    axes: Axes,
    findings: Findings,
    low: np.ndarray,
    high: np.ndarray,
    beside: tuple[float, float, float, float] | None,
) -> None:
    """The neighbourhood of the estimate again, larger, when its region is small on the map.

    It stands in a corner of the map where that hides no reading, else beside the map if there is room.
    """
    sides = high - low
    if len(findings.places) > 1 or findings.radius > _SMALL * sides.min():
        return
    # The corner of the scale bar is taken.
    bar = low + [[0.1, 0.03], [0.2, 0.03]] * sides
    shares = (np.concatenate([findings.positions, findings.estimate[None], bar]) - low) / sides
    corner = np.array(emptiest_corner(shares))
    hides = bool(np.any(np.all((shares >= corner) & (shares <= corner + INSET_SIZE), axis=1)))
    outside = beside if hides else None
    figure = axes.figure
    assert isinstance(figure, Figure)
    if outside is None:
        inset = axes.inset_axes((*corner, INSET_SIZE, INSET_SIZE), zorder=8)
    else:
        inset = figure.add_axes(outside, label="magnified")
        sides = np.array(outside[2:]) * figure.get_size_inches()
    half, tall = 1.3 * max(findings.radius, 1e-6) * sides / sides.min()
    draw_limits(inset, findings)
    _draw_belief(inset, findings)
    x, y = findings.estimate
    inset.set(xlim=(x - half, x + half), ylim=(y - tall, y + tall), xticks=[], yticks=[])
    for spine in inset.spines.values():
        spine.set(visible=True, color=MUTED)
    inset.text(
        0.5, 0.02, f"{2 * half:.2g} m wide", transform=inset.transAxes, fontsize=8, ha="center",
        va="bottom", zorder=9,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
    )  # fmt: skip
    if outside is None:
        axes.indicate_inset_zoom(inset, edgecolor=MUTED, alpha=0.8)
    else:
        # Lines to it would cross the map.
        axes.indicate_inset((x - half, y - tall, 2 * half, 2 * tall), edgecolor=MUTED, alpha=0.8)


def _wind(findings: Findings) -> tuple[np.ndarray | None, str]:
    """The mean wind, and where it is known from."""
    names = findings.posterior.names
    if findings.wind is not None:
        return np.mean(findings.wind, axis=0), "measured, mean"
    if "ux" in names and "uy" in names:
        return findings.posterior.mean[[names.index("ux"), names.index("uy")]], "inferred"
    return None, ""


def _draw_key(figure: Figure, findings: Findings, left: float, top: float) -> int:
    """What the marks mean, beside the map, and how many there are."""
    regions = MUTED if findings.status in _NO_SOURCE else BLUE
    marks = [
        _estimate_mark(findings),
        Swatch(facecolor=f"{regions}aa", edgecolor=regions, linewidth=1.6, label="50 % region"),
        Swatch(facecolor=f"{regions}2e", edgecolor=regions, linestyle="--", label="95 % region"),
        Line2D(
            [], [], color=MUTED, marker="o", markerfacecolor="#fd8d3c", markeredgecolor=INK,
            linewidth=0.8, markersize=5, label="track, readings",
        ),
    ]  # fmt: skip
    if findings.wind is not None:
        arrow = Line2D([], [], color=INK, alpha=0.55, marker=r"$\rightarrow$", markersize=11, linestyle="")
        arrow.set_label("wind at readings")
        marks.append(arrow)
    if len(findings.waypoints):
        marks.append(Line2D([], [], color=GREEN, marker="D", linestyle=":", label="next waypoint"))
    if findings.geofence:
        marks.append(Line2D([], [], color=GREEN, linewidth=1.8, label="geofence"))
    if findings.no_go:
        marks.append(Swatch(facecolor=f"{ORANGE}26", edgecolor=ORANGE, hatch="///", label="no-go area"))
    if findings.area is not None:
        marks.append(Line2D([], [], color=MUTED, linestyle=":", linewidth=1.2, label="area of the search"))
    figure.legend(
        handles=marks, loc="upper left", bbox_to_anchor=(left, top), borderaxespad=0, labelspacing=0.7
    )
    return len(marks)


def _estimate_mark(findings: Findings) -> Line2D:
    """The ring of the estimate, and in words whether it is to be trusted."""
    if findings.is_sure:
        label, colour, line = "estimate ± std", INK, "-"
    else:
        label, colour, line = _GUESSES.get(findings.status, "best guess, not sure"), MUTED, ""
    return Line2D(
        [], [], color=colour, linestyle=line, linewidth=1.8, marker="o", markersize=9, markeredgewidth=1.8,
        markerfacecolor="white", label=label,
    )  # fmt: skip


def _limits(findings: Findings) -> tuple[np.ndarray, np.ndarray]:
    """Lower left and upper right of a map that holds all but what lies in the outskirts of the area."""
    points = [findings.positions, findings.estimate[None], findings.waypoints, *findings.geofence]
    points += [patch.border for region in findings.regions.values() for patch in region.patches]
    all_points = np.concatenate(points)
    low, high = all_points.min(axis=0), all_points.max(axis=0)
    if findings.area is not None:
        # The whole area, where that does not make everything else small.
        wide_low, wide_high = np.minimum(low, findings.area[0]), np.maximum(high, findings.area[1])
        if (wide_high - wide_low).max() <= 2 * (high - low).max():
            low, high = wide_low, wide_high
    side = max(float((high - low).max()), 1e-3)
    centre, half = 0.5 * (low + high), 0.5 * np.maximum(high - low, _FLATTEST * side) + 0.04 * side
    # The scale bar stands in a strip of its own.
    return centre - half - np.array([0.0, 0.05 * side]), centre + half
