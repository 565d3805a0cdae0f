"""Units of concentration, converted from g/m³, and of the spread of levels."""

MOLAR_MASSES = {
    "methane": 16.043,
    "carbon dioxide": 44.010,
    "carbon monoxide": 28.010,
    "hydrogen sulfide": 34.081,
    "sulfur dioxide": 64.066,
    "ammonia": 17.031,
    "propane": 44.097,
    "hydrogen": 2.016,
}
"""[g/mol]"""
_MASS_UNITS = {"kg/m3": 1e-3, "g/m3": 1.0, "mg/m3": 1e3, "ug/m3": 1e6, "ng/m3": 1e9}
_VOLUME_SHARES = {"%": 1e2, "ppm": 1e6, "ppb": 1e9}
_SPELLINGS = str.maketrans({"³": "3", "µ": "u", "μ": "u"})
# [m³/mol] of an ideal gas at 15 °C and 1013.25 hPa.
_MOLAR_VOLUME_M3 = 8.314462618 * 288.15 / 101325.0


def spread_unit(unit: str) -> str:
    """Return the unit of a standard deviation of readings in this unit: dB of dBm and dB(A)."""
    return "dB" if unit.startswith("dB") else unit


def per_gram(unit: str, gas: str | float | None = None) -> float | None:
    """Return what 1 g/m³ is in this unit, or `None` if it cannot be converted.

    Volume fractions (ppm, ppb, %) need the gas: its name, or its molar mass [g/mol].
    """
    plain = unit.translate(_SPELLINGS)
    if plain in _MASS_UNITS:
        return _MASS_UNITS[plain]
    if plain not in _VOLUME_SHARES or gas is None:
        return None
    if isinstance(gas, str) and gas not in MOLAR_MASSES:
        raise ValueError(f"unknown gas {gas!r}; known are {', '.join(MOLAR_MASSES)}, or give its g/mol.")
    mass = MOLAR_MASSES[gas] if isinstance(gas, str) else float(gas)
    if not 0 < mass < 1e4:
        raise ValueError(f"`gas` must be a name or a molar mass [g/mol] > 0; got {mass:g}.")
    return _VOLUME_SHARES[plain] * _MOLAR_VOLUME_M3 / mass
