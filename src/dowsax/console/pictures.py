"""Pictures behind the map: read from a file that a stranger may have sent, and placed on the site.

A picture is decoded and encoded again, so that what the console serves is a picture and nothing else, and is
small enough for a phone.
"""

import hashlib
import io
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dowsax.console.geotiff import corners_of
from dowsax.extras import require_extra
from dowsax.files import replace_file
from dowsax.site import Site
from dowsax.site.places import image_fault

MAX_BYTES = 30 * 1024 * 1024
"""Of a file."""
MAX_PIXELS = 25_000_000
"""Of a file, which may say them in a few bytes: they take up to 16 bytes each while it is made smaller."""
MAX_SIDE = 4096
"""Pixels along the longer side of the picture that is stored."""
MAX_UPLOADS = 20
"""Pictures that wait for their mission; one more removes the oldest."""
_FORMATS = ("PNG", "JPEG", "TIFF")
_STORED_AS = {"PNG": "PNG", "JPEG": "JPEG", "MPO": "JPEG", "TIFF": "WEBP"}
_MEDIA_TYPES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}
_NO_PICTURE = "is not a picture that can be read: give a PNG, JPEG or GeoTIFF file."


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture as it is stored."""

    data: bytes
    width: int
    height: int
    """Pixels."""
    corners: np.ndarray | None = None
    """(4, 2) [degrees], latitude and longitude, where the file says them."""


class _Refused(ValueError):
    """What is wrong with a file, in a line."""


def read_picture(data: bytes, name: str) -> Picture:
    """Read a PNG, JPEG or GeoTIFF file, or raise a ValueError in one line that begins with its name."""
    require_extra("console", "A picture behind the map")
    # Late, as only a mission with a picture needs it.
    from PIL import Image

    too_large = f"{name} has more than {MAX_PIXELS:,} pixels: make it smaller."
    if len(data) > MAX_BYTES:
        raise ValueError(f"{name} has more than {MAX_BYTES // 1024**2} MB: make it smaller.")
    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            # Of odd tags: what matters of them is checked.
            warnings.simplefilter("ignore")
            if image.width * image.height > MAX_PIXELS:
                raise _Refused(too_large)
            return _encode(image, name)
    except _Refused:
        raise
    except Image.DecompressionBombError:
        raise _Refused(too_large) from None
    except Exception:
        # A damaged file may raise anything.
        raise _Refused(f"{name} {_NO_PICTURE}") from None


def _encode(image: Any, name: str) -> Picture:
    """Return the picture of an open file."""
    from PIL import ImageOps

    if image.mode.startswith(("I", "F")):
        raise _Refused(f"{name} has numbers and no colours: export it as a picture with 8 bits a colour.")
    form, corners = str(image.format), None
    if form == "TIFF":
        try:
            corners = corners_of(image.tag_v2, image.width, image.height)
        except ValueError as error:
            raise _Refused(f"{name}: {error}") from None
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    mode = "RGBA" if has_alpha else "RGB"
    if image.mode in ("1", "P", "PA") or "transparency" in image.info:
        # Its numbers stand for colours: the mean of two is none of them.
        image = image.convert(mode)
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    if form != "TIFF":
        # As the camera was held.
        ImageOps.exif_transpose(image, in_place=True)
    plain = image if image.mode == mode else image.convert(mode)
    # Comments of the file would be stored with it.
    plain.info.clear()
    made = io.BytesIO()
    plain.save(made, _STORED_AS[form], quality=85)
    return Picture(made.getvalue(), plain.width, plain.height, corners)


def read_picture_file(path: Path) -> Picture:
    """Read a picture that a site file names."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"{path} has more than {MAX_BYTES // 1024**2} MB: make it smaller.")
        return read_picture(path.read_bytes(), str(path))
    except OSError:
        raise ValueError(
            f"{path} does not exist: check `image` in [map], a path from the site file on."
        ) from None


def site_picture(site: Site, file: str | None) -> Picture | None:
    """Read the picture that a site file on this machine names; `None` where it names none."""
    if site.map is None or file is None:
        return None
    return read_picture_file(Path(file).parent / site.map.file)


def media_type(data: bytes) -> str:
    """Return the media type of a stored picture."""
    return next((kind for mark, kind in _MEDIA_TYPES.items() if data.startswith(mark)), "image/png")


def place_picture(picture: Picture, site: Site) -> list[list[float]]:
    """Return top left, top right and bottom left of a picture [m]; a ValueError where nothing says them."""
    where = "in [map] of the site file"
    corners = None if site.map is None else site.map.corners
    if corners is None and picture.corners is None:
        raise ValueError(f"The picture does not say where it lies: give its `corners` {where}.")
    if corners is None and not site.coordinates.is_geographic:
        raise ValueError(
            "The picture lies in degrees, and the site has metres alone: give "
            f"`origin = [latitude, longitude]` in [area], or the `corners` {where}."
        )
    if corners is None:
        assert picture.corners is not None
        corners = site.coordinates.to_metres(*picture.corners.T)
        if (fault := image_fault(corners)) is not None:
            raise ValueError(f"What the GeoTIFF says of its corners {fault}")
        if _is_far(corners, site):
            raise ValueError(
                f"The picture lies nowhere near the area: check both, or give its `corners` {where}."
            )
    top_left, top_right, bottom_right, bottom_left = corners
    # Of four corners the parallelogram that is nearest.
    middle = corners.mean(axis=0)
    across = (top_right - top_left + bottom_right - bottom_left) / 2
    down = (bottom_left - top_left + bottom_right - top_right) / 2
    start = middle - (across + down) / 2
    return [place.tolist() for place in (start, start + across, start + down)]


def _is_far(corners: np.ndarray, site: Site) -> bool:
    """Return whether the box of a picture is beyond the area and as much again on each side."""
    low, high = np.array(site.area)
    room = high - low
    return bool((corners.max(axis=0) < low - room).any() or (corners.min(axis=0) > high + room).any())


class UploadedPictures:
    """Pictures that were sent for missions that do not exist yet, each under the hash of its content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, picture: Picture) -> str:
        """Store a picture; return its id."""
        id = hashlib.sha256(picture.data).hexdigest()[:16]
        self._folder.mkdir(exist_ok=True)
        with replace_file(self._folder / id) as partial:
            partial.write_bytes(_pack(picture))
        oldest = sorted(self._folder.glob("[0-9a-f]*"), key=lambda path: path.stat().st_mtime)
        for path in oldest[:-MAX_UPLOADS]:
            with suppress(OSError):
                path.unlink()
        return id

    def get(self, id: str) -> Picture:
        """Return an uploaded picture, or raise a ValueError where it is gone."""
        try:
            return _unpack((self._folder / id).read_bytes())
        except (OSError, ValueError):
            raise ValueError("The picture is no longer here: upload it again.") from None


def _pack(picture: Picture) -> bytes:
    """Return size and corners as ten numbers, and the picture after them."""
    corners = np.full((4, 2), np.nan) if picture.corners is None else picture.corners
    head = np.array([picture.width, picture.height, *corners.ravel()], "<f8")
    return head.tobytes() + picture.data


def _unpack(packed: bytes) -> Picture:
    head = np.frombuffer(packed[:80], "<f8")
    width, height, *rest = head.tolist()
    corners = np.reshape(rest, (4, 2))
    known = corners if np.isfinite(corners).all() else None
    return Picture(packed[80:], int(width), int(height), known)
