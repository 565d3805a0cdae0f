"""What every map of a real place has: its limits, ticks in degrees, a scale bar, north and the wind."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from matplotlib.ticker import MaxNLocator

from dowsax.geo.formatting import format_length
from dowsax.geo.local import LocalCoordinates
from dowsax.report.findings import Findings
from dowsax.site.site import Site
from dowsax.viz.style import BLUE, GREEN, INK, MUTED, ORANGE

_BAR_SHARE = 0.25
"""The longest a scale bar may be, as a share of the map's width."""
_CALM = 0.05
"""[m/s], below which a wind is written as 0.0."""
_TICK = 0.85
"""[inch], the room for a label of longitude."""


def draw_limits(axes: Axes, of: Findings | Site) -> None:
    """The area of the search, the geofence and the no-go areas."""
    if of.area is not None:
        (left, bottom), side = of.area[0], np.subtract(of.area[1], of.area[0])
        box = Rectangle((float(left), float(bottom)), *side, fill=False, edgecolor=MUTED, zorder=1)
        box.set(linestyle=":", linewidth=1.2)
        axes.add_patch(box)
    for polygon in of.geofence:
        axes.fill(*polygon.T, fill=False, edgecolor=GREEN, linewidth=1.8, zorder=2)
    for polygon in of.no_go:
        axes.fill(*polygon.T, facecolor=f"{ORANGE}26", edgecolor=ORANGE, linewidth=1.2, hatch="///", zorder=2)


def draw_degrees(axes: Axes, frame: LocalCoordinates, low: np.ndarray, high: np.ndarray) -> None:
    """Ticks of longitude and latitude where the frame has them, else of metres."""
    if not frame.is_geographic:
        axes.set(xlabel="x, east [m]", ylabel="y, north [m]")
        return
    corners = frame.to_degrees(np.stack([low, high]))
    (south, west), (north, east) = corners
    figure = axes.get_figure(root=True)
    assert figure is not None
    width = axes.get_position().width * figure.get_figwidth()
    longitudes, latitudes = _ticks(west, east, min(4, int(width / _TICK))), _ticks(south, north, 6)
    across = frame.to_metres(np.full(len(longitudes), south), longitudes)[:, 0]
    along = frame.to_metres(latitudes, np.full(len(latitudes), west))[:, 1]
    axes.set_xticks(across, [_degrees(value, longitudes, "E", "W") for value in longitudes])
    axes.set_yticks(along, [_degrees(value, latitudes, "N", "S") for value in latitudes])
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def draw_scale_bar(axes: Axes, low: np.ndarray, high: np.ndarray) -> None:
    """A bar of a round length in the lower left corner."""
    width, height = high - low
    longest = _BAR_SHARE * width
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
    words = format_length(length)
    axes.text(left + length / 2, bottom + 1.6 * thick, words, fontsize=8, ha="center", zorder=10)


def draw_compass(axes: Axes, wind: np.ndarray | None, known_from: str) -> None:
    """North, and the wind as an arrow that points where the air goes, with its speed and origin in words."""
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
    if speed >= _CALM:
        x, y = 0.62 * np.asarray(wind) / speed
        arrow = {"arrowstyle": "-|>,head_width=0.35,head_length=0.6", "color": BLUE, "linewidth": 2.4}
        axes.annotate("", (x, y), (-x, -y), arrowprops=arrow | {"shrinkA": 0, "shrinkB": 0})
    words = f"{_wind_words(wind, speed)}\n({known_from})"
    axes.text(0, -1.5, words, ha="center", va="top", fontsize=8, color=BLUE, linespacing=1.3)


def _wind_words(wind: np.ndarray, speed: float) -> str:
    """Its speed and where it comes from; calm air comes from nowhere."""
    if speed < _CALM:
        return "calm"
    bearing = round(math.degrees(math.atan2(-wind[0], -wind[1]))) % 360
    return f"wind {speed:.1f} m/s from {bearing}°"


def _ticks(least: float, most: float, number: int) -> np.ndarray:
    values = np.asarray(MaxNLocator(number, steps=[1, 2, 5, 10]).tick_values(least, most))
    return values[(values >= least) & (values <= most)]


def _degrees(value: float, ticks: np.ndarray, positive: str, negative: str) -> str:
    """Degrees with as many decimals as tell the ticks apart."""
    step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else 1e-5
    decimals = max(0, math.ceil(-math.log10(step) - 1e-6))
    return f"{abs(value):.{decimals}f}° {positive if value >= 0 else negative}"
