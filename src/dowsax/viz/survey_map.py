"""The map of a survey: track, readings, regions, estimate, wind and geofence, to scale and with north up."""

import textwrap
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch as Swatch
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import NullLocator

from dowsax.geo.formatting import format_number
from dowsax.report.findings import Findings
from dowsax.report.regions import Region
from dowsax.report.summary import verdict
from dowsax.viz.maps import (
    INSET_SIZE,
    draw_compass,
    draw_degrees,
    draw_limits,
    draw_scale_bar,
    emptiest_corner,
    style_inset,
)
from dowsax.viz.reading_norm import reading_norm
from dowsax.viz.style import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    READING_COLOURS,
    add_panel,
    new_figure,
    shorten_text,
    styled,
)

# The layout, in inches: the map, above it a title and the lines of the verdict, beside it a colour bar and a
# column with compass, key and inset.
_MAP_SIDE, _LEFT, _BOTTOM, _MARGIN = 6.6, 0.95, 0.55, 0.1
_TITLE_HEIGHT, _LINE_HEIGHT = 0.48, 0.18
_GAP, _BAR, _BAR_LABEL, _COLUMN = 0.12, 0.14, 0.75, 1.75
_COMPASS_HEIGHT, _MARK_HEIGHT, _MIN_INSET_HEIGHT = 1.75, 0.22, 0.8
_MIN_ASPECT = 0.6
"""The smallest ratio of the map's sides."""
_MAX_WIND_ARROWS = 16
_MIN_SCALE_LABELS = 3
_MAX_INSET_RADIUS = 0.05
"""A 95 % radius that is a smaller share of the map than this is shown magnified too."""
_ESTIMATE_RING_PT = 13.0
"""Wider than the mark of a reading."""
_THIN_LINE_PT = 0.7
_NO_SOURCE = ("no-evidence", "misfit")
"""Statuses in which there may be no source, or none that fits the model: regions are grey."""
_GUESSES = {
    "inconclusive": "guess: cannot tell yet",
    "no-evidence": "guess: no source",
    "misfit": "guess: nothing fits",
}
_SHADES = {0.95: (0.18, 1.1, "--"), 0.5: (0.42, 1.6, "-")}
"""Opacity, line width and line style of each region."""


def survey_figure(findings: Findings, *, titled: bool = True) -> Figure:
    """Draw the map of a survey; if `titled`, with name and verdict above it."""
    low, high = _limits(findings)
    width, height = _MAP_SIDE * (high - low) / (high - low).max()
    column = _LEFT + width + _GAP + _BAR + _BAR_LABEL
    across = column + _COLUMN
    words = textwrap.wrap(verdict(findings), int((across - _LEFT) * 14)) if titled else []
    page = across, _BOTTOM + height + (_TITLE_HEIGHT + _LINE_HEIGHT * len(words) if titled else _MARGIN)
    with styled():
        figure = new_figure(*page)
        axes = add_panel(figure, _LEFT, _BOTTOM, width, height, "map")
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        for side in ("top", "right"):
            axes.spines[side].set_visible(True)
        draw_limits(axes, findings)
        _draw_belief(axes, findings, _ESTIMATE_RING_PT / 72 * (high - low)[0] / width)
        dots = _draw_readings(axes, findings)
        scale = add_panel(figure, _LEFT + width + _GAP, _BOTTOM, _BAR, height, "scale of the readings")
        _draw_reading_scale(scale, dots, findings.unit)
        _draw_waypoints(axes, findings)
        draw_degrees(axes, findings.coordinates, low, high)
        draw_scale_bar(axes, low, high)
        bottom = _BOTTOM + height - _COMPASS_HEIGHT
        draw_compass(add_panel(figure, column, bottom, 1.45, _COMPASS_HEIGHT, "compass"), *_wind(findings))
        marks = _draw_key(figure, findings, column / page[0], (bottom - 0.2) / page[1])
        room = bottom - 0.2 - _BOTTOM - _MARK_HEIGHT * marks
        beside = (column, _BOTTOM, 1.55, min(room, 1.55))
        _draw_inset(axes, findings, low, high, beside if room >= _MIN_INSET_HEIGHT else None)
        if titled:
            _draw_title(figure, findings.name, words, page)
    return figure


