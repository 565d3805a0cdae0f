"""Step 2 of reading a survey: which column holds what, by the names that loggers use, or as the user says."""

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dowsax.site.kinds import why_no_paths
from dowsax.site.measured import QUANTITIES, READING_UNIT
from dowsax.site.site import Site
from dowsax.site.units import factor, known_unit
from dowsax.survey.csv_file import Rows, Table, list_names

_OTHER_NAMES = {
    "x": "east easting pos_x position_x local_x x1 east1 easting1",
    "y": "north northing pos_y position_y local_y y1 north1 northing1",
    "latitude": "lat gps_lat gps_latitude gpslat drone_lat latitude1 lat1",
    "longitude": "lon lng long gps_lon gps_lng gps_longitude gpslon drone_lon longitude1 lon1 lng1",
    "x2": "east2 easting2",
    "y2": "north2 northing2",
    "latitude2": "lat2",
    "longitude2": "lon2 lng2",
    "value": (
        "reading measurement concentration conc ppm ppb gas methane ch4 co2 co so2 no2 h2s nh3 voc "
        "counts count cps kcps cpm count_rate countrate dose_rate doserate rssi dbm signal "
        "signal_strength level db dba spl sound_level laeq tmi nt total_field mag anomaly "
        "magnetic_anomaly"
    ),
    "altitude": (
        "alt altitude_agl alt_agl agl altitude_ato alt_ato height height_agl rel_alt relative_altitude z"
    ),
    "time": (
        "timestamp datetime date_time time_utc utc_time utc gps_time unix_time epoch t seconds "
        "elapsed elapsed_time time_since_start time_local local_time"
    ),
    "date": "day",
    "wind_u": "u u_wind wind_x wind_east wind_e",
    "wind_v": "v v_wind wind_y wind_north wind_n",
    "wind_speed": "windspeed ws wspd wind_spd wind_velocity",
    "wind_from": (
        "winddir wind_dir wind_direction winddirection wd wdir wind_direction_from "
        "wind_from_direction wind_dir_from"
    ),
    "dwell": "dwell_time integration_time live_time livetime exposure duration",
    "sensor": "sensor_id sensor_name instrument inst device device_id node",
    **{name: quantity.aliases for name, quantity in QUANTITIES.items()},
}
NAMES: dict[str, tuple[str, ...]] = {role: (role, *names.split()) for role, names in _OTHER_NAMES.items()}
"""The names of each role: its own name comes first, and wins where a file has both."""

UNIT_OF_ROLE = {
    **dict.fromkeys(("x", "y", "x2", "y2", "altitude"), "m"),
    **dict.fromkeys(("latitude", "longitude", "latitude2", "longitude2", "wind_from"), "deg"),
    **dict.fromkeys(("wind_u", "wind_v", "wind_speed"), "m/s"),
    **dict.fromkeys(("time", "dwell"), "s"),
    **{
        name: quantity.unit
        for name, quantity in QUANTITIES.items()
        if quantity.unit not in ("", READING_UNIT)
    },
}
_HIT_NAMES = ("hit", "hits", "detection", "detected")
"""Further names of the readings of a binary sensor."""
# Column names that are units themselves.
_UNIT_NAMES = ("ppm", "ppb", "counts", "count", "cps", "kcps", "cpm", "dbm", "db", "dba", "nt")
# Where a file has several of these, the first name in the order above wins.
_INTERCHANGEABLE_ROLES = ("time",)
POSITION_ROLES = (("x", "y"), ("latitude", "longitude"))
FAR_END_ROLES = (("x2", "y2"), ("latitude2", "longitude2"))
WIND_ROLES = (("wind_u", "wind_v"), ("wind_speed", "wind_from"))
"""Two ways to give the same quantity; of the other end of a path, in the order of the position."""
_SAME_PLACE_M = 0.1
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
    """Whether the user named the column, and not dowsax."""
    scale: float = 1.0
    """Factor from the unit of the column to the unit of the role."""


