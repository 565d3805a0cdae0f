"""The fields of the form of a site: which keys it has for a kind, what they are called, and what is usual."""

from collections.abc import Mapping
from typing import Any, get_args

from dowsax.console.site_schemas import MAX_NUMBER, MAX_TEXT_LENGTH
from dowsax.site.kinds import KINDS, prior_parameters, why_unused, world_unit
from dowsax.site.reference import Key, tables
from dowsax.site.schema import SiteFile
from dowsax.site.text import cut, toml_value
from dowsax.site.units import known_unit
from dowsax.types import Number
from dowsax.world.distributions import LogNormal, Normal, Uniform
from dowsax.world.kinds import Kind, kind_of
from dowsax.world.priors import PlumePrior
from dowsax.world.source import Parameter
from dowsax.world.units import MOLAR_MASSES, spread_unit

_PRIOR = ("q", "strength", "level", "exponent", "height", "depth")
"""The parameters of a source that the form has, where its kind has them; their names come from the kind."""
LABELS = {
    "name": "Name",
    "field.kind": "Kind",
    "field.unit": "Unit of the readings",
    "field.gas": "Gas",
    "wind.mode": "Wind",
    "wind.speed": "Wind speed",
    "wind.from": "Wind from",
    "sensor.height": "Height of the sensor",
    "sensor.dwell": "How long a reading counts",
    **{f"prior.{name}": "" for name in _PRIOR},
    "background.mode": "Background",
    "background.value": "Background value",
    "background.range": "Range of the background",
    "background.variation": "How much the background varies",
    "noise.floor": "Noise without a source",
    "noise.ratio": "Noise as a share of the signal",
    "noise.shielded": "Share of shielded readings",
    "step.speed": "Speed on the way",
    "step.reading_time": "Time for a reading",
    "search.radius": "Found within",
    "search.probability": "With probability",
    "budget.readings": "Most readings",
    "budget.distance": "Longest way",
    "budget.time": "Longest time",
    "budget.return": "Must return to the start",
}
"""The keys of the form, in its order, and what it calls them."""
DISTRIBUTIONS = (*(f"prior.{name}" for name in _PRIOR), "background.range", "noise.floor", "noise.ratio")
"""The keys of the form that a range or another distribution may be given for."""
_UNKNOWN_BACKGROUNDS = ("unknown", "per-sensor", "measured")
"""The modes of a background that has a distribution."""


