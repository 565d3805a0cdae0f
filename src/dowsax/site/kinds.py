"""The kinds of field a site may name: their units, and which keys of the site file have a use for each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dowsax.site.units import UNITS


@dataclass(frozen=True)
class Kind:
    """What a site file may say of one kind of field."""

    meaning: str
    unit: str
    """Of the readings unless the site gives another."""
    units: tuple[str, ...] = ()
    """Those the site may give."""
    options: tuple[str, ...] = ()
    """Further known numbers of the field."""
    gas: str | None = None
    """The gas of a new site."""
    uses_wind: bool = False
    is_benchmark: bool = False
    counts: bool = False
    """Whether it matters how long a reading takes."""
    examples: Mapping[str, Any] = field(default_factory=dict)
    """By dotted key: what the new site of this kind has instead of the usual example."""


def _benchmark(meaning: str, unit: str = "") -> Kind:
    examples = {
        "prior.strength": [10.0, 3000.0],
        "prior.diffusivity": [1.0, 5.0],
        "prior.max_speed": 6.0,
        "prior.max_decay_length": 8.0,
    }
    counts = unit == "counts"
    return Kind(f"benchmark: {meaning}", unit, (unit,), is_benchmark=True, counts=counts, examples=examples)


_GAS_UNITS = ("ppm", "ppb", "vol%", *UNITS["mass concentration"])
_GAS_EXAMPLES = {
    "prior.q": [0.001, 10.0],
    "prior.height": [0.0, 3.0],
    "background.mode": "unknown",
    "background.range": [1.7, 2.5],
    "sensor.height": 1.5,
}
_LEVELS = ("dB", "dBm", "dB(A)")
_DIPOLE_OPTIONS = ("standoff", "inclination", "declination")
KINDS: dict[str, Kind] = {
    "gas-plume": Kind(
        "gas carried by the wind over open ground",
        *("ppm", _GAS_UNITS, ("size",)),
        gas="methane",
        uses_wind=True,
        examples=_GAS_EXAMPLES,
    ),
    "radiation": Kind(
        "counts around a radioactive source", "counts", ("counts",), ("standoff",), counts=True
    ),
    "level": Kind("decibels that fall with distance: radio, sound", "dB", _LEVELS, ("standoff",)),
    "magnetic-dipole": Kind("the magnetic anomaly of buried iron", "nT", ("nT",), _DIPOLE_OPTIONS),
    "temperature": _benchmark("excess temperature", "K"),
    "concentration": _benchmark("concentration"),
    "magnetic": _benchmark("magnetic anomaly"),
    "electric": _benchmark("electric field"),
    "gas": _benchmark("gas"),
    "energy": _benchmark("counts", "counts"),
    "noise": _benchmark("sound level", "dB"),
}


def why_unused(name: str, section: str, key: str) -> str | None:
    """Return why a key of the site file has no use for a kind, and `None` where it has one."""
    kind = KINDS[name]
    if section == "field" and key not in ("kind", "unit", *kind.options):
        return None if kind.uses_wind and key in ("gas", "growth") else f"{name} has none; leave it out."
    if section == "noise" and kind.counts:
        return "counts have a noise of their own, Poisson's; leave [noise] out."
    if (section, key) == ("noise", "ratio") and not (kind.uses_wind or kind.is_benchmark):
        return f"{name} has none; leave it out."
    if (section, key) == ("noise", "edge") and not kind.uses_wind:
        return f"is that of a gas plume; leave it out for the kind {name}."
    if section == "wind" and not kind.uses_wind:
        why = "its wind is inferred with the source" if kind.is_benchmark else "wind does not matter"
        return f"{why} for the kind {name}; leave [wind] out."
    if (section, key) == ("sensor", "dead_time") and name != "radiation":
        return "is for counts of the kind radiation; leave it out."
    if (section, key) == ("sensor", "dwell") and not kind.counts:
        return f"is for counts, and does not matter for the kind {name}; leave it out."
    if section == "sensor" and key in ("height", "ground") and kind.is_benchmark:
        return "heights do not matter for a benchmark field; leave it out."
    return None


def world_unit(unit: str) -> str:
    """Return a unit as the world spells it."""
    return "%" if unit == "vol%" else unit
