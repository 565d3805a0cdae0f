"""Occupancy maps as robots write them with ROS map_server: a YAML file, and a PGM image."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

_LINE = re.compile(r"(?P<key>\w+)\s*:\s*(?P<value>[^#]*?)\s*(#.*)?")
_HEADER = re.compile(rb"(P[25])((?:\s+(?:#[^\n]*\n\s*)*\d+){3})\s")
_KEYS = ("image", "resolution", "origin", "negate", "occupied_thresh")
MAX_CELLS = 25_000_000
"""Of an image."""


@dataclass(frozen=True)
class OccupancyMap:
    """What is occupied, in cells of a lattice."""

    is_occupied: np.ndarray
    """(rows, columns), the northernmost row first before the map is turned."""
    resolution: float
    """[m], the side of a cell."""
    origin: tuple[float, float, float]
    """[m], [m] and [rad]: the south-western corner, and the angle to the left by which the map is turned."""

    def area(self, simplify: float | None = None) -> BaseGeometry:
        """Return the occupied area [m], its border moved by at most `simplify` [m] (default: half a cell).

        Cells that touch in a corner are joined: nobody goes through there.
        """
        rows = self.is_occupied[::-1]
        edges = np.diff(np.pad(rows.astype(np.int8), ((0, 0), (1, 1))), axis=1)
        (row, first), (_, last) = np.nonzero(edges == 1), np.nonzero(edges == -1)
        cells = shapely.union_all(shapely.box(first, row, last, row + 1))
        # In cells: out and back by a twentieth.
        joined = cells.buffer(0.05, join_style="mitre").buffer(-0.025, join_style="mitre")
        step = 0.5 if simplify is None else simplify / self.resolution
        x, y, yaw = self.origin
        turned = shapely.transform(
            joined.simplify(step) if step else joined, lambda cells: self.resolution * cells
        )
        turn = np.array([[math.cos(yaw), math.sin(yaw)], [-math.sin(yaw), math.cos(yaw)]])
        return shapely.transform(turned, lambda places: places @ turn + [x, y])


def read_occupancy_map(path: Path | str) -> OccupancyMap:
    """Return the map of a YAML file of `key: value` lines, or raise a ValueError in one line.

    A cell is occupied where its darkness, as a share of that of black, is above `occupied_thresh`.
    """
    path = Path(path)
    values = _read_keys(path)
    for key in _KEYS:
        if key not in values:
            raise ValueError(f"{path.name} has no `{key}`: give it, as ROS map_server writes it.")
    if values.get("mode", "trinary") not in ("trinary", "scale"):
        raise ValueError(f"{path.name}: `mode` must be trinary or scale; got {values['mode']}.")
    image, brightest = _read_pgm(path.parent / values["image"])
    resolution = _number(path, values, "resolution")
    if not resolution > 0:
        raise ValueError(f"{path.name}: `resolution` must be > 0 m; got {resolution:g}.")
    try:
        x, y, yaw = (float(number) for number in values["origin"].strip("[]").split(","))
    except ValueError:
        words = f"{path.name}: `origin` must be [x, y, yaw] on its line; got {values['origin']}."
        raise ValueError(words) from None
    if not np.isfinite([x, y, yaw]).all():
        raise ValueError(f"{path.name}: `origin` must be three finite numbers; got {values['origin']}.")
    light = image / brightest
    dark = light if _number(path, values, "negate") else 1 - light
    return OccupancyMap(dark > _number(path, values, "occupied_thresh"), resolution, (x, y, yaw))


def _read_keys(path: Path) -> dict[str, str]:
    """Return the values of the lines of the YAML file."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist: check the path, which begins at the site file.") from None
    except (UnicodeDecodeError, OSError):
        raise ValueError(f"{path} is not a text file: give the YAML file of the map.") from None
    values = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith(("#", "---")):
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None:
            words = f"{path.name}, line {number}: must be `key: value`, such as `resolution: 0.05`, as ROS "
            raise ValueError(f"{words}map_server writes it.")
        values[found["key"]] = found["value"].strip("'\"")
    return values


def _number(path: Path, values: dict[str, str], key: str) -> float:
    try:
        number = float({"true": "1", "false": "0"}.get(values[key].lower(), values[key]))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{path.name}: `{key}` must be a number; got {values[key]}.")
    return number


def _read_pgm(path: Path) -> tuple[np.ndarray, int]:
    """Return the grey values of a PGM image, and that of white."""
    try:
        content = path.read_bytes()
    except OSError:
        raise ValueError(f"{path} does not exist or cannot be read: give the `image` of the map.") from None
    header = _HEADER.match(content)
    if header is None:
        raise ValueError(f"{path.name} is no PGM image (P2 or P5): save the map as PGM.")
    width, height, brightest = (int(word) for word in re.sub(rb"#[^\n]*\n", b"", header[2]).split())
    if not (0 < width * height <= MAX_CELLS and 0 < brightest < 65536):
        words = f"{path.name}: {width} x {height} cells of up to {brightest}: must be at most"
        raise ValueError(f"{words} {MAX_CELLS:,} of up to 65535.")
    body = content[header.end() :]
    try:
        if header[1] == b"P2":
            grey = np.array(body.split(), dtype=np.int64)
        else:
            grey = np.frombuffer(body, ">u2" if brightest > 255 else "u1", width * height)
        return grey[: width * height].reshape(height, width), brightest
    except ValueError:
        raise ValueError(f"{path.name} ends before its {height} rows: save it again.") from None