def find_columns(
    table: Table, site: Site | None, columns: Mapping[str, str], unused: Collection[str] = ()
) -> dict[str, Column]:
    """Return the column of each role in a survey file: what `columns` names, then the site, then dowsax.

    Roles in `unused` are left out. Raise a ValueError for a header that does not say where readings were
    taken, or what they are.
    """
    where = f"{table.path}, line {table.header_line}"
    mapping = {**_hit_mapping(site, table.headers), **_site_mapping(site, table.headers), **columns}
    found = match_columns(where, table.headers, mapping, unused=unused)
    _require_columns(where, table, found, site)
    _require_whole_paths(where, table.headers, found, site)
    return found


def match_columns(
    where: str,
    headers: Sequence[str],
    mapping: Mapping[str, str],
    *,
    unused: Collection[str] = (),
    option: str | None = "--column",
) -> dict[str, Column]:
    """Return the column of each role among the headers, but for those in `unused`; errors begin with `where`.

    A mapping wins over names; a role mapped to an empty text is left out. Two columns for one role are an
    error that names both. `option` is the command-line option that chooses one of them.
    """
    _require_roles(where, mapping)
    mapping = {role: "" if role in unused else name for role, name in mapping.items()}
    found: dict[str, Column] = {}
    mapped = set()
    for role, name in mapping.items():
        if name:
            found[role] = _column_by_mapping(where, headers, role, name)
            mapped.add(found[role].index)
    free = [(index, header) for index, header in enumerate(headers) if index not in mapped]
    for role in NAMES:
        column = None if role in mapping or role in unused else _column_by_name(where, free, role, option)
        if column is not None:
            found[role] = column
    return {role: _with_scale(where, role, column) for role, column in found.items()}


def split_header(header: str) -> tuple[str, str | None]:
    """Return the plain name and the unit in brackets: `Wind Speed (m/s)` is `wind_speed` and `m/s`."""
    bracketed = _BRACKETED.match(header.strip())
    name, unit = (bracketed[1], bracketed[2]) if bracketed else (header, None)
    return re.sub(r"[^\w/%]+", "_", name.strip().lower()).strip("_"), unit or None


def _require_roles(where: str, mapping: Mapping[str, str]) -> None:
    for role in mapping:
        if role not in NAMES:
            near = difflib.get_close_matches(role, NAMES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(NAMES)}."
            raise ValueError(f"{where}: unknown meaning {role!r} of a column; {hint}")


def _column_by_mapping(where: str, headers: Sequence[str], role: str, name: str) -> Column:
    """Return the column that the user names: by the whole header first, then without case and unit."""
    for plain in (str.strip, lambda text: text.strip().lower(), lambda text: split_header(text)[0]):
        matches = [index for index, header in enumerate(headers) if plain(header) == plain(name)]
        if len(matches) > 1:
            raise ValueError(f"{where}: the column {name!r} for {role} occurs twice; leave one.")
        if matches:
            header = headers[matches[0]]
            return Column(header.strip(), matches[0], _unit_of(role, header), mapped=True)
    raise ValueError(f"{where}: no column {name!r} for {role}; found {list_names(headers)}.")


def _column_by_name(
    where: str, headers: Sequence[tuple[int, str]], role: str, option: str | None
) -> Column | None:
    ranked = [(_rank(role, header), index, header) for index, header in headers]
    matches = sorted((rank, index, header) for rank, index, header in ranked if rank is not None)
    if not matches:
        return None
    rank, index, header = matches[0]
    same = [other for other_rank, _, other in matches if other_rank == rank]
    if len(same) > 1:
        raise ValueError(f"{where}: the column {header.strip()!r} occurs twice; leave one.")
    if len(matches) > 1 and rank > 0 and role not in _INTERCHANGEABLE_ROLES:
        candidates = [other for _, _, other in matches]
        first = candidates[0].strip()
        or_option = "" if option is None else f" or {option} {role}={first!r}"
        raise ValueError(
            f"{where}: {list_names(candidates)} may each be the {role}; choose one, as in {role} = {first!r} "
            f"under [columns] of the site file{or_option}."
        )
    return Column(header.strip(), index, _unit_of(role, header))


