"""Where a site is: the tables `[area]`, `[map]`, `[[geofence]]`, `[[no_go]]`, `[[obstacle]]`, `[[paths]]`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Discriminator, Tag, model_validator

from dowsax.site.obstacles import Corner
from dowsax.site.section import FORMS, NonNegative, Number, Pair, Points, Section, key
from dowsax.site.text import Fault, show

BOX = ("south", "west", "north", "east")
MAX_CORNERS = 2000
"""Of all polygons of a geofence, or of all no-go areas."""


class AreaSetting(Section):
    """The box in which the source lies, in metres or in degrees."""

    low: Pair | None = key(example=[0.0, 0.0], unit="m", active=True)
    """South-western corner: metres east and north of your own (0, 0)."""
    high: Pair | None = key(example=[200.0, 150.0], unit="m", active=True)
    """North-eastern corner."""
    south: Number | None = key(example=52.1, unit="°", ge=-90, le=90)
    """Latitude of the southern side: south, west, north and east are instead of low and high."""
    west: Number | None = key(example=5.1, unit="°", ge=-180, le=180)
    """Longitude of the western side. Across the 180th meridian west is the larger number."""
    north: Number | None = key(example=52.1015, unit="°", ge=-90, le=90)
    """Latitude of the northern side."""
    east: Number | None = key(example=5.103, unit="°", ge=-180, le=180)
    """Longitude of the eastern side."""
    origin: Pair | None = key(example=[52.1, 5.1], unit="°")
    """Latitude and longitude of (0, 0): needed to use metres and degrees together. Default: the middle of an
    area in degrees."""
    outside: Literal["refuse", "leave-out", "allow"] = key("refuse", example="refuse", active=True)
    """What becomes of a reading taken outside the area: "refuse", "leave-out" or "allow"."""
    source_low: Pair | None = key(example=[20.0, 20.0], unit="m")
    """South-western corner of the part of the area in which the source is known to lie. Default: low."""
    source_high: Pair | None = key(example=[120.0, 90.0], unit="m")
    """North-eastern corner of that part. Default: high."""

    @model_validator(mode="after")
    def _require_one_box(self) -> "AreaSetting":
        in_degrees, in_metres = self.given(*BOX), self.given("low", "high")
        if in_degrees and in_metres:
            words = f"give low and high in metres, or {', '.join(BOX)} in degrees, not both."
            raise Fault(words, in_metres[0])
        self.require(*(BOX if in_degrees else ("low", "high")))
        return self


class MapSetting(Section):
    """A picture of the site to show behind the map of the console: an aerial photograph, or a plan."""

    image: str | None = key(example="plan.png")
    """A PNG, JPEG or GeoTIFF file, its path from the site file on."""
    corners: Points | None = key(example=[[0.0, 0.0], [200.0, 150.0]], unit="m")
    """Where it lies: its south-western and its north-eastern corner, or all four of a picture that is turned,
    top left, top right, bottom right and bottom left. Default: where a GeoTIFF says."""
    corners_degrees: Points | None = key(example=[[52.1, 5.1], [52.1015, 5.103]], unit="°")
    """The corners as latitude and longitude instead."""

    @model_validator(mode="after")
    def _require_an_image(self) -> "MapSetting":
        given = self.given("corners", "corners_degrees")
        if given and self.image is None:
            raise Fault("is that of a picture; give the `image`, or leave this out.", given[0])
        return self


@dataclass(frozen=True, eq=False)
class MapImage:
    """A picture of a site, as its file names it."""

    file: str
    corners: np.ndarray | None = None
    """(4, 2) [m]: top left, top right, bottom right, bottom left; `None` where the picture has to say."""


class PathSetting(Section):
    """One open path along which a laser or spectrometer that stands there reads the mean."""

    name: str = key(...)
    """What the path is called, in advice too."""
    ends: Points | None = key(unit="m")
    """The two ends."""
    ends_degrees: Points | None = key(example=[[52.1, 5.1], [52.1015, 5.103]], unit="°")
    """The two ends as latitude and longitude instead."""
    height: Number | None = key(example=1.5, unit="m", ge=0)
    """Height above ground, the same along the path. Default: that of [sensor]."""

    @model_validator(mode="after")
    def _require_ends(self) -> "PathSetting":
        self.require("ends_degrees" if self.given("ends_degrees") else "ends")
        return self


@dataclass(frozen=True)
class ListedPath:
    """An open path of a site."""

    name: str
    ends: tuple[Corner, Corner]
    """[m]"""
    height: float | None = None
    """[m] above ground; `None` for that of the sensor."""


class PolygonSetting(Section):
    """One polygon of the geofence, or one no-go area."""

    name: str = key("")
    """For yourself."""
    corners: Points | None = key(unit="m")
    """The corners in order, one way round."""
    corners_degrees: Points | None = key(example=[[52.1, 5.1], [52.1, 5.103], [52.1015, 5.103]], unit="°")
    """The corners as latitude and longitude instead."""

    @model_validator(mode="after")
    def _require_corners(self) -> "PolygonSetting":
        self.require("corners_degrees" if self.given("corners_degrees") else "corners")
        return self


_SHAPES = ("corners", "corners_degrees", "file", "map")


def _require_attenuation(value: Any) -> Any:
    if isinstance(value, str) and value not in ("opaque", "unknown"):
        raise ValueError(f'must be "opaque", {FORMS}; got {show(value)}.')
    return value


class ObstacleSetting(Section):
    """What stands in the way of the sensor, and between source and sensor: a polygon, or those of a file."""

    name: str = key("")
    """What it is called."""
    corners: Points | None = key(unit="m")
    """The corners in order, one way round."""
    corners_degrees: Points | None = key(example=[[52.1, 5.1], [52.1, 5.103], [52.1015, 5.103]], unit="°")
    """The corners as latitude and longitude instead."""
    file: str | None = key(example="plant.geojson")
    """Or a GeoJSON file of polygons in longitude and latitude, its path from the site file on. Each may have
    the properties name, height and attenuation; what it does not have is as given here."""
    map: str | None = key(example="map.yaml")
    """Or an occupancy map of a robot, as ROS map_server writes it: a YAML file with its PGM image, in metres
    of the site. Its occupied cells are obstacles."""
    simplify: Number | None = key(example=0.1, unit="m", ge=0)
    """Corners of a file or map are left out where the border moves by no more than this. Default: none, and
    half a cell of a map."""
    height: Number | None = key(example=6.0, unit="m", gt=0)
    """Height above ground. A sensor with a greater `height` in [sensor] goes over it. Default: higher than
    everything."""
    attenuation: Annotated[
        Annotated[Literal["opaque"], Tag("opaque")] | Annotated[NonNegative, Tag("number")],
        Discriminator(lambda value: "opaque" if value == "opaque" else "number"),
        BeforeValidator(_require_attenuation),
    ] = key("opaque", example="opaque")
    """How much weaker what goes through becomes, in 1/m for radiation and in dB/m for a level: "opaque" where
    nothing does, a number, a distribution, or "unknown"."""

    @model_validator(mode="after")
    def _require_one_shape(self) -> "ObstacleSetting":
        given = self.given(*_SHAPES)
        if not given:
            raise Fault("needs its `corners` (or `corners_degrees`), a `file` or a `map`.")
        if len(given) > 1 and given != ["corners", "corners_degrees"]:
            raise Fault(f"cannot be given with {given[0]}; give one of {', '.join(_SHAPES)}.", given[1])
        if self.given("simplify") and not self.given("file", "map"):
            raise Fault("is for a file or map; leave it out.", "simplify")
        return self