def _draw_title(figure: Figure, name: str, words: list[str], page: tuple[float, float]) -> None:
    left = _LEFT / page[0]
    title = figure.text(left, 1 - 0.1 / page[1], name, fontsize=12, fontweight="bold", va="top")
    shorten_text(title, name, page[0] - _LEFT - _MARGIN)
    figure.text(left, 1 - 0.36 / page[1], "\n".join(words), fontsize=9.5, va="top", linespacing=1.3)


def _draw_belief(axes: Axes, findings: Findings, ring: float = 0.0) -> None:
    """Draw regions and estimate: error bars below the readings, a ring of this width [m] above them.

    So no reading is hidden. A guess is grey, without bars; its regions are grey where there may be no source.
    Bars within the ring are left out, and outlines within it are thin: they would hide the regions.
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
                    _outline(region), fill=False, edgecolor=regions, linestyle=line, zorder=2.6,
                    linewidth=_THIN_LINE_PT if findings.radius < ring else width,
                )
            )  # fmt: skip
    for place in findings.places:
        has_bars = sure and 2 * float(place.std.max()) > ring
        for colour, width, order in (("white", 4.0, 3.4), (INK, 1.8, 3.5)):
            if has_bars:
                axes.errorbar(
                    *place.position, xerr=place.std[0], yerr=place.std[1], color=colour, elinewidth=width,
                    capsize=3.5, capthick=width, linestyle="", zorder=order,
                )  # fmt: skip
        # Nothing white over a region that is as small as the ring.
        rings = (("white", 3.6, 6), (INK if sure else MUTED, 1.8, 7))
        for colour, width, order in rings if findings.radius > ring else rings[1:]:
            axes.plot(
                *place.position, "o", markersize=_ESTIMATE_RING_PT, markerfacecolor="none",
                markeredgecolor=colour, markeredgewidth=width, zorder=order,
            )  # fmt: skip


def _outline(region: Region) -> Path:
    """Return all borders and holes of a region as one path."""
    corners, codes = [], []
    for patch in region.patches:
        for ring in (patch.border, *patch.holes):
            corners.append(np.concatenate([ring, ring[:1]]))
            codes += [Path.MOVETO, *[Path.LINETO] * (len(ring) - 1), Path.CLOSEPOLY]
    return Path(np.concatenate(corners), codes)


def _draw_readings(axes: Axes, findings: Findings) -> PathCollection:
    """Draw the track, the readings, and the wind at some of them; return the dots of the readings.

    A reading along a path is a line, with its dot in the middle.
    """
    for track in findings.tracks:
        axes.plot(*track.places.T, color=track.colour or MUTED, linewidth=0.8, alpha=0.8, zorder=3)
    places = findings.ends.mean(axis=1)
    # The largest readings are on top.
    order = np.argsort(findings.values, kind="stable")
    size = float(np.clip(4000 / len(places), 9, 36))
    norm = reading_norm(findings.values)
    paths = order[findings.is_path[order]]
    axes.add_collection(
        LineCollection(
            list(findings.ends[paths]), array=findings.values[paths], norm=norm, cmap=READING_COLOURS,
            linewidths=1.6, zorder=3.8,
        ),
        autolim=False,
    )  # fmt: skip
    dots = axes.scatter(
        *places[order].T, c=findings.values[order], norm=norm,
        cmap=READING_COLOURS, s=size, edgecolors=INK, linewidths=0.45, zorder=4,
    )  # fmt: skip
    if findings.wind is not None:
        shown = np.unique(np.linspace(0, len(places) - 1, min(_MAX_WIND_ARROWS, len(places))).astype(int))
        axes.quiver(
            *places[shown].T, *findings.wind[shown].T, color=INK, alpha=0.55, width=0.0028,
            scale=12 * max(float(np.hypot(*findings.wind.T).max()), 1e-9), zorder=5,
        )  # fmt: skip
    return dots


def _draw_reading_scale(axes: Axes, dots: PathCollection, unit: str) -> None:
    """Draw the colour bar, with at least three labels."""
    bar = axes.figure.colorbar(dots, cax=axes)
    bar.set_label(f"reading [{unit}]" if unit else "reading")
    bar.outline.set_visible(False)
    low, high = axes.get_ylim()
    if np.sum((bar.get_ticks() >= low) & (bar.get_ticks() <= high)) < _MIN_SCALE_LABELS:
        # A logarithmic scale over less than two decades: what lies at even shares of its length.
        ticks = cast(Any, dots.norm).inverse(np.linspace(0, 1, 5))
        bar.set_ticks(ticks, labels=[format_number(float(tick)) for tick in ticks])
        axes.yaxis.set_minor_locator(NullLocator())


def _draw_waypoints(axes: Axes, findings: Findings) -> None:
    """Draw the next waypoints, joined to the last reading, or the next path."""
    if findings.next_path is not None:
        axes.plot(*findings.next_path.T, color=GREEN, linewidth=3, zorder=5)
    for track in findings.tracks:
        if len(track.waypoints) == 0:
            continue
        colour = track.colour or GREEN
        axes.plot(*track.whole_next_way.T, color=colour, linewidth=1.4, linestyle=(0, (2, 1.5)), zorder=5)
        axes.plot(*track.waypoints.T, "D", color=colour, markeredgecolor="white", markersize=7, zorder=5.5)


def _draw_inset(
    axes: Axes,
    findings: Findings,
    low: np.ndarray,
    high: np.ndarray,
    beside: tuple[float, float, float, float] | None,
) -> None:
    """Draw the neighbourhood of the estimate again, magnified, when its region is small on the map.

    The inset is in a corner of the map where it hides no reading, else beside the map if there is room.
    """
    sides = high - low
    if len(findings.places) > 1 or findings.radius > _MAX_INSET_RADIUS * sides.min():
        return
    # The corner of the scale bar is occupied.
    bar = low + [[0.1, 0.03], [0.2, 0.03]] * sides
    shares = (np.concatenate([findings.ends.mean(axis=1), findings.estimate[None], bar]) - low) / sides
    corner = np.array(emptiest_corner(shares))
    hides = bool(np.any(np.all((shares >= corner) & (shares <= corner + INSET_SIZE), axis=1)))
    outside = beside if hides else None
    figure = axes.figure
    assert isinstance(figure, Figure)
    if outside is None:
        inset = axes.inset_axes((*corner, INSET_SIZE, INSET_SIZE), zorder=8)
    else:
        inset = add_panel(figure, *outside, "magnified")
        sides = np.array(outside[2:])
    half, tall = 1.3 * max(findings.radius, 1e-6) * sides / sides.min()
    draw_limits(inset, findings)
    _draw_belief(inset, findings)
    x, y = findings.estimate
    inset.set(xlim=(x - half, x + half), ylim=(y - tall, y + tall))
    style_inset(inset, 2 * half)
    if outside is None:
        axes.indicate_inset_zoom(inset, edgecolor=MUTED, alpha=0.8)
    else:
        # Lines to the inset would cross the map.
        axes.indicate_inset((x - half, y - tall, 2 * half, 2 * tall), edgecolor=MUTED, alpha=0.8)


def _wind(findings: Findings) -> tuple[np.ndarray | None, str]:
    """Return the mean wind, and whether it is measured or inferred."""
    names = findings.posterior.names
    if findings.wind is not None:
        return np.mean(findings.wind, axis=0), "measured, mean"
    if "ux" in names and "uy" in names:
        return findings.posterior.mean[[names.index("ux"), names.index("uy")]], "inferred"
    return None, ""


def _draw_key(figure: Figure, findings: Findings, left: float, top: float) -> int:
    """Draw the key beside the map; return the number of its marks."""
    regions = MUTED if findings.status in _NO_SOURCE else BLUE
    marks = [
        _estimate_mark(findings),
        Swatch(facecolor=f"{regions}aa", edgecolor=regions, linewidth=1.6, label="50 % region"),
        Swatch(facecolor=f"{regions}2e", edgecolor=regions, linestyle="--", label="95 % region"),
        Line2D(
            [], [], color=MUTED, marker="o", markerfacecolor="#fd8d3c", markeredgecolor=INK,
            linewidth=0.8, markersize=5, label=_readings_label(findings),
        ),
    ]  # fmt: skip
    if findings.wind is not None:
        arrow = Line2D([], [], color=INK, alpha=0.55, marker=r"$\rightarrow$", markersize=11, linestyle="")
        arrow.set_label("wind at readings")
        marks.append(arrow)
    if len(findings.waypoints) and not findings.team:
        marks.append(Line2D([], [], color=GREEN, marker="D", linestyle=":", label="next waypoint"))
    for track in findings.team:
        label = f"{track.name}, next waypoint" if len(track.waypoints) else track.name
        marks.append(Line2D([], [], color=track.colour, marker="D", linestyle=":", label=label))
    if findings.next_path is not None:
        marks.append(Line2D([], [], color=GREEN, linewidth=3, label="next path"))
    if findings.geofence:
        marks.append(Line2D([], [], color=GREEN, linewidth=1.8, label="geofence"))
    if findings.no_go:
        marks.append(Swatch(facecolor=f"{ORANGE}26", edgecolor=ORANGE, hatch="///", label="no-go area"))
    if findings.obstacles:
        marks.append(Swatch(facecolor=f"{MUTED}aa", edgecolor=INK, label="obstacle"))
    if findings.area is not None:
        marks.append(Line2D([], [], color=MUTED, linestyle=":", linewidth=1.2, label="area of the search"))
    figure.legend(
        handles=marks, loc="upper left", bbox_to_anchor=(left, top), borderaxespad=0, labelspacing=0.7
    )
    return len(marks)


def _readings_label(findings: Findings) -> str:
    """Return what the dots and lines of the readings are."""
    has_paths, has_track = bool(findings.is_path.any()), len(findings.track) > 0
    return ", ".join([*(["track"] if has_track else []), "readings", *(["paths"] if has_paths else [])])


def _estimate_mark(findings: Findings) -> Line2D:
    """Return the mark of the estimate; its label says whether it is only a guess."""
    if findings.is_sure:
        label, colour, line = "estimate ± std", INK, "-"
    else:
        label, colour, line = _GUESSES.get(findings.status, "best guess, not sure"), MUTED, ""
    return Line2D(
        [], [], color=colour, linestyle=line, linewidth=1.8, marker="o", markersize=9, markeredgewidth=1.8,
        markerfacecolor="white", label=label,
    )  # fmt: skip


def _limits(findings: Findings) -> tuple[np.ndarray, np.ndarray]:
    """Return lower left and upper right of a map of everything; of the area only if it is not too large."""
    estimates = np.stack([source.position for source in findings.sources])
    points = [*findings.ends, estimates, findings.waypoints, *findings.geofence]
    points += [] if findings.next_path is None else [findings.next_path]
    points += [patch.border for region in findings.regions.values() for patch in region.patches]
    all_points = np.concatenate(points)
    low, high = all_points.min(axis=0), all_points.max(axis=0)
    if findings.area is not None:
        # The whole area, unless everything else would become small.
        wide_low, wide_high = np.minimum(low, findings.area[0]), np.maximum(high, findings.area[1])
        if (wide_high - wide_low).max() <= 2 * (high - low).max():
            low, high = wide_low, wide_high
    side = max(float((high - low).max()), 1e-3)
    centre, half = 0.5 * (low + high), 0.5 * np.maximum(high - low, _MIN_ASPECT * side) + 0.04 * side
    # A strip of its own for the scale bar.
    return centre - half - np.array([0.0, 0.05 * side]), centre + half
