"""Readings along a listed path of the site, by its name in place of its ends."""

from collections.abc import Mapping, Sequence
from typing import Any

from dowsax.site.area import ListedPath
from dowsax.site.text import show
from dowsax.survey.columns import FAR_END_ROLES, POSITION_ROLES
from dowsax.survey.reading import Refused
from dowsax.survey.reading_json import given_roles

PATH = "path"
"""The key of a reading that names its path, as `next_path` of an advice does."""
_PLACES = {role for pair in (*POSITION_ROLES, *FAR_END_ROLES) for role in pair}
_MAX_NAMES = 20
"""In an error."""


def with_ends(
    body: dict[str, Any], paths: Sequence[ListedPath], columns: Mapping[str, str], ground: float
) -> dict[str, Any]:
    """Return the keys of a reading with ends and altitude of the path that it names, or `Refused`.

    Unchanged where the reading gives a place itself, at a site without paths, and where the key is a column.
    `ground` [m] is what the site takes off every altitude.
    """
    key = next(
        (key for key, value in body.items() if key.strip().lower() == PATH and value is not None), None
    )
    if key is None or not paths or key in columns.values():
        return body
    roles = given_roles(body, columns)
    if roles & _PLACES:
        return body
    path = next((path for path in paths if path.name == body[key]), None)
    if path is None:
        names = ", ".join(path.name for path in paths[:_MAX_NAMES]) + ", …" * (len(paths) > _MAX_NAMES)
        raise Refused(f"Unknown path {show(body[key])}: the site file names {names}.")
    given = {name: value for name, value in body.items() if name != key}
    given |= zip(("x", "y", "x2", "y2"), (*path.ends[0], *path.ends[1]), strict=True)
    if path.height is not None and "altitude" not in roles:
        given["altitude"] = path.height + ground
    return given
