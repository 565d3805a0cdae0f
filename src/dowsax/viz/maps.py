"""Parts that several maps share: density and regions of a belief, colour scales, insets, keys, map marks."""

import math
from typing import Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from dowsax.geo.formatting import format_length
from dowsax.geo.local import LocalCoordinates
from dowsax.report.findings import Findings
from dowsax.site.site import Site
from dowsax.viz.density import Density, highest_density_level
from dowsax.viz.style import BLUE, DENSITY_COLOURS, GREEN, INK, MUTED, ORANGE

REGIONS: tuple[tuple[float, float, Literal["-", "--"]], ...] = ((0.95, 1.0, "--"), (0.5, 1.5, "-"))
"""Probability, line width and line style of the highest-density regions."""
MAX_INSET_RADIUS = 0.12
"""A belief whose 95 % radius is a smaller share of the map than this is shown magnified in an inset too."""
INSET_SIZE = 0.34
"""Side of the inset as a share of the map."""
_INSET_GAP = 0.02
"""Distance of the inset from the border as a share of the map."""
_MAX_BAR_SHARE = 0.25
"""The longest a scale bar may be, as a share of the map's width."""
_CALM_M_S = 0.05
"""A slower wind is written as calm."""
_LONGITUDE_LABEL_IN = 0.85
"""The width of a label of longitude [inch]."""


class PositionArtists:
    """Density, regions, mean and truth in one axes: for a map and for its magnified part."""

    def __init__(self, axes: Axes, *, cross: float = 11.0, star: float = 15.0) -> None:
        """`cross` and `star` are the sizes of the marks of mean and truth [points]."""
        self.axes = axes
        self.image = axes.imshow(
            np.zeros((2, 2)), origin="lower", cmap=DENSITY_COLOURS, interpolation="bilinear", zorder=1
        )
        self.regions: list[Artist] = []
        self.crosses = [
            axes.plot([], [], "+", color=colour, markersize=cross + more, markeredgewidth=width, zorder=7)[0]
            for colour, more, width in (("white", 1, 3.4), (INK, 0, 2))
        ]
        (self.star,) = axes.plot([], [], "*", color=GREEN, markersize=star, markeredgecolor="white", zorder=6)

    def artists(self) -> list[Artist]:
        return [self.image, *self.regions, *self.crosses, self.star]

    def update(self, density: Density | None, mean: np.ndarray, truth: np.ndarray | None) -> None:
        """Draw a belief; without a density, which needs particles, only the truth."""
        for region in self.regions:
            region.remove()
        self.regions = []
        self.image.set_visible(density is not None)
        for cross in self.crosses:
            cross.set_data(*(np.atleast_2d(mean).T if density is not None else ([], [])))
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


def draw_reading_scale(axes: Axes, mappable: ScalarMappable, unit: str) -> None:
    """Draw the colour scale of the readings right of a map."""
    bar = axes.figure.colorbar(mappable, cax=axes.inset_axes((1.025, 0.0, 0.022, 1.0)))
    bar.set_label(f"reading [{unit or 'sensor unit'}]")
    bar.outline.set_visible(False)


def style_map(axes: Axes) -> None:
    """Label a map in metres, to scale, with a border all around."""
    axes.set(xlabel="x, east [m]", ylabel="y, north [m]")
    axes.set_aspect("equal")
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def style_inset(inset: Axes, width: float | None = None) -> Text:
    """Give an inset a border without ticks, and write its width [m] in it; return the text."""
    inset.set(xticks=[], yticks=[])
    for spine in inset.spines.values():
        spine.set(visible=True, color=MUTED)
    return inset.text(
        0.5, 0.02, "" if width is None else inset_label(width), transform=inset.transAxes, fontsize=8,
        ha="center", va="bottom", zorder=9,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
    )  # fmt: skip


def inset_label(width: float) -> str:
    """Say how wide [m] an inset is."""
    return f"{width:.2g} m wide"


def inset_half_width(mean: np.ndarray, radius: float, truth: np.ndarray | None) -> float:
    """Return half the side [m] of the magnified square: about the 95 % radius, more if the truth is near."""
    half = 1.6 * max(radius, 1e-3)
    if truth is None:
        return half
    return max(half, min(1.15 * float(np.abs(truth - mean).max()), 3 * radius))


def emptiest_corner(shares: np.ndarray) -> tuple[float, float]:
    """Return the corner for an inset with the fewest points, given as shares of the axes, in or near it."""
    ends = (_INSET_GAP, 1 - _INSET_GAP - INSET_SIZE)
    return min(((x, y) for x in ends for y in ends), key=lambda corner: _crowding(shares, np.array(corner)))


def _crowding(shares: np.ndarray, corner: np.ndarray) -> float:
    outside = np.maximum(np.maximum(corner - shares, shares - corner - INSET_SIZE), 0)
    return float(np.sum(np.exp(-np.linalg.norm(outside, axis=1) / 0.05)))


def mean_and_region_marks() -> list[Line2D]:
    """Return the marks of the mean and of the regions, for a key."""
    return [
        Line2D([], [], color=INK, marker="+", markersize=10, markeredgewidth=2, linestyle="", label="mean"),
        *(
            Line2D([], [], color=BLUE, linewidth=width, linestyle=line, label=f"{100 * share:.0f} % region")
            for share, width, line in reversed(REGIONS)
        ),
    ]


def draw_key_above(axes: Axes, marks: list[Artist]) -> None:
    """Draw the key of a map in one row above it."""
    axes.legend(
        handles=marks, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=len(marks), columnspacing=1.2,
        handletextpad=0.5, handlelength=1.6, borderaxespad=0.2,
    )  # fmt: skip


