"""Which column of a survey file holds what: the names that loggers use, units in headers, and mappings."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dowsax.site.column_names import NAMES, ROLES
from dowsax.site.units import factor, known_unit

UNIT_OF_ROLE = {
    **dict.fromkeys(("x", "y", "altitude"), "m"),
    **dict.fromkeys(("latitude", "longitude", "wind_from"), "deg"),
    **dict.fromkeys(("wind_u", "wind_v", "wind_speed"), "m/s"),
    **dict.fromkeys(("time", "dwell"), "s"),
}
# Names that are units themselves.
_IMPLIED = ("ppm", "ppb", "counts", "count", "cps", "kcps", "cpm", "dbm", "db", "dba", "nt")
_MAX_LISTED, _MAX_NAME = 20, 60
"""Columns that an error names, and characters of each."""
# One clock is enough: where a file has several, the first by the order above is taken.
_INTERCHANGEABLE = ("time",)
_BRACKETED = re.compile(r"^(.*?)\s*[(\[]\s*([^)\]]*)\s*[)\]]\s*$")


@dataclass(frozen=True)
class Column:
    """A column of a file with its meaning."""

    header: str
    """As it stands in the file."""
    index: int
    unit: str | None
    """As the header says, or `None`."""
    mapped: bool = False
    """Whether the user said so, not the name."""
    scale: float = 1.0
    """By what its numbers are multiplied to be in the unit of the role."""


def recognised(
    where: str, headers: Sequence[str], mapping: Mapping[str, str], *, option: str | None = "--column"
) -> dict[str, Column]:
    """The column of each role that the file has; `where` is the file and line that errors name.

    A mapping goes before names; a role mapped to an empty text is left out. Two columns for one role are an
    error that names both. `option` is that of the command line by which one of them is chosen.
    """
    _require_roles(where, mapping)
    found: dict[str, Column] = {}
    taken = set()
    for role, name in mapping.items():
        if name:
            found[role] = _mapped(where, headers, role, name)
            taken.add(found[role].index)
    free = [(index, header) for index, header in enumerate(headers) if index not in taken]
    for role in ROLES:
        column = None if role in mapping else _named(where, free, role, option)
        if column is not None:
            found[role] = column
    return {role: _scaled(where, role, column) for role, column in found.items()}


def split_header(header: str) -> tuple[str, str | None]:
    """The plain name and the unit in brackets: `Wind Speed (m/s)` is `wind_speed` and `m/s`."""
    bracketed = _BRACKETED.match(header.strip())
    name, unit = (bracketed[1], bracketed[2]) if bracketed else (header, None)
    return re.sub(r"[^\w/%]+", "_", name.strip().lower()).strip("_"), unit or None


def _require_roles(where: str, mapping: Mapping[str, str]) -> None:
    for role in mapping:
        if role not in ROLES:
            near = difflib.get_close_matches(role, ROLES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(ROLES)}."
            raise ValueError(f"{where}: unknown meaning {role!r} of a column; {hint}")


def _mapped(where: str, headers: Sequence[str], role: str, name: str) -> Column:
    """The column the user names: by the whole header first, then without case and unit."""
    for plain in (str.strip, lambda text: text.strip().lower(), lambda text: split_header(text)[0]):
        matches = [index for index, header in enumerate(headers) if plain(header) == plain(name)]
        if len(matches) > 1:
            raise ValueError(f"{where}: the column {name!r} for {role} occurs twice; leave one.")
        if matches:
            header = headers[matches[0]]
            return Column(header.strip(), matches[0], _unit_of(role, header), mapped=True)
    raise ValueError(f"{where}: no column {name!r} for {role}; found {listed(headers)}.")


def _named(where: str, headers: Sequence[tuple[int, str]], role: str, option: str | None) -> Column | None:
    ranked = [(_rank(role, header), index, header) for index, header in headers]
    matches = sorted((rank, index, header) for rank, index, header in ranked if rank is not None)
    if not matches:
        return None
    rank, index, header = matches[0]
    same = [other for other_rank, _, other in matches if other_rank == rank]
    if len(same) > 1:
        raise ValueError(f"{where}: the column {header.strip()!r} occurs twice; leave one.")
    if len(matches) > 1 and rank > 0 and role not in _INTERCHANGEABLE:
        candidates = [other for _, _, other in matches]
        first = candidates[0].strip()
        or_option = "" if option is None else f" or {option} {role}={first!r}"
        raise ValueError(
            f"{where}: {listed(candidates)} may each be the {role}; choose one, as in {role} = {first!r} "
            f"under [columns] of the site file{or_option}."
        )
    return Column(header.strip(), index, _unit_of(role, header))


def _rank(role: str, header: str) -> int | None:
    """How good a name for the role this is, 0 best; `None` where it is none."""
    name, _ = split_header(header)
    stem = _stem(role, name)[0]
    return NAMES[role].index(stem) if stem in NAMES[role] else None


def _stem(role: str, name: str) -> tuple[str, str | None]:
    """A name without the unit at its end, and that unit: `x_m` is `x` and `m`, `ws_m_s` is `ws` and `m/s`."""
    if name in NAMES[role]:
        return name, name if name in _IMPLIED and role == "value" else None
    parts = name.split("_")
    for size in (1, 2):
        stem, unit = "_".join(parts[:-size]), "/".join(parts[-size:])
        # In the name of a wind this is no millisecond.
        unit = "m/s" if unit == "ms" and role.startswith("wind") else unit
        if stem in NAMES[role] and known_unit(unit):
            return stem, unit
    return name, None


def _unit_of(role: str, header: str) -> str | None:
    name, bracketed = split_header(header)
    return bracketed if bracketed is not None else _stem(role, name)[1]


def _scaled(where: str, role: str, column: Column) -> Column:
    """The column with its scale, where the unit of the role is fixed."""
    wanted = UNIT_OF_ROLE.get(role)
    if column.unit is None or wanted is None:
        return column
    unit = known_unit(column.unit)
    # Loggers write `UTC`, `local` and the like where the unit of a time would be.
    if unit is None and role == "time":
        return Column(column.header, column.index, None, column.mapped)
    scale = None if unit is None else factor(unit, wanted)
    if scale is None:
        raise ValueError(
            f"{where}, column {column.header!r}: the unit {column.unit!r} of {role} is not one that becomes "
            f"{wanted} by a factor; convert the column, or correct its header."
        )
    return Column(column.header, column.index, unit, column.mapped, scale)


def listed(headers: Sequence[str]) -> str:
    """Names of columns for an error, not too many and not too long."""
    names = [header.strip() for header in headers[:_MAX_LISTED]]
    cut = [name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 3]}..." for name in names]
    more = f" and {len(headers) - _MAX_LISTED:,} more" if len(headers) > _MAX_LISTED else ""
    return ", ".join(map(repr, cut)) + more
