"""Degrees to metres and back: the plane that touches the Earth at the site's origin."""

from dataclasses import dataclass

import numpy as np
import pymap3d

# Each step leaves less than a ten-thousandth of the height above the ellipsoid within 100 km.
_STEPS = 3
_NORTHERNMOST = 89.0
"""[degrees], beyond which, north or south, directions turn by more than half a degree within a kilometre."""
_FARTHEST_M = 6.4e6
"""From the origin: farther out, no place of the Earth lies below the plane."""


@dataclass(frozen=True)
class Frame:
    """East and north [m] of an origin on the WGS84 ellipsoid; without an origin, metres alone.

    A place is dropped from the ellipsoid onto the plane, and `to_degrees` climbs back to it, so that there
    and back again is exact to less than a millimetre within 100 km. Distances in the plane are short by a
    share $d^2/6R^2$ at most: 4 mm over 10 km. Across the 180th meridian it goes on; at the poles it does not.
    """

    origin: tuple[float, float] | None = None
    """Latitude and longitude [degrees] of (0, 0)."""

    def __post_init__(self) -> None:
        if self.origin is None:
            return
        require_degrees(*self.origin)
        if abs(self.origin[0]) > _NORTHERNMOST:
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
        """(k, 2) [m], east and north, of k places in degrees."""
        latitude, longitude = np.atleast_1d(np.float64(latitude)), np.atleast_1d(np.float64(longitude))
        east, north, _ = pymap3d.geodetic2enu(latitude, longitude, 0.0, *self._origin, 0.0)
        return np.stack([east, north], axis=-1)

    def to_degrees(self, positions) -> np.ndarray:
        """(k, 2), latitude and longitude [degrees], of k positions (k, 2) [m]."""
        east, north = np.atleast_2d(np.float64(positions)).T
        latitude, longitude, height = pymap3d.enu2geodetic(east, north, 0.0, *self._origin, 0.0)
        up = -height
        for _ in range(_STEPS):
            latitude, longitude, height = pymap3d.enu2geodetic(east, north, up, *self._origin, 0.0)
            up = up - height
        return np.stack([latitude, longitude], axis=-1)

    def words(self, position) -> str:
        """A position (2,) [m] for people: degrees where there are any, to a decimetre, else metres."""
        if not self.is_geographic or max(map(abs, position)) > _FARTHEST_M:
            return f"({position[0]:.6g}, {position[1]:.6g}) m"
        latitude, longitude = self.to_degrees(position)[0]
        # To a decimetre, and without a zero below zero.
        return f"{abs(latitude):.6f}° {'N' if latitude >= 0 else 'S'}, " + (
            f"{abs(longitude):.6f}° {'E' if longitude >= 0 else 'W'}"
        )


def require_degrees(latitude: float, longitude: float) -> None:
    """A ValueError in one line unless these are a latitude and a longitude in degrees."""
    if not -90 <= latitude <= 90:
        swapped = " (are latitude and longitude swapped?)" if -90 <= longitude <= 90 else ""
        raise ValueError(f"a latitude is between -90 and 90 degrees; got {latitude}{swapped}.")
    if not -180 <= longitude <= 180:
        hint = f": take off 360, {longitude - 360:g}" if 180 < longitude <= 360 else ""
        raise ValueError(f"a longitude is between -180 and 180 degrees; got {longitude}{hint}.")


def look_swapped(
    frame: Frame, area: tuple[tuple[float, float], tuple[float, float]], latitude, longitude
) -> bool:
    """Whether all these places lie in the area [m] once latitude and longitude change places, and not before.

    So a site where the two are nearly equal takes its readings as they are.
    """
    latitude, longitude = np.atleast_1d(np.float64(latitude)), np.atleast_1d(np.float64(longitude))
    if not np.all(np.abs(longitude) <= 90):
        return False

    def inside(places: np.ndarray) -> bool:
        return bool(np.all((places >= area[0]) & (places <= area[1])))

    return inside(frame.to_metres(longitude, latitude)) and not inside(frame.to_metres(latitude, longitude))
