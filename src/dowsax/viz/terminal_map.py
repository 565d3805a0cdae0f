"""The belief as text: a map in half blocks, two square pixels per character, on a dark background."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from rich.color import Color
from rich.style import Style
from rich.text import Text
from scipy.ndimage import gaussian_filter

from dowsax.viz.density import bandwidth
from dowsax.viz.reading_norm import reading_norm
from dowsax.viz.search_snapshots import Snapshot
from dowsax.world.motion import AREA_SIDE_M

SENSOR, ESTIMATE, TRUTH = "●", "+", "★"
SENSOR_COLOUR, TRUTH_COLOUR = "#ffb000", "#3ddc97"
Mark = tuple[str, str | None]
"""A character and its colour; None for one that contrasts with the background."""

_DENSITY_COLOURS = (
    (0.0, "#10181f"),
    (0.12, "#12314a"),
    (0.55, "#0072b2"),
    (0.85, "#8ecdf0"),
    (1.0, "#f2f8fc"),
)
_PATH_COLOURS = ((0.0, "#77838c"), (0.5, "#ffd166"), (1.0, "#ff6b1a"))
_BETWEEN_READINGS = tuple(part / 255 for part in (0x4B, 0x56, 0x5E))
_MAX_DARK_LIGHTNESS = 0.45
"""Marks on a lighter background are dark."""


def terminal_map(snapshots: Sequence[Snapshot], size: int, truth: np.ndarray | None = None) -> Text:
    """Draw the search area in `size` columns (an even number) and half as many lines; north is up.

    Brighter is more probable; the path is coloured by its readings. The truth is shown only if given.
    """
    pixels = _background(snapshots[-1], size)
    values = np.array([snapshot.reading for snapshot in snapshots])
    places = np.stack([snapshot.position for snapshot in snapshots])
    pixels[_pixel(0.5 * (places[1:] + places[:-1]), size)] = _BETWEEN_READINGS
    rows, columns = _pixel(places, size)
    pixels[rows, columns] = _colour_map(_PATH_COLOURS)(np.asarray(reading_norm(values)(values)))[:, :3]
    marks: dict[tuple[int, int], Mark] = {_character_at(places[-1], size): (SENSOR, SENSOR_COLOUR)}
    if snapshots[-1].has_particles:
        marks[_character_at(snapshots[-1].mean, size)] = (ESTIMATE, None)
    if truth is not None:
        marks[_character_at(truth, size)] = (TRUTH, TRUTH_COLOUR)
    text = Text(no_wrap=True)
    for line in range(size // 2):
        for column in range(size):
            text.append(*_character(pixels[2 * line : 2 * line + 2, column], marks.get((line, column))))
        if line < size // 2 - 1:
            text.append("\n")
    return text


def _background(snapshot: Snapshot, size: int) -> np.ndarray:
    """Return the colours (size, size, 3) of the square root of the density, from the north-west."""
    shade = np.zeros((size, size))
    if snapshot.has_particles:
        points, weights = np.asarray(snapshot.points, np.float64), snapshot.weights
        edges = np.linspace(0, AREA_SIDE_M, size + 1)
        mass, *_ = np.histogram2d(points[:, 1], points[:, 0], bins=[edges, edges], weights=weights)
        widths = [max(bandwidth(points[:, axis], weights, 2) * size / AREA_SIDE_M, 0.4) for axis in (1, 0)]
        mass = gaussian_filter(mass, widths)
        shade = np.sqrt(mass / max(mass.max(), np.finfo(float).tiny))
    return _colour_map(_DENSITY_COLOURS)(shade[::-1])[..., :3]


@cache
def _colour_map(colours: tuple[tuple[float, str], ...]):
    """Return the function from numbers in [0, 1] to colours between these."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("terminal", colours)


def _pixel(places: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows from the north and columns of positions (k, 2) [m]."""
    index = np.clip((places * size / AREA_SIDE_M).astype(int), 0, size - 1)
    return size - 1 - index[:, 1], index[:, 0]


def _character_at(place: np.ndarray, size: int) -> tuple[int, int]:
    rows, columns = _pixel(place[None, :], size)
    return int(rows[0]) // 2, int(columns[0])


def _character(pair: np.ndarray, mark: Mark | None) -> tuple[str, Style]:
    """Return two pixels as a half block: upper as foreground, lower as background; or a mark on both."""
    if mark is None:
        return "▀", Style(color=_colour(pair[0]), bgcolor=_colour(pair[1]))
    ground = pair.mean(axis=0)
    contrast = "black" if ground.mean() > _MAX_DARK_LIGHTNESS else "white"
    return mark[0], Style(color=mark[1] or contrast, bgcolor=_colour(ground), bold=True)


def _colour(pixel: np.ndarray) -> Color:
    red, green, blue = (round(255 * float(part)) for part in pixel)
    return Color.from_rgb(red, green, blue)
