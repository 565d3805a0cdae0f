"""What stands in the way of the sensor, and between source and sensor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dowsax.geo.polygons import Polygon, holds
from dowsax.site.section import Distribution

Corner = tuple[float, float]
Area = tuple[Corner, Corner]
"""[m], the south-western and the north-eastern corner."""
Attenuation = Distribution | Literal["opaque"]
"""[1/m] for radiation, [dB/m] for level; "opaque" lets nothing through."""


@dataclass(frozen=True, eq=False)
class Obstacle:
    """An obstacle of a site, from the ground up."""

    corners: Polygon
    """[m]"""
    name: str = ""
    attenuation: Attenuation = "opaque"
    height: float | None = None
    """[m] above ground; `None` for higher than everything."""

    def stops(self, height: float | None) -> bool:
        """Return whether a sensor at a height [m] cannot go over it; `None` is a height that is not known."""
        return self.height is None or height is None or self.height >= height

    def covers(self, place: Corner) -> bool:
        """Return whether a place [m] is inside."""
        return bool(holds(self.corners, np.array([place]))[0])

    def blinds(self, places: np.ndarray, heights: Sequence[float | None]) -> np.ndarray:
        """Return whether a sensor at each of the places (k, 2) and heights [m] is inside, and blind."""
        if self.attenuation != "opaque":
            return np.zeros(len(places), bool)
        return holds(self.corners, places) & np.array([self.stops(height) for height in heights], bool)

    def title(self, number: int) -> str:
        """Return the name, or else the number, counted from 0 here and from 1 in words."""
        return repr(self.name) if self.name else str(number + 1)