def draw_limits(axes: Axes, of: Findings | Site) -> None:
    """Draw the area of the search, the geofence, the no-go areas and the obstacles."""
    if of.area is not None:
        (left, bottom), side = of.area[0], np.subtract(of.area[1], of.area[0])
        box = Rectangle((float(left), float(bottom)), *side, fill=False, edgecolor=MUTED, zorder=1)
        box.set(linestyle=":", linewidth=1.2)
        axes.add_patch(box)
    for polygon in of.geofence:
        axes.fill(*polygon.T, fill=False, edgecolor=GREEN, linewidth=1.8, zorder=2)
    for obstacle in of.obstacles:
        axes.fill(*obstacle.corners.T, facecolor=f"{MUTED}aa", edgecolor=INK, linewidth=1.0, zorder=2)
    for polygon in of.no_go:
        axes.fill(*polygon.T, facecolor=f"{ORANGE}26", edgecolor=ORANGE, linewidth=1.2, hatch="///", zorder=2)


def draw_degrees(axes: Axes, coordinates: LocalCoordinates, low: np.ndarray, high: np.ndarray) -> None:
    """Draw ticks of longitude and latitude where the coordinates are geographic, else of metres."""
    if not coordinates.is_geographic:
        axes.set(xlabel="x, east [m]", ylabel="y, north [m]")
        return
    corners = coordinates.to_degrees(np.stack([low, high]))
    (south, west), (north, east) = corners
    figure = axes.get_figure(root=True)
    assert figure is not None
    width = axes.get_position().width * figure.get_figwidth()
    longitudes, latitudes = (
        _ticks(west, east, min(4, int(width / _LONGITUDE_LABEL_IN))),
        _ticks(south, north, 6),
    )
    across = coordinates.to_metres(np.full(len(longitudes), south), longitudes)[:, 0]
    along = coordinates.to_metres(latitudes, np.full(len(latitudes), west))[:, 1]
    axes.set_xticks(across, [_degrees(value, longitudes, "E", "W") for value in longitudes])
    axes.set_yticks(along, [_degrees(value, latitudes, "N", "S") for value in latitudes])
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def draw_scale_bar(axes: Axes, low: np.ndarray, high: np.ndarray) -> None:
    """Draw a scale bar of a round length in the lower left corner."""
    width, height = high - low
    longest = _MAX_BAR_SHARE * width
    unit = 10.0 ** math.floor(math.log10(longest))
    length = max(unit * step for step in (1, 2, 5) if unit * step <= longest)
    left, bottom, thick = low[0] + 0.03 * width, low[1] + 0.025 * height, 0.008 * height
    ground = Rectangle(
        (left - 0.012 * width, bottom - 0.012 * height), length + 0.024 * width, 0.06 * height,
        facecolor="white", alpha=0.85, edgecolor="none", zorder=9,
    )  # fmt: skip
    axes.add_patch(ground)
    for number, colour in enumerate((INK, "white")):
        part = Rectangle((left + number * length / 2, bottom), length / 2, thick, facecolor=colour)
        part.set(edgecolor=INK, linewidth=0.8, zorder=10)
        axes.add_patch(part)
    axes.text(
        left + length / 2, bottom + 1.6 * thick, format_length(length), fontsize=8, ha="center", zorder=10
    )


def draw_compass(axes: Axes, wind: np.ndarray | None, known_from: str) -> None:
    """Draw north, and the wind as an arrow that points where the air goes, with its speed and origin."""
    axes.set(xlim=(-1.45, 1.45), ylim=(-2.05, 1.45), aspect="equal")
    axes.set_axis_off()
    axes.add_patch(Circle((0, 0), 1.0, fill=False, edgecolor=MUTED, linewidth=0.9))
    for angle, letter in ((90, "N"), (0, "E"), (270, "S"), (180, "W")):
        x, y = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        axes.plot([0.9 * x, x], [0.9 * y, y], color=MUTED, linewidth=0.9)
        heavy = {"fontsize": 10, "fontweight": "bold"} if letter == "N" else {"fontsize": 7.5, "color": MUTED}
        axes.text(1.24 * x, 1.24 * y, letter, ha="center", va="center", **heavy)
    axes.fill([-0.1, 0, 0.1], [0.72, 0.98, 0.72], color=INK)
    if wind is None:
        return
    speed = float(np.hypot(*wind))
    if speed >= _CALM_M_S:
        x, y = 0.62 * np.asarray(wind) / speed
        arrow = {"arrowstyle": "-|>,head_width=0.35,head_length=0.6", "color": BLUE, "linewidth": 2.4}
        axes.annotate("", (x, y), (-x, -y), arrowprops=arrow | {"shrinkA": 0, "shrinkB": 0})
    words = f"{_wind_words(wind, speed)}\n({known_from})"
    axes.text(0, -1.5, words, ha="center", va="top", fontsize=8, color=BLUE, linespacing=1.3)


def _wind_words(wind: np.ndarray, speed: float) -> str:
    """Say the speed and the origin of the wind, or that it is calm."""
    if speed < _CALM_M_S:
        return "calm"
    bearing = round(math.degrees(math.atan2(-wind[0], -wind[1]))) % 360
    return f"wind {speed:.1f} m/s from {bearing}°"


def _ticks(least: float, most: float, number: int) -> np.ndarray:
    values = np.asarray(MaxNLocator(number, steps=[1, 2, 5, 10]).tick_values(least, most))
    return values[(values >= least) & (values <= most)]


def _degrees(value: float, ticks: np.ndarray, positive: str, negative: str) -> str:
    """Write degrees with as many decimals as the ticks need."""
    step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else 1e-5
    decimals = max(0, math.ceil(-math.log10(step) - 1e-6))
    return f"{abs(value):.{decimals}f}° {positive if value >= 0 else negative}"
