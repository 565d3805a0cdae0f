"""Units in which a page may show and take numbers. The API has metres, m/s, and the unit of the site."""

from typing import Any

from dowsax.site.units import factor, known_unit
from dowsax.world.units import per_gram

_LENGTHS, _SPEEDS = ("m", "ft"), ("m/s", "kn", "mph")
_CONCENTRATIONS = ("ppm", "ppb", "mg/m³")


def display_units(unit: str, gas: str | float | None) -> dict[str, list[dict[str, Any]]]:
    """Return the units of lengths, speeds and readings, each with its size in the first one.

    `unit` is that of the site, and `gas` its name or molar mass [g/mol], without which a volume fraction is
    no mass concentration.
    """
    return {
        "length": [_named(name, factor(name, "m")) for name in _LENGTHS],
        "speed": [_named(name, factor(name, "m/s")) for name in _SPEEDS],
        "value": [_named(unit, 1.0), *_others(unit, gas)],
    }


def _named(name: str, size: float | None) -> dict[str, Any]:
    assert size is not None
    return {"name": name, "size": size}


def _others(unit: str, gas: str | float | None) -> list[dict[str, Any]]:
    """Return the other units of concentration."""
    own = known_unit(unit) or unit
    sizes = {name: _size(name, own, gas) for name in _CONCENTRATIONS if name != own}
    return [_named(name, size) for name, size in sizes.items() if size is not None]


def _size(name: str, own: str, gas: str | float | None) -> float | None:
    """Return how many of the site's unit one of this unit is; `None` where they cannot be converted."""
    ratio = factor(name, own)
    if ratio is not None:
        return ratio
    ours, theirs = per_gram(own, gas), per_gram(name, gas)
    return None if ours is None or theirs is None else ours / theirs
