"""Values that are possible but hardly ever right: a person is asked before they count."""

from collections.abc import Sequence

from dowsax.site.units import factor, known_unit
from dowsax.survey.reading import Reading, Refused

CONFIRM = "confirm"
"""The key by which a sender says that such a value is right."""
MAX_PPM = 1e6
"""A pure gas."""
MAX_DWELL_S = 86_400.0
"""A day: no survey counts for longer at one place."""
MAX_FACTOR = 1e6
"""Between two readings of one sensor: none has a wider range."""
MAX_LEVEL_DB = 200.0
"""Likewise, between two levels."""
_AGAIN = 'check it, and send it again with "confirm": true if it is right.'


class Doubted(Refused):
    """A reading that counts only when it is sent again and confirmed."""


def require_plausible(reading: Reading, before: Sequence[Reading], unit: str) -> None:
    """`Doubted` where a reading, in this unit and after those before it, is most probably a slip."""
    doubt = _value(reading.value, unit) or _dwell(reading.dwell) or _jump(reading, before, unit)
    if doubt is not None:
        raise Doubted(f"{doubt}: {_AGAIN}")


def _value(value: float, unit: str) -> str | None:
    to_ppm = factor(known_unit(unit) or unit, "ppm")
    if to_ppm is None or value * to_ppm <= MAX_PPM:
        return None
    return f"`value` is {value:g} {unit}, more than the {MAX_PPM / to_ppm:g} {unit} of a pure gas"


def _dwell(dwell: float | None) -> str | None:
    if dwell is None or dwell <= MAX_DWELL_S:
        return None
    return f"`dwell` is {dwell:g} s, more than a day"


def _jump(reading: Reading, before: Sequence[Reading], unit: str) -> str | None:
    """Compared with the largest so far of the same sensor: a rise step by step is never asked about."""
    own = [item.value for item in before if item.sensor == reading.sensor]
    if (known_unit(unit) or unit).startswith("dB"):
        if not own or min(own) - MAX_LEVEL_DB <= reading.value <= max(own) + MAX_LEVEL_DB:
            return None
        return f"`value` is {reading.value:g} {unit}, {MAX_LEVEL_DB:g} {unit} and more from all before"
    largest = max(map(abs, own), default=0.0)
    if largest == 0 or abs(reading.value) <= MAX_FACTOR * largest:
        return None
    times = abs(reading.value) / largest
    return f"`value` is {f'{reading.value:g} {unit}'.strip()}, {times:.1g} times the largest reading so far"
