"""Ranges and laws as a site file writes them: a number, `[low, high]`, or a small table."""

from dowsax.site.settings import LawSetting
from dowsax.site.text import Keys, shown

_FORMS = 'a number, "unknown", [low, high], {mean = 1, std = 0.1} or {median = 1, factor = 2}'
_KEYS = ("low", "high", "scale", "mean", "std", "median", "factor")


def law(keys: Keys, key: str, *, positive: bool = False) -> LawSetting | None:
    """The law under this key, `None` where there is none; `positive` where the quantity is above zero."""
    if key not in keys:
        return None
    value = keys.raw(key)
    if value == "unknown":
        return LawSetting("unknown")
    if isinstance(value, dict):
        found = _table_law(keys, key)
    elif isinstance(value, list):
        found = LawSetting("range", *_ascending(keys, key, keys.pair(key)))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found = LawSetting("known", keys.number(key) or 0.0)
    else:
        raise keys.error(key, f"must be {_FORMS}; got {shown(value)}.")
    if positive and found.law in ("known", "range", "uniform") and found.first < 0:
        raise keys.error(key, f"must not be below zero; got {found.first:g}.")
    return found


def _table_law(keys: Keys, key: str) -> LawSetting:
    table = keys.table(key, *_KEYS)
    given = set(table)
    if given == {"mean", "std"}:
        return LawSetting("normal", table.number("mean") or 0.0, table.number("std", above=0.0) or 0.0)
    if given == {"median", "factor"}:
        median, factor = table.number("median", above=0.0), table.number("factor", above=1.0)
        return LawSetting("log-normal", median or 0.0, factor or 0.0)
    if given - {"scale"} == {"low", "high"}:
        low, high = _ascending(keys, key, (table.number("low") or 0.0, table.number("high") or 0.0))
        scale = table.word("scale", "own", ("own", "linear", "log"))
        if scale == "log" and low <= 0:
            raise table.error("low", f"must be above zero on a log scale; got {low:g}.")
        return LawSetting({"own": "range", "linear": "uniform", "log": "log-uniform"}[scale], low, high)
    raise keys.error(key, f"must be {_FORMS}; got {shown(keys.raw(key))}.")


def _ascending(keys: Keys, key: str, pair: tuple[float, float] | None) -> tuple[float, float]:
    low, high = pair or (0.0, 0.0)
    if not low < high:
        raise keys.error(key, f"must be [low, high] with low below high; got [{low:g}, {high:g}].")
    return low, high
