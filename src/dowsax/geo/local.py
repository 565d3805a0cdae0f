"""Local coordinates: degrees to metres and back, in the plane that touches the Earth at the origin."""

from dataclasses import dataclass

import numpy as np
import pymap3d

_NUM_STEPS = 3
"""Each step leaves less than a ten-thousandth of the height above the ellipsoid within 100 km."""
_MAX_LATITUDE_DEG = 89.0
"""Nearer to a pole, directions turn by more than half a degree within a kilometre."""
_MAX_DISTANCE_M = 6.4e6
"""Farther from the origin, no place of the Earth lies below the plane."""


@dataclass(frozen=True)
class LocalCoordinates:
    """East and north [m] of an origin on the WGS84 ellipsoid; without an origin, metres alone.

    A place is projected from the ellipsoid onto the plane, and `to_degrees` inverts that to less than a
    millimetre within 100 km. Distances in the plane are short by a share of at most $d^2/6R^2$: 4 mm over
    10 km. The plane may cross the 180th meridian, but not a pole.
    """

    origin: tuple[float, float] | None = None
    """Latitude and longitude [degrees] of (0, 0)."""

    def __post_init__(self) -> None:
        if self.origin is None:
            return
        require_degrees(*self.origin)
        if abs(self.origin[0]) > _MAX_LATITUDE_DEG:
            raise ValueError(
                f"a latitude of {self.origin[0]:g} is so near a pole that north is many ways in the area; "
                "give it in metres, without an origin."
            )

    @property
    def is_geographic(self) -> bool:
        return self.origin is not None

    @property
    def _origin(self) -> tuple[float, float]:
        if self.origin is None:
            raise ValueError(
                "Places in degrees need an origin: give `origin = [latitude, longitude]` of (0, 0) in [area] "
                "of the site file."
            )
        return self.origin

    def to_metres(self, latitude, longitude) -> np.ndarray:
        """Return east and north (k, 2) [m] of k places in degrees."""
        latitude, longitude = np.atleast_1d(np.float64(latitude)), np.atleast_1d(np.float64(longitude))
        east, north, _ = pymap3d.geodetic2enu(latitude, longitude, 0.0, *self._origin, 0.0)
        return np.stack([east, north], axis=-1)

    def to_degrees(self, positions) -> np.ndarray:
        """Return latitude and longitude (k, 2) [degrees] of k positions (k, 2) [m]."""
        east, north = np.atleast_2d(np.float64(positions)).T
        latitude, longitude, height = pymap3d.enu2geodetic(east, north, 0.0, *self._origin, 0.0)
        up = -height
        for _ in range(_NUM_STEPS):
            latitude, longitude, height = pymap3d.enu2geodetic(east, north, up, *self._origin, 0.0)
            up = up - height
        return np.stack([latitude, longitude], axis=-1)

    def format_position(self, position) -> str:
        """Return a position (2,) [m] as text: degrees to a decimetre if there is an origin, else metres."""
        if not self.is_geographic or max(map(abs, position)) > _MAX_DISTANCE_M:
            return f"({position[0]:.6g}, {position[1]:.6g}) m"
        latitude, longitude = self.to_degrees(position)[0]
        # To a decimetre, and without a zero below zero.
        return f"{abs(latitude):.6f}° {'N' if latitude >= 0 else 'S'}, " + (
            f"{abs(longitude):.6f}° {'E' if longitude >= 0 else 'W'}"
        )

    def format_both(self, position) -> str:
        """Return a position (2,) [m] as text in metres, and in degrees where there is an origin."""
        metres, words = f"({position[0]:.6g}, {position[1]:.6g}) m", self.format_position(position)
        return metres if words == metres else f"{metres}, {words}"


def require_degrees(latitude: float, longitude: float) -> None:
    """Raise a ValueError in one line unless these are a latitude and a longitude in degrees."""
    if not -90 <= latitude <= 90:
        swapped = " (are latitude and longitude swapped?)" if -90 <= longitude <= 90 else ""
        raise ValueError(f"a latitude must be between -90 and 90 degrees; got {latitude}{swapped}.")
    if not -180 <= longitude <= 180:
        hint = f": take off 360, {longitude - 360:g}" if 180 < longitude <= 360 else ""
        raise ValueError(f"a longitude must be between -180 and 180 degrees; got {longitude}{hint}.")


def look_swapped(
    coordinates: LocalCoordinates, area: tuple[tuple[float, float], tuple[float, float]], latitude, longitude
) -> bool:
    """Return whether all places lie in the area [m] with latitude and longitude exchanged, and only so."""
    latitude, longitude = np.atleast_1d(np.float64(latitude)), np.atleast_1d(np.float64(longitude))
    if not np.all(np.abs(longitude) <= 90):
        return False

    def inside(places: np.ndarray) -> bool:
        return bool(np.all((places >= area[0]) & (places <= area[1])))

    swapped, given = coordinates.to_metres(longitude, latitude), coordinates.to_metres(latitude, longitude)
    return inside(swapped) and not inside(given)