def fits_role(role: str, header: str) -> bool:
    """Return whether the name of a column is one of those of a role."""
    return _rank(role, header) is not None


def _rank(role: str, header: str) -> int | None:
    """Return how well the name fits the role, 0 best; `None` where it does not."""
    name, _ = split_header(header)
    stem = _stem(role, name)[0]
    return NAMES[role].index(stem) if stem in NAMES[role] else None


def _stem(role: str, name: str) -> tuple[str, str | None]:
    """Return a name without its unit, and the unit: `x_m` is `x` and `m`, `ws_m_s` is `ws` and `m/s`."""
    if name in NAMES[role]:
        return name, name if name in _UNIT_NAMES and role == "value" else None
    parts = name.split("_")
    for size in (1, 2):
        stem, unit = "_".join(parts[:-size]), "/".join(parts[-size:])
        # In the name of a wind, ms is no millisecond.
        unit = "m/s" if unit == "ms" and role.startswith("wind") else unit
        if stem in NAMES[role] and known_unit(unit):
            return stem, unit
    return name, None


def _unit_of(role: str, header: str) -> str | None:
    name, bracketed = split_header(header)
    return bracketed if bracketed is not None else _stem(role, name)[1]


def _with_scale(where: str, role: str, column: Column) -> Column:
    """Return the column with its scale, where the unit of the role is fixed."""
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


def _hit_mapping(site: Site | None, headers: list[str]) -> dict[str, str]:
    """Return the column of the hits of a binary sensor, where no other may be the reading."""
    hits = [header for header in headers if split_header(header)[0] in _HIT_NAMES]
    is_binary = site is not None and site.sensor.reading == "binary"
    if not is_binary or len(hits) != 1 or any(fits_role("value", header) for header in headers):
        return {}
    return {"value": hits[0]}


def _site_mapping(site: Site | None, headers: list[str]) -> dict[str, str]:
    """Return the columns that the site names, except those that the file has by their plain names instead.

    So a file that dowsax wrote is read at the site that it was written for.
    """
    plain = {split_header(header)[0] for header in headers}
    columns = {} if site is None else site.columns
    return {
        role: name
        for role, name in columns.items()
        if not name or split_header(name)[0] in plain or role not in plain
    }


def _require_columns(where: str, table: Table, found: Mapping[str, Column], site: Site | None) -> None:
    metres, degrees = {"x", "y"} <= set(found), {"latitude", "longitude"} <= set(found)
    half = {"latitude", "longitude"} & set(found)
    if not metres and len(half) == 1:
        (here,) = half
        gone = "latitude" if here == "longitude" else "longitude"
        raise ValueError(
            f"{where}: {found[here].header!r} is the {here}, and there is no column for {gone}; found "
            f"{list_names(table.headers)}. Say which it is by {gone} = 'name' under [columns] of the site "
            f"file, or by --column {gone}=name."
        )
    if not metres and not degrees:
        missing = [role for role in ("x", "y") if role not in found]
        names = "x and y [m], or latitude and longitude, and value"
        if site is None:
            names = "x, y [m] and value; places in degrees need a site file (`dowsax site new`, then --site)"
        raise ValueError(
            f"{where}: no column {' or '.join(map(repr, missing))}; found {list_names(table.headers)} "
            f"(separated by {table.separator_name}). The header must name {names}."
        )
    if not metres and site is not None and not site.coordinates.is_geographic:
        raise ValueError(
            f"{where}: places in degrees need an origin; give `origin = [latitude, longitude]` of (0, 0) in "
            "[area] of the site file."
        )
    if "value" not in found:
        raise ValueError(
            f"{where}: no column 'value'; found {list_names(table.headers)} (separated by "
            f"{table.separator_name}). Name it value, or say which it is by value = 'name' under [columns] "
            "of the site file, or by --column value=name."
        )


