"""The wind of a survey: (u, v) where the air goes, or speed and the direction it comes FROM."""

from collections.abc import Callable

import numpy as np

from dowsax.geo.wind import filled_in_time, wind_from
from dowsax.site.kinds import KINDS
from dowsax.site.missing_values import direction_fault, wind_fault
from dowsax.site.site import Site
from dowsax.survey.cells import Sheet

_WAYS = (("wind_u", "wind_v"), ("wind_speed", "wind_from"))


def read_wind(sheet: Sheet, times: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray]:
    """The winds (k, 2) [m/s] or `None`, and which of the readings have one.

    A reading without wind is left out, refused, or has it interpolated in time, as the site says. Where the
    site gives a constant wind, that is the wind of every reading; where it asks for none, none is used.
    """
    everywhere = np.ones(len(sheet.rows.lines), bool)
    needed = (
        sheet.site is not None and KINDS[sheet.site.kind].uses_wind and sheet.site.wind.mode == "measured"
    )
    way = _way(sheet)
    if sheet.site is not None and not needed:
        return _constant(sheet.site, len(everywhere)), everywhere
    if way is None:
        if needed:
            raise ValueError(
                f"{sheet.rows.path}, line {sheet.rows.header_line}: {_lacking(sheet)} under [columns], or "
                "set `mode` in [wind] of the site file."
            )
        return None, everywhere
    missing = sheet.missing(way[0]) | sheet.missing(way[1])
    if not missing.any():
        return _winds(sheet, way), everywhere
    if not needed or missing.all():
        return _without(sheet, needed, missing), everywhere
    return _some_missing(sheet, way, missing, times)


def _constant(site: Site, count: int) -> np.ndarray | None:
    velocity = site.wind.velocity
    return None if velocity is None else np.tile(np.array(velocity), (count, 1))


def _way(sheet: Sheet) -> tuple[str, str] | None:
    ways = [way for way in _WAYS if set(way) <= set(sheet.columns)]
    header = f"{sheet.rows.path}, line {sheet.rows.header_line}"
    if len(ways) > 1:
        names = ", ".join(repr(sheet.columns[role].header) for way in ways for role in way)
        raise ValueError(
            f"{header}: {names} give the wind twice; leave one out, by wind_speed = '' under [columns] or "
            "--column wind_speed=."
        )
    if not ways and ("wind_u" in sheet.columns) != ("wind_v" in sheet.columns):
        role, other = ("wind_u", "wind_v") if "wind_u" in sheet.columns else ("wind_v", "wind_u")
        raise ValueError(f"{header}: a column for {role} but none for {other}; name it under [columns].")
    if not ways and ("wind_speed" in sheet.columns or "wind_from" in sheet.columns):
        sheet.notes.append("Of the wind, only speed or direction is in the file; it was not used.")
    return ways[0] if ways else None


def _lacking(sheet: Sheet) -> str:
    """Which columns a wind lacks, and that they are to be named."""
    for here, missing in (_WAYS[1], _WAYS[1][::-1]):
        if here in sheet.columns:
            return f"a column for {here} but none for {missing}; name it"
    return "no wind columns (wind_u and wind_v, or wind_speed and wind_from); name them"


def _winds(sheet: Sheet, way: tuple[str, str]) -> np.ndarray:
    first, second = sheet.numbers(way[0]), sheet.numbers(way[1])
    if way == _WAYS[0]:
        _require(sheet, way[0], np.hypot(first, second), wind_fault, f"the speed with {way[1]} ")
        return np.stack([first, second], axis=-1)
    _require(sheet, way[0], first, wind_fault)
    _require(sheet, way[1], second, direction_fault)
    return wind_from(first, second)


def _require(
    sheet: Sheet, role: str, numbers: np.ndarray, fault: Callable[[float], str | None], subject: str = ""
) -> None:
    """Refuse the first number that has a fault."""
    for row, number in enumerate(numbers.tolist()):
        if (wrong := fault(number)) is not None:
            raise ValueError(f"{sheet.where(role, row)}: {subject}{wrong}")


def _without(sheet: Sheet, needed: bool, missing: np.ndarray) -> None:
    if needed:
        raise ValueError(
            f"{sheet.rows.path}: no row has a wind; set `mode` in [wind] of the site file to constant or "
            "unknown."
        )
    sheet.notes.append(f"{_readings(missing)} without wind, so that the wind was not used.")


def _some_missing(
    sheet: Sheet, way: tuple[str, str], missing: np.ndarray, times: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    assert sheet.site is not None
    rule, row = sheet.site.wind.missing, int(np.argmax(missing))
    where = sheet.where(way[0] if sheet.missing(way[0])[row] else way[1], row)
    if rule == "refuse":
        raise ValueError(
            f"{where}: the wind is missing; fill it in, or set `missing` in [wind] of the site file to "
            "leave-out or interpolate."
        )
    winds = np.zeros((len(missing), 2))
    winds[~missing] = _winds(sheet.chosen(~missing), way)
    if rule == "leave-out":
        sheet.notes.append(
            f"{_readings(missing)} without wind, left out (first on line {sheet.rows.lines[row]})."
        )
        return winds, ~missing
    if times is None:
        raise ValueError(
            f"{where}: the wind is missing and cannot be interpolated without a time column; set "
            "`missing` in [wind] of the site file to leave-out."
        )
    sheet.notes.append(
        f"{_readings(missing)} without wind, interpolated in time (first on line {sheet.rows.lines[row]})."
    )
    return filled_in_time(winds, ~missing, times), np.ones(len(missing), bool)


def _readings(missing: np.ndarray) -> str:
    count = int(missing.sum())
    return "1 reading is" if count == 1 else f"{count} readings are"
