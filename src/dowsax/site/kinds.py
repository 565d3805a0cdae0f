"""The kinds of field a site may name, and the units in which each is read."""

from dataclasses import dataclass

from dowsax.site.text import Keys
from dowsax.site.units import UNITS, known_unit

BENCHMARK_RANGES = ("strength", "diffusivity", "max_speed", "max_decay_length")
"""What may be said of the source of a benchmark field."""


@dataclass(frozen=True)
class Kind:
    """What a site file may say of one kind of field."""

    meaning: str
    unit: str
    """Of the readings unless the site says another."""
    units: tuple[str, ...] = ()
    """Those the site may say."""
    options: tuple[str, ...] = ()
    """Further known numbers of the field."""
    uses_wind: bool = False
    is_benchmark: bool = False
    counts: bool = False
    """Whether it matters how long a reading takes."""


def _benchmark(meaning: str, unit: str = "") -> Kind:
    return Kind(f"benchmark: {meaning}", unit, (unit,), is_benchmark=True, counts=unit == "counts")


_GAS = ("ppm", "ppb", "vol%", *UNITS["mass concentration"])
_LEVELS = ("dB", "dBm", "dB(A)")
_DIPOLE_OPTIONS = ("standoff", "inclination", "declination")
KINDS: dict[str, Kind] = {
    "gas-plume": Kind("gas carried by the wind over open ground", "ppm", _GAS, ("size",), uses_wind=True),
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


def usual_preset(kind: str) -> str:
    """The filter of a site that names none."""
    return "default" if KINDS[kind].is_benchmark else "survey"


def checked_unit(field: Keys, kind: str) -> str:
    """The unit of the readings, one that the kind can be read in."""
    facts = KINDS[kind]
    given = field.text("unit", facts.unit)
    unit = known_unit(given) or given
    if unit not in facts.units:
        known = " or ".join(map(repr, facts.units))
        raise field.error("unit", f"{kind} is read in {known}; got {given!r}.")
    return unit


def parameter_names(kind: str, unit: str, infers_wind: bool) -> tuple[str, ...]:
    """What a site may say of the source beforehand, besides where it is."""
    if KINDS[kind].is_benchmark:
        return BENCHMARK_RANGES
    # Late, so that surveys are read without the physics.
    from dowsax.world.kinds import WIND, kind_of

    winds = tuple(parameter.name for parameter, _ in WIND) if infers_wind else ()
    return (*(parameter.name for parameter in kind_of(kind, world_unit(unit)).parameters), *winds)


def world_unit(unit: str) -> str:
    """A unit as the world spells it."""
    return "%" if unit == "vol%" else unit
