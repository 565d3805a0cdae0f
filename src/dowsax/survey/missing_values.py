"""Missing values: what loggers write where they have no number, and numbers out of range."""

from dowsax.site.schema import MAX_ALTITUDE_M, MAX_WIND_M_S, MIN_ALTITUDE_M

POSITIVE_KINDS = ("gas-plume", "radiation")
"""Kinds whose readings are never far below zero."""
_MISSING_NUMBERS = (-99.0, -999.0, -9999.0, -99999.0)
_MISSING_TEXTS = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--"})
"""In any case."""
_NUMBERED_ROLES = ("altitude", "wind_u", "wind_v", "wind_speed", "wind_from")
"""Roles in which such a number cannot have been measured."""


def is_missing_number(number: float) -> bool:
    """Return whether loggers write this number where they have none."""
    return number in _MISSING_NUMBERS


def is_missing(role: str, given: object, kind: str | None = None) -> bool:
    """Return whether a value of a file or of a live reading is a missing one.

    No text, `NaN` and `n/a` are so everywhere; -999 and the like for a height, for a wind, and for a reading
    of a kind that is never far below zero.
    """
    text = str(given).strip().lower()
    if text in _MISSING_TEXTS:
        return True
    if role not in _NUMBERED_ROLES and not (role == "value" and kind in POSITIVE_KINDS):
        return False
    try:
        return is_missing_number(float(text.replace(",", ".")))
    except ValueError:
        return False


def altitude_fault(altitude: float) -> str | None:
    """Return what is wrong with this altitude [m], to follow its name; `None` where nothing is."""
    if MIN_ALTITUDE_M <= altitude <= MAX_ALTITUDE_M:
        return None
    if is_missing_number(altitude):
        return f"must not be {altitude:g}, which loggers write where they have no number: leave it out."
    return f"must be from {MIN_ALTITUDE_M:g} to {MAX_ALTITUDE_M:g} m; got {altitude:g}."


def wind_fault(speed: float) -> str | None:
    """Return what is wrong with this wind speed [m/s], to follow its name; `None` where nothing is."""
    if speed < 0:
        return f"must be >= 0 m/s; got {speed:g}."
    if speed <= MAX_WIND_M_S:
        return None
    return f"must be <= {MAX_WIND_M_S:g} m/s; got {speed:.4g}: check its unit."


def direction_fault(direction: float) -> str | None:
    """Return what is wrong with this direction of the wind [degrees], to follow its name."""
    return None if -360 <= direction <= 360 else f"must be from -360 to 360 degrees; got {direction:g}."