def get(table: Mapping[str, Any], key: str) -> Any:
    """Return the value of a dotted key in the table of a file; `None` where it has none."""
    value: Any = table
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def values_of(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that the form shows, by key; `None` for what has no place in it."""
    return {key: _shown(key, get(table, key)) for key in LABELS}


def _shown(key: str, value: Any) -> Any:
    """Return a text, finite number, flag or range; a distribution of another form is shown as its text."""
    if key in DISTRIBUTIONS and isinstance(value, list):
        return value if len(value) <= 2 and all(map(_is_single, value)) else None
    if key in DISTRIBUTIONS and isinstance(value, Mapping):
        return cut(toml_value(value), MAX_TEXT_LENGTH) if all(map(_is_single, value.values())) else None
    return value if _is_single(value) else None


def _is_single(value: Any) -> bool:
    # Not a number is not below it either.
    return isinstance(value, str) or (isinstance(value, int | float) and abs(value) <= MAX_NUMBER)


def unit_of(table: Mapping[str, Any]) -> str:
    """Return the unit of the readings of a site; that of its kind where the given one is none."""
    kind, given = KINDS.get(str(get(table, "field.kind"))), get(table, "field.unit")
    if kind is None:
        return ""
    unit = known_unit(given) or given if isinstance(given, str) else None
    return unit if unit in kind.units else kind.unit


def gas_of(table: Mapping[str, Any]) -> str | float | None:
    """Return the gas of a site, or its molar mass [g/mol]; `None` where it is none."""
    gas = get(table, "field.gas")
    if isinstance(gas, str):
        return gas if gas in MOLAR_MASSES else None
    is_mass = isinstance(gas, int | float) and not isinstance(gas, bool) and 0 < gas < 1e4
    return float(gas) if is_mass else None


def fields_of(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of the form that have a use for the kind, with what holds where they are left out."""
    kind = str(get(table, "field.kind"))
    known = {
        f"{one.name}.{key.name}" if one.header else key.name: key for one in tables() for key in one.keys
    }
    if kind not in KINDS:
        fields = [_field(name, LABELS[name], known[name], kind) for name in LABELS if name in known]
        return [field | {"usual": ""} for field in fields]
    reading, unit, gas = str(get(table, "sensor.reading") or "value"), unit_of(table), gas_of(table)
    facts = None if KINDS[kind].is_benchmark else kind_of(kind, world_unit(unit), gas)
    parameters = {f"prior.{one.name}": one for one in prior_parameters(kind, unit, gas).values()}
    fields = []
    for name, label in LABELS.items():
        if name in parameters:
            fields.append(_prior_field(name, parameters[name]))
        elif name in known and _is_used(kind, name, reading, table):
            fields.append(_field(name, label, known[name], kind) | _unit_in(name, unit, facts))
    usual = _usual(facts)
    return [field | {"usual": _words(usual.get(field["key"]), field["unit"])} for field in fields]


def _is_used(kind: str, name: str, reading: str, table: Mapping[str, Any]) -> bool:
    """Return whether a key has a use for the kind, its type of reading, and the modes of the file."""
    section, _, key = name.rpartition(".")
    if not section:
        return True
    if (name == "field.unit" and not KINDS[kind].unit) or why_unused(kind, section, key, reading) is not None:
        return False
    if name in ("wind.speed", "wind.from"):
        return get(table, "wind.mode") == "constant"
    if section == "noise" and KINDS[kind].is_benchmark:
        return False
    modes = {"background.value": ("known",), "background.range": _UNKNOWN_BACKGROUNDS}.get(name)
    return modes is None or background_mode(table) in modes


def background_mode(table: Mapping[str, Any]) -> Any:
    """Return the mode of the background, which a value or a range implies."""
    implied = {"background.value": "known", "background.range": "unknown"}
    given = next((mode for key, mode in implied.items() if get(table, key) is not None), None)
    return get(table, "background.mode") or given


def _field(name: str, label: str, key: Key, kind: str) -> dict[str, Any]:
    choices: list[str] = []
    if name == "field.kind":
        choices = list(KINDS)
    elif name == "field.unit" and kind in KINDS:
        choices = list(KINDS[kind].units)
    elif name == "field.gas":
        choices = list(MOLAR_MASSES)
    elif name.endswith(".mode"):
        section = SiteFile.model_fields[name.partition(".")[0]].annotation
        choices = list(get_args(section.model_fields["mode"].annotation))  # type: ignore[union-attr]
    form = "choice" if choices else "text"
    if name in DISTRIBUTIONS:
        form = "distribution"
    elif not choices and key.form.startswith(("number", "whole number", "true")):
        form = key.form.split(",")[0].split(" ")[0].replace("true", "flag")
    unit = "°" if name == "wind.from" else key.unit
    default = key.default if isinstance(key.default, str | int | float | bool) else None
    default = "unknown" if form == "distribution" else default
    words = {"label": label, "unit": unit, "hint": key.text, "form": form, "choices": choices}
    return {"key": name, **words, "default": default}


def _prior_field(name: str, parameter: Parameter) -> dict[str, Any]:
    """Return the field of a parameter of the source, in the words of its kind."""
    meaning = f"{parameter.meaning[0].upper()}{parameter.meaning[1:]}"
    words = {"label": meaning.partition(",")[0], "unit": parameter.unit, "hint": f"{meaning}."}
    return {"key": name, **words, "form": "distribution", "choices": [], "default": "unknown"}


def _unit_in(name: str, unit: str, facts: Kind | None) -> dict[str, str]:
    """Return the unit of a key that is in that of the readings."""
    if name in ("background.value", "background.range"):
        return {"unit": f"{unit}/s" if facts is not None and facts.per_second else unit}
    return {"unit": spread_unit(unit)} if name == "noise.floor" else {}


def _usual(facts: Kind | None) -> dict[str, Any]:
    """Return the numbers and distributions that hold where a key is left out."""
    if facts is None:
        return {"prior.strength": Uniform(*PlumePrior().strength)}
    numbers = {
        f"prior.{one.name}": facts.known.get(one.name, distribution)
        for one, distribution in zip(facts.parameters, facts.distributions, strict=True)
    }
    noise = {f"noise.{name.removeprefix('noise_')}": number for name, number in facts.noise.items()}
    shares = {"background.variation": facts.variation, "noise.shielded": facts.shielded}
    return numbers | noise | shares | {"background.range": facts.background}


def _words(usual: Any, unit: str) -> str:
    """Return a number or a distribution as text; empty for none."""
    if usual is None:
        return ""
    end = f" {unit}" if unit else ""
    if isinstance(usual, Normal):
        return f"{_number(usual.mean)} ± {_number(usual.std)}{end}"
    if isinstance(usual, LogNormal):
        return f"{_number(usual.median)}{end} within a factor of {_number(usual.factor)}"
    if isinstance(usual, int | float):
        return f"{_number(usual)}{end}"
    return f"{_number(usual.low)} to {_number(usual.high)}{end}"


def _number(value: Number) -> str:
    return f"{float(f'{value:.3g}'):,.12g}"
