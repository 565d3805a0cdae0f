"""What a site file may say of the source beforehand: the parameters of each kind, and their ranges."""

from collections.abc import Mapping
from typing import Any

from dowsax.site.distributions import ends
from dowsax.site.errors import Fault, show, unknown_key_words
from dowsax.site.kinds import KINDS, world_unit
from dowsax.world.kinds import WIND, kind_of
from dowsax.world.source import Parameter

_BENCHMARK = (
    Parameter("strength", "", "range of the strength of the source"),
    Parameter("diffusivity", "m²/s", "range of the diffusivity"),
    Parameter("max_speed", "m/s", "greatest wind speed"),
    Parameter("max_decay_length", "m", "greatest distance over which the field decays"),
)
_POSITIVE = ("q", "lateral", "vertical", "speed", "reach")
_NOT_NEGATIVE = ("height", "stability", "exponent", "attenuation", "meander", "depth")
_POWERS = ("widen", "curve", "rise", "bend")
"""Of the distance: below −1 a plume would narrow as it goes, above 1 widen faster than its square."""
MIN: dict[str, float] = {**dict.fromkeys(_NOT_NEGATIVE, 0.0), **dict.fromkeys(_POWERS, -1.0)}
MAX: dict[str, float] = {"stability": 5.0, **dict.fromkeys(_POWERS, 1.0)}


def prior_parameters(
    kind: str, unit: str, gas: str | float | None = None, infers_wind: bool = False
) -> dict[str, Parameter]:
    """Return what a site may say of the source beforehand, besides where it is, by name."""
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
