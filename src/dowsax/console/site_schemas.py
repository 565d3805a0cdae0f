"""What answers say of a site and of what lies on its map."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Vector = tuple[float, float]
PictureKey = Annotated[str, StringConstraints(min_length=16, max_length=16, pattern="^[0-9a-f]{16}$")]
"""The id of an uploaded picture."""

MAX_NUMBER = 1e15
"""Of a form, either way: what is larger has no place in it."""
Finite = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)]
Place = tuple[Finite, Finite]
Whole = Annotated[int, Field(ge=0, le=10_000)]
MAX_TEXT_LENGTH = 200
ShortText = Annotated[str, StringConstraints(max_length=MAX_TEXT_LENGTH)]
Range = Annotated[list[int | Finite | ShortText], Field(max_length=2)]
"""From the first number to the second; one that is missing or no number is refused as a fault of its key."""
Value = bool | int | Finite | ShortText | Range | None


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PolygonBody(_Body):
    """A polygon that is drawn."""

    index: Whole | None = None
    """Which one of the site file it is, from 0 on; without it, a new one."""
    name: ShortText = ""
    corners: Annotated[list[Place], Field(max_length=2000)] = Field([])
    """[m]"""


class MapBody(_Body):
    """A picture behind the map."""

    image: ShortText
    corners: Annotated[list[Place], Field(max_length=4)] | None = None
    """[m], two or four."""


class ShapesBody(_Body):
    """What is drawn of a site, in metres."""

    area: tuple[Place, Place]
    origin: Place | None = None
    """Latitude and longitude of (0, 0)."""
    start: Place | None = None
    map: MapBody | None = None
    geofence: Annotated[list[PolygonBody], Field(max_length=200)] = Field([])
    no_go: Annotated[list[PolygonBody], Field(max_length=200)] = Field([])
    obstacle: Annotated[list[PolygonBody], Field(max_length=200)] = Field([])


class SiteFormBody(_Body):
    """A site file to read as a form, and what of the form is to be written into it."""

    text: Annotated[str, StringConstraints(max_length=60_000)] | None = None
    """The site file; without it, a new one of the kind."""
    kind: ShortText = "gas-plume"
    values: dict[str, Value] | None = None
    """By the dotted keys of the site file; null leaves a key out."""
    shapes: ShapesBody | None = None


class FaultAnswer(BaseModel):
    """What is wrong with a site file."""

    key: str
    """The dotted key that it concerns; empty where it is the text as a whole."""
    text: str
    line: str
    """The same with the line of the file."""


class SiteFormAnswer(BaseModel):
    """A site file, and what the form shows of it; values and shapes are null where it cannot be read."""

    text: str
    values: dict[str, Value] | None
    shapes: dict[str, Any] | None
    fields: list[dict[str, Any]]
    """Of the form: key, label, unit, hint, form (text, number, whole, flag, choice or distribution), choices,
    default, and in words what is usual for the kind."""
    units: dict[str, list[dict[str, Any]]]
    """The units in which lengths, speeds and readings may be shown: name, and size in that of the site."""
    faults: list[FaultAnswer]
    site: dict[str, Any] | None
    """The answer of `/api/site/check`; null where there are faults."""


class Answer(BaseModel):
    """An answer has these keys and no others."""

    model_config = ConfigDict(extra="forbid")


class PictureAnswer(Answer):
    """A picture behind the map."""

    corners: tuple[Vector, Vector, Vector]
    """[m], top left, top right and bottom left."""


class UploadAnswer(Answer):
    """A picture that was uploaded for a mission."""

    id: str
    width: int
    height: int
    """Pixels."""
    corners: list[Vector] | None
    """Latitude and longitude of top left, top right, bottom right and bottom left, as a GeoTIFF says them."""