def _require_whole_paths(
    where: str, headers: Sequence[str], found: Mapping[str, Column], site: Site | None
) -> None:
    """Raise a ValueError for columns that give one end of a path without the other, or paths of no use."""
    for near, far in zip(POSITION_ROLES, FAR_END_ROLES, strict=True):
        given, names = [role for role in far if role in found], " and ".join(map(repr, far))
        ends = [role for role in near if role in found and is_near_end(role, found[role].header)]
        if given and not {*near, *far} <= set(found):
            raise ValueError(
                f"{where}: {found[given[0]].header!r} is of the far end of a path, which needs "
                f"{', '.join((*near, *far))}; name the others under [columns], or leave it out by "
                f"{given[0]} = ''."
            )
        if ends and not given:
            raise ValueError(
                f"{where}: {found[ends[0]].header!r} is of one end of a path, and the other is missing; name "
                f"{names} under [columns], or the column {ends[0]!r} if readings are at points."
            )
        why = None if not given or site is None else why_no_paths(site.kind)
        if why is not None:
            raise ValueError(
                f"{where}, column {found[given[0]].header!r}: {why}; give the readings at points, and leave "
                f"the far ends out by {far[0]} = '' and {far[1]} = '' under [columns]."
            )
        _require_one_near_end(where, headers, {role: found[role] for role in near if given})


def _require_one_near_end(where: str, headers: Sequence[str], chosen: Mapping[str, Column]) -> None:
    """Raise a ValueError where both x and x1 may be the first end of a path."""
    for role, column in chosen.items():
        if column.mapped or is_near_end(role, column.header):
            continue
        for header in headers:
            if fits_role(role, header) and is_near_end(role, header):
                raise ValueError(
                    f"{where}: {column.header!r} and {header.strip()!r} may each be the {role} of the first "
                    f"end of a path; choose one, as in {role} = {header.strip()!r} under [columns]."
                )


def is_near_end(role: str, header: str) -> bool:
    """Return whether the name of a position's column says that it is of the first end of a path."""
    return _stem(role, split_header(header)[0])[0].endswith("1")


def choose_position_columns(rows: Rows, found: dict[str, Column], site: Site | None) -> dict[str, Column]:
    """Return the columns with either x and y, or latitude and longitude."""
    metres, degrees = {"x", "y"} <= set(found), {"latitude", "longitude"} <= set(found)
    if metres and degrees and site is not None and site.coordinates.is_geographic:
        chosen = [pair for pair in POSITION_ROLES if all(found[role].mapped for role in pair)]
        if len(chosen) != 1 and _agree(rows, found, site):
            chosen = [("x", "y")]
        if len(chosen) != 1:
            headers = [found[role].header for role in ("x", "y", "latitude", "longitude")]
            raise ValueError(
                f"{rows.path}, line {rows.header_line}: {list_names(headers)} say twice where a reading was "
                "taken; leave two out, by x = '' and y = '' under [columns] or --column x= --column y=."
            )
        metres = chosen == [("x", "y")]
    unused = int(metres)
    other = (*POSITION_ROLES[unused], *FAR_END_ROLES[unused])
    return {role: column for role, column in found.items() if role not in other}


def _agree(rows: Rows, found: dict[str, Column], site: Site) -> bool:
    """Return whether x, y and latitude, longitude are the same positions, as in a file that dowsax wrote."""
    try:
        x, y, latitude, longitude = (
            found[role].scale * np.array([float(cell) for cell in rows.cells[found[role].index]])
            for role in ("x", "y", "latitude", "longitude")
        )
    except ValueError:
        return False
    apart = site.coordinates.to_metres(latitude, longitude) - np.stack([x, y], axis=-1)
    return bool(np.all(np.abs(apart) <= _SAME_PLACE_M))
