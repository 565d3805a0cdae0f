"""Units that differ by a factor only, as loggers spell them."""

# Dimension -> unit -> its size in the first unit of the dimension.
UNITS: dict[str, dict[str, float]] = {
    "mole fraction": {"ppm": 1.0, "ppb": 1e-3, "ppt": 1e-6, "vol%": 1e4},
    "mass concentration": {"mg/m³": 1.0, "µg/m³": 1e-3, "ng/m³": 1e-6, "g/m³": 1e3, "kg/m³": 1e6},
    "magnetic flux density": {"nT": 1.0, "µT": 1e3, "mT": 1e6, "T": 1e9, "gauss": 1e5},
    "counts": {"counts": 1.0},
    "count rate": {"cps": 1.0, "kcps": 1e3, "cpm": 1 / 60, "kcpm": 1e3 / 60, "cph": 1 / 3600},
    "dose rate": {"µSv/h": 1.0, "nSv/h": 1e-3, "mSv/h": 1e3},
    "level": {"dB": 1.0},
    "level over 1 mW": {"dBm": 1.0},
    "sound level": {"dB(A)": 1.0},
    "temperature": {"K": 1.0},
    "temperature in Celsius": {"°C": 1.0},
    "acceleration": {"%g": 1.0, "g": 100.0},
    "length": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "km": 1e3, "ft": 0.3048},
    "speed": {"m/s": 1.0, "km/h": 1 / 3.6, "mph": 0.44704, "kn": 1852 / 3600, "cm/s": 1e-2},
    "angle": {"deg": 1.0, "rad": 57.29577951308232},
    "time": {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0},
}
_OTHER_SPELLINGS: dict[str, tuple[str, ...]] = {
    "ppm": ("ppmv", "umol/mol"),
    "ppb": ("ppbv", "nmol/mol"),
    "vol%": ("%", "percent", "%vol", "v/v%"),
    "mg/m³": ("mgm3", "mg/m^3", "mg m-3"),
    "µg/m³": ("ugm3", "ug/m^3", "ug m-3"),
    "g/m³": ("gm3", "g/m^3", "g m-3"),
    "gauss": ("gs",),
    "T": ("tesla",),
    "counts": ("count", "cnt"),
    "cps": ("counts/s", "counts per second", "1/s"),
    "cpm": ("counts/min", "counts per minute"),
    "kcps": ("kcounts/s",),
    "cph": ("counts/h", "counts per hour"),
    "µSv/h": ("usv/hr", "usvh"),
    "dB(A)": ("dba",),
    "K": ("kelvin",),
    "°C": ("degc", "celsius"),
    "%g": ("pct_g", "percent_g"),
    "m": ("metres", "meters", "metre", "meter"),
    "ft": ("feet", "foot"),
    "m/s": ("ms-1", "m s-1", "mps", "ms^-1"),
    "km/h": ("kmh", "kph"),
    "kn": ("knots", "knot", "kt", "kts"),
    "deg": ("degrees", "degree", "°"),
    "rad": ("radians",),
    "s": ("sec", "seconds", "second"),
    "ms": ("msec", "milliseconds"),
    "min": ("minutes", "minute"),
    "h": ("hours", "hour", "hr"),
}
_DIMENSIONS = {unit: dimension for dimension, sizes in UNITS.items() for unit in sizes}


def _plain(spelling: str) -> str:
    return spelling.strip().lower().replace("μ", "u").replace("µ", "u").replace("³", "3")


_SPELLINGS = {_plain(unit): unit for unit in _DIMENSIONS} | {
    _plain(spelling): unit for unit, spellings in _OTHER_SPELLINGS.items() for spelling in spellings
}


def known_unit(spelling: str) -> str | None:
    """Return the unit meant by a spelling, in any case and with `u` for µ; `None` where it is unknown."""
    stripped = spelling.strip()
    return stripped if stripped in _DIMENSIONS else _SPELLINGS.get(_plain(spelling))


def factor(given: str, wanted: str) -> float | None:
    """Return the factor from one unit to another; `None` where there is none.

    A level in dB has an open reference, so that any level may stand for it.
    """
    if given == wanted:
        return 1.0
    if "dB" in (given, wanted) and given.startswith("dB") and wanted.startswith("dB"):
        return 1.0
    dimension = _DIMENSIONS.get(given)
    if dimension is None or dimension != _DIMENSIONS.get(wanted):
        return None
    return UNITS[dimension][given] / UNITS[dimension][wanted]
