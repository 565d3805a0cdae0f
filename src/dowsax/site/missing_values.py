"""What passes for a number and is none: the marks of loggers that have nothing to say, and absurd heights."""

POSITIVE = ("gas-plume", "radiation")
"""Kinds whose readings are never far below zero."""
_MARKS = (-99.0, -999.0, -9999.0, -99999.0)
_NOTHING = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--"})
"""What loggers write where they have nothing to say, in any case."""
_MARKED = ("altitude", "wind_u", "wind_v", "wind_speed", "wind_from")
"""Roles in which a logger's mark for nothing cannot be a number that was measured."""
_LOWEST, _HIGHEST = -500.0, 20_000.0
"""[m], of altitudes above ground or sea."""
_STRONGEST = 150.0
"""[m/s], more than any wind that was ever measured near the ground."""


def is_mark(number: float) -> bool:
    """Whether loggers write this where they have nothing."""
    return number in _MARKS


def says_nothing(role: str, given: object, kind: str | None = None) -> bool:
    """Whether this, of a file or of a live reading, is what loggers write where they have nothing.

    No text, `NaN` and `n/a` are so everywhere; -999 and the like for a height, for a wind, and for a reading
    of a kind that is never far below zero.
    """
    text = str(given).strip().lower()
    if text in _NOTHING:
        return True
    if role not in _MARKED and not (role == "value" and kind in POSITIVE):
        return False
    try:
        return is_mark(float(text.replace(",", ".")))
    except ValueError:
        return False


def altitude_fault(altitude: float) -> str | None:
    """What is wrong with this altitude [m], to be said after its name; `None` where nothing is."""
    if _LOWEST <= altitude <= _HIGHEST:
        return None
    if is_mark(altitude):
        return f"must not be {altitude:g}, which loggers write where they have nothing: leave it out."
    return f"must be from {_LOWEST:g} to {_HIGHEST:g} m; got {altitude:g}."


def wind_fault(speed: float) -> str | None:
    """What is wrong with this wind speed [m/s], to be said after its name; `None` where nothing is."""
    if speed < 0:
        return f"must be 0 m/s or more; got {speed:g}."
    if speed <= _STRONGEST:
        return None
    return f"must be at most {_STRONGEST:g} m/s; got {speed:.4g}: check its unit."


def direction_fault(direction: float) -> str | None:
    """What is wrong with this direction of the wind [degrees], to be said after its name."""
    return None if -360 <= direction <= 360 else f"must be from -360 to 360 degrees; got {direction:g}."
