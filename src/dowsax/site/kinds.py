"""The kinds of field that a site may name: units, keys in use, and parameters of the source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dowsax.site.section import ends
from dowsax.site.text import Fault, show, unknown_key_words
from dowsax.site.units import UNITS
from dowsax.world.kinds import WIND, kind_of
from dowsax.world.source import Parameter


@dataclass(frozen=True)
class Kind:
    """What a site file may say about one kind of field."""

    meaning: str
    unit: str
    """Default unit of the readings."""
    units: tuple[str, ...] = ()
    """Units that the site may give."""
    options: tuple[str, ...] = ()
    """Further known numbers of the field."""
    gas: str | None = None
    """The gas of a new site."""
    uses_wind: bool = False
    among_buildings: bool = False
    """Whether the field is solved for one constant wind among the obstacles."""
    reads_paths: bool = False
    """Whether a reading may be the mean along a straight path."""
    is_benchmark: bool = False
    counts: bool = False
    """Whether it matters how long a reading takes."""
    search_particles: int | None = None
    """Particles of the filter of a search, unless the site says otherwise; `None`: those of its preset."""
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
        reads_paths=True,
        examples=_GAS_EXAMPLES,
    ),
    "gas-buildings": Kind(
        "gas carried among buildings by a steady wind that is known",
        *("ppm", _GAS_UNITS, ("depth",)),
        gas="methane",
        uses_wind=True,
        among_buildings=True,
        examples={
            "prior.q": [0.001, 10.0],
            "background.mode": "unknown",
            "background.range": [1.7, 2.5],
            "wind.mode": "constant",
            "wind.speed": 3.0,
            "wind.from": 270.0,
        },
    ),
    "radiation": Kind(
        *("counts around a radioactive source", "counts", ("counts",), ("standoff",)),
        counts=True,
        examples={
            "noise.ratio": "unknown",
            "sensors": {"A": {"background": 12.0}, "B": {"background": 15.0}},
        },
    ),
    "level": Kind("decibels that fall with distance: radio, sound", "dB", _LEVELS, ("standoff",)),
    # A dipole shows within a few metres: of fewer particles, none may be so near to a place worth reading.
    "magnetic-dipole": Kind(
        "the magnetic anomaly of buried iron",
        "nT",
        ("nT",),
        _DIPOLE_OPTIONS,
        search_particles=4096,
        examples={"noise.correlation": 0.0, "noise.correlation_length": 10.0},
    ),
    "temperature": _benchmark("excess temperature", "K"),
    "concentration": _benchmark("concentration"),
    "magnetic": _benchmark("magnetic anomaly"),
    "electric": _benchmark("electric field"),
    "gas": _benchmark("gas"),
    "energy": _benchmark("counts", "counts"),
    "noise": _benchmark("sound level", "dB"),
}


_QUANTITY_KEYS = {
    ("sensor", "efficiency"): "efficiency",
    ("noise", "uncertainty"): "uncertainty",
    ("sensor", "beam"): "heading",
    ("sensor", "front_to_back"): "heading",
}
"""The keys that say how a quantity that comes with each reading is used."""


def why_no_quantity(name: str, quantity: str) -> str | None:
    """Return why a kind has no use for one of `QUANTITIES`, and `None` where it has one."""
    kind = KINDS[name]
    if quantity == "heading" and name != "level":
        return f"the heading of an antenna does not matter for the kind {name}"
    if quantity in ("efficiency", "uncertainty") and kind.is_benchmark:
        return f"the benchmark field {name} has no {quantity}"
    if quantity == "uncertainty" and kind.counts:
        return "counts have a noise of their own, Poisson's"
    return None


def why_no_paths(name: str) -> str | None:
    """Return why a kind is not read along paths, and `None` where it is."""
    if KINDS[name].reads_paths:
        return None
    kinds = ", ".join(kind for kind, one in KINDS.items() if one.reads_paths)
    return f"only the kind {kinds} is read along paths, not {name}"


_UNCALIBRATED_KEYS = {
    ("sensor", "threshold"): ("binary", "rank"),
    ("sensor", "false_alarms"): ("binary",),
    ("noise", "fluctuation"): ("binary", "rank"),
    ("noise", "correlation_time"): ("binary",),
}
"""The keys of sensors without calibration, and for which readings each is."""


_NOT_AMONG_BUILDINGS = (
    ("field", "growth"),
    ("noise", "edge"),
    ("wind", "missing"),
    ("wind", "direction_error"),
    ("sensor", "height"),
    ("sensor", "ground"),
    ("step", "heights"),
    ("searcher", "heights"),
)
"""The keys that gas in the open uses, and gas among buildings does not."""


def readings_of(name: str) -> tuple[str, ...]:
    """Return the types of reading of a kind."""
    return ("value", *(() if KINDS[name].is_benchmark else kind_of(name).uncalibrated))


def why_unused(name: str, section: str, key: str, reading: str = "value") -> str | None:
    """Return why a key of the site file has no use for a kind and reading, and `None` where it has one."""
    return _why_not_for_reading(name, section, key, reading) or _why_not_for_kind(name, section, key, reading)


def _why_not_for_reading(name: str, section: str, key: str, reading: str) -> str | None:
    """Return why a key has no use for this type of reading."""
    types = _UNCALIBRATED_KEYS.get((section, key))
    if (types is not None or (section, key) == ("sensor", "reading")) and readings_of(name) == ("value",):
        return f"readings of the kind {name} are values; leave it out."
    if types is not None:
        words = " or ".join(f'"{one}"' for one in types)
        return None if reading in types else f"is for reading = {words} in [sensor]; leave it out."
    if reading == "value":
        return None
    if section == "background" or (section, key) == ("sensors", "background"):
        return f'a reading = "{reading}" has no background; leave it out.'
    if section == "noise" or (section, key) == ("sensors", "uncertainty"):
        return f'is for readings with a value, not for reading = "{reading}"; leave it out.'
    return None


def _why_not_for_kind(name: str, section: str, key: str, reading: str) -> str | None:
    kind = KINDS[name]
    if section == "paths":
        words = why_no_paths(name)
        return None if words is None else f"{words}; leave [[paths]] out."
    if (section, key) == ("obstacle", "attenuation") and (kind.is_benchmark or not _is_shielded(name)):
        return f"nothing shields the kind {name}; leave it out."
    if section == "columns" and key in ("x2", "y2", "latitude2", "longitude2"):
        words = why_no_paths(name)
        return None if words is None else f"{words}; leave it out."
    if kind.among_buildings and (section, key) in _NOT_AMONG_BUILDINGS:
        return f"is for gas-plume, and {name} has none; leave it out."
    if section == "field" and key not in ("kind", "unit", *kind.options):
        return None if kind.uses_wind and key in ("gas", "growth") else f"{name} has none; leave it out."
    if section == "sensors" or (section, key) in _QUANTITY_KEYS:
        words = why_no_quantity(name, key if section == "sensors" else _QUANTITY_KEYS[section, key])
        return None if words is None else f"{words}; leave it out."
    if section == "noise" and kind.counts and (kind.is_benchmark or key not in ("ratio", "shielded")):
        return "counts have a noise of their own, Poisson's; leave it out."
    if (section, key) == ("noise", "ratio") and not (kind.uses_wind or kind.is_benchmark or kind.counts):
        return f"{name} has none; leave it out."
    if (section, key) in (("noise", "shielded"), ("background", "variation")) and name != "radiation":
        return "is for counts of the kind radiation; leave it out."
    correlation = section == "noise" and key in ("correlation", "correlation_length")
    if correlation and name not in ("level", "magnetic-dipole"):
        return "is for the kinds level and magnetic-dipole; leave it out."
    if (section, key) == ("noise", "edge") and not kind.uses_wind:
        return f"is that of a gas plume; leave it out for the kind {name}."
    if section == "wind" and not kind.uses_wind:
        why = "its wind is inferred with the source" if kind.is_benchmark else "wind does not matter"
        return f"{why} for the kind {name}; leave [wind] out."
    if (section, key) == ("sensor", "dead_time") and name != "radiation":
        return "is for counts of the kind radiation; leave it out."
    if (section, key) == ("sensor", "dwell") and not (kind.counts or reading == "binary"):
        return f"is for counts and hits, and does not matter for the kind {name}; leave it out."
    if kind.is_benchmark and ((section == "sensor" and key in ("height", "ground")) or key == "heights"):
        return "heights do not matter for a benchmark field; leave it out."
    return None


def _is_shielded(name: str) -> bool:
    return kind_of(name).obstacle_attenuation is not None


def world_unit(unit: str) -> str:
    """Return a unit as the world spells it."""
    return "%" if unit == "vol%" else unit


_BENCHMARK = (
    Parameter("strength", "", "range of the strength of the source"),
    Parameter("diffusivity", "m²/s", "range of the diffusivity"),
    Parameter("max_speed", "m/s", "greatest wind speed"),
    Parameter("max_decay_length", "m", "greatest distance over which the field decays"),
)
_POSITIVE = ("q", "spread", "lateral", "vertical", "speed", "reach")
_NOT_NEGATIVE = ("height", "stability", "exponent", "attenuation", "meander", "depth")
_POWERS = ("widen", "curve", "rise", "bend")
"""Of the distance: below −1 a plume would narrow as it goes, above 1 widen faster than its square."""
MIN: dict[str, float] = {**dict.fromkeys(_NOT_NEGATIVE, 0.0), **dict.fromkeys(_POWERS, -1.0)}
MAX: dict[str, float] = {"stability": 5.0, **dict.fromkeys(_POWERS, 1.0)}


def prior_parameters(
    kind: str, unit: str, gas: str | float | None = None, infers_wind: bool = False
) -> dict[str, Parameter]:
    """Return the parameters of the source that a site may give, besides the position, by name."""
    if KINDS[kind].is_benchmark:
        parameters = _BENCHMARK
    else:
        winds = tuple(parameter for parameter, _ in WIND) if infers_wind else ()
        parameters = (*kind_of(kind, world_unit(unit), gas).parameters, *winds)
    return {parameter.name: parameter for parameter in parameters}


def range_words(name: str) -> str:
    """Return the range of a parameter as in "> 0"; empty without one."""
    bounds = ["> 0"] if name in _POSITIVE else []
    bounds += [f">= {MIN[name]:g}"] if name in MIN else []
    return ", ".join([*bounds, *([f"<= {MAX[name]:g}"] if name in MAX else [])])


def check_prior(prior: Mapping[str, Any], kind: str, unit: str, infers_wind: bool) -> Mapping[str, Any]:
    """Return the distributions that differ from the usual, or raise a Fault that names the parameter."""
    known = prior_parameters(kind, unit, infers_wind=infers_wind)
    for name, distribution in prior.items():
        if name not in known:
            raise Fault(unknown_key_words(name, known), "prior", name)
        wrong = _benchmark_fault(name, distribution) if KINDS[kind].is_benchmark else None
        wrong = wrong or _range_fault(name, ends(distribution))
        if wrong is not None:
            raise Fault(wrong, "prior", name)
    if not KINDS[kind].is_benchmark:
        return prior
    return {name: distribution for name, distribution in prior.items() if distribution != "unknown"}


def _benchmark_fault(name: str, distribution: Any) -> str | None:
    count, form = (1, "a number") if name.startswith("max_") else (2, "[low, high]")
    if distribution == "unknown" or len(ends(distribution)) == count:
        return None
    return f"must be {form} for a benchmark field; got {show(distribution)}."


def _range_fault(name: str, numbers: tuple[float, ...]) -> str | None:
    """Return what is wrong with a known number, or with the ends of a range."""
    if not numbers:
        return None
    low, high = min(numbers), max(numbers)
    if name in _POSITIVE and (low < 0 or high == 0):
        return f"must be > 0; got {low:g}."
    if name in MIN and low < MIN[name]:
        return f"must be >= {MIN[name]:g}; got {low:g}."
    if name in MAX and high > MAX[name]:
        return f"must be <= {MAX[name]:g}; got {high:g}."
    return None
