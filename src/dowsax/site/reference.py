"""What users read about the schema: the file of `dowsax site new`, and the reference page."""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
from pydantic.fields import FieldInfo

from dowsax.site.kinds import KINDS, prior_parameters, range_words, readings_of, why_unused, world_unit
from dowsax.site.measured import QUANTITIES
from dowsax.site.schema import SiteFile
from dowsax.site.section import RangeSetting, Section, explain
from dowsax.site.text import plain, toml_value
from dowsax.world.kinds import kind_of

_TYPE_WORDS = {
    np.ndarray: "list of [number, number]",
    bool: "true or false",
    float: "number",
    int: "whole number",
    str: "text",
}
_BOUNDS = {"gt": ">", "ge": ">=", "le": "<="}


@dataclass(frozen=True)
class Key:
    """One key of a table."""

    name: str
    text: str
    unit: str
    example: Any
    active: bool
    """Whether it counts in a new site file, or is commented out."""
    form: str
    """Type and range in words."""
    default: Any


@dataclass(frozen=True)
class Table:
    """One table of a site file."""

    name: str
    header: str
    """As the file writes it: `[area]`, `[[geofence]]`; empty for a key at the top."""
    text: str
    example: Any
    keys: tuple[Key, ...]
    """Empty where the keys are not those of the schema."""
    entry_keys: tuple[Key, ...] = ()
    """Of each entry, where every key is the name of a table of its own."""


def tables() -> Iterator[Table]:
    """Yield the tables of a site file in their order, with the keys at the top as tables without a header."""
    for name, field in SiteFile.model_fields.items():
        is_list = get_origin(field.annotation) is list
        kind: Any = get_args(field.annotation)[0] if is_list else field.annotation
        section = kind if isinstance(kind, type) and issubclass(kind, Section) else None
        header = f"[[{name}]]" if is_list else f"[{name}]"
        example = field.examples[0] if field.examples else None
        text = explain(SiteFile, name) or _join_lines(section.__doc__ if section else "")
        if section is not None:
            keys = tuple(_key(section, key) for key in section.known_keys())
            yield Table(name, header, text, example, keys)
        elif get_origin(field.annotation) is not dict and str in _leaves(field.annotation):
            yield Table(name, "", text, example, (_key(SiteFile, name),))
        else:
            entry: Any = get_args(field.annotation)[-1]
            is_table = isinstance(entry, type) and issubclass(entry, Section)
            keys = tuple(_key(entry, key) for key in entry.known_keys()) if is_table else ()
            yield Table(name, header, text, example, (), keys)


def _key(section: type[Section], name: str) -> Key:
    attribute = section.known_keys()[name]
    field = section.model_fields[attribute]
    extra: Any = field.json_schema_extra
    example = (field.examples or [None])[0]
    text, unit, active = explain(section, attribute), extra["unit"], extra["active"]
    default = None if field.is_required() else field.default
    return Key(name, text, unit, example, active, _form(field), default)


def _form(field: FieldInfo) -> str:
    """Return type and range of a key in words."""
    leaves, forms = list(_leaves(field.annotation)), []
    for leaf in leaves:
        if get_origin(leaf) is Literal:
            forms += [f'"{word}"' for word in get_args(leaf)]
        elif get_origin(leaf) is tuple:
            forms.append("list of texts" if str in get_args(leaf) else "[number, number]")
        elif leaf in _TYPE_WORDS:
            forms.append(_TYPE_WORDS[leaf])
    if RangeSetting in leaves:
        forms = ["distribution"]
    bounds = [
        f"{sign} {plain(getattr(limit, name))}"
        for limit in field.metadata
        for name, sign in _BOUNDS.items()
        if hasattr(limit, name)
    ]
    return ", ".join([" or ".join(forms), *bounds])


def _leaves(annotation: Any) -> Iterator[Any]:
    """Yield the types that an annotation is made of, without those in tuples."""
    if get_origin(annotation) is Annotated:
        yield from _leaves(get_args(annotation)[0])
    elif get_origin(annotation) in (Literal, tuple, None):
        yield annotation
    else:
        for part in get_args(annotation):
            yield from _leaves(part)


def _join_lines(text: str | None) -> str:
    return " ".join((text or "").split())


_LINE_LENGTH = 110
_FIRST_COMMENT = (
    "A site for dowsax: where the search is, what is measured there, what is known, what may be spent. "
    "Lengths are in metres, times in seconds. Only the area and the kind must be given. Check the file with "
    "`dowsax site check FILE`."
)

_COLUMN_KEYS = {
    **{quantity: ("sensors", quantity) for quantity in QUANTITIES},
    **dict.fromkeys(("wind_u", "wind_v", "wind_speed", "wind_from"), ("wind", "missing")),
    "altitude": ("sensor", "height"),
    "dwell": ("sensor", "dwell"),
}
"""The columns of a survey that have a use where these keys have one."""
_BENCHMARK_PRIOR_TEXT = (
    "What is believed of the source beforehand: [low, high], or a number. Default: the benchmark's."
)


def new_site(kind: str = "gas-plume") -> str:
    """Return the text of a site file of this kind with every key of it explained.

    Those of sensors without calibration alone are left out.
    """
    if kind not in KINDS:
        raise ValueError(f"Unknown kind {kind!r}; known are {', '.join(KINDS)}.")
    return "\n".join(
        [_comment(_FIRST_COMMENT), *filter(None, (_file_section(kind, table) for table in tables()))]
    )


def _file_section(kind: str, table: Table) -> str:
    """Return the lines of one table, empty where it has no use for the kind."""
    # The noise of a benchmark field is its own, unless a file has numbers for it.
    if table.name == "noise" and KINDS[kind].is_benchmark:
        return ""
    if table.name == "prior":
        lines = _prior_lines(kind)
    elif table.keys:
        lines = [_key_lines(kind, table, key) for key in table.keys]
    else:
        example = KINDS[kind].examples.get(table.name, table.example)
        lines = [_line(name, value, active=False) for name, value in example.items()]
        if any(why_unused(kind, table.name, key) for entry in _entries(example) for key in entry):
            lines = []
    if not table.header or not any(lines):
        return "".join(lines)
    text = _BENCHMARK_PRIOR_TEXT if table.name == "prior" and KINDS[kind].is_benchmark else table.text
    if table.header.startswith("[[") and not any(key.active for key in table.keys):
        # An entry of a list without its keys is an error, so that all of it is behind a #, or nothing.
        idle = re.sub(r"^# (?=\w+ = )", "#   ", "".join(lines), flags=re.MULTILINE)
        return f"{_comment(text)}# {table.header}\n{idle}"
    return f"{_comment(text)}{table.header}\n{''.join(lines)}"


def _key_lines(kind: str, table: Table, key: Key) -> str:
    facts, text, example, active = KINDS[kind], key.text, key.example, key.active
    section, name = table.name, key.name
    if section == "columns":
        section, name = _COLUMN_KEYS.get(name, (section, name))
    if why_unused(kind, section, name) is not None:
        return ""
    if table.example and key.name in table.example:
        example = table.example[key.name]
    if f"{table.name}.{key.name}" in facts.examples:
        example, active = facts.examples[f"{table.name}.{key.name}"], True
    if table.name == "field" and key.name == "kind":
        example, text = kind, _sentence(facts.meaning)
    if table.name == "field" and key.name == "unit":
        if not facts.unit:
            return ""
        choices = f" One of {', '.join(facts.units)}." if len(facts.units) > 1 else ""
        example, text = facts.unit, f"{text}{choices}"
    # The unit stands at the end of the first sentence.
    head, full_stop, rest = f"{text} ".partition(". ")
    unit = f" [{key.unit}]" if key.unit else ""
    return _comment(f"{head}{unit}{full_stop}{rest}") + _line(key.name, example, active)


def _is_used(kind: str, table: str, key: str) -> bool:
    """Return whether a key has a use for any type of reading of the kind."""
    return any(why_unused(kind, table, key, reading) is None for reading in readings_of(kind))


def _prior_lines(kind: str) -> list[str]:
    """Return the lines of each parameter: its meaning, and what holds without the key."""
    facts = KINDS[kind]
    known = {} if facts.is_benchmark else kind_of(kind, world_unit(facts.unit)).known
    lines = []
    for name, parameter in prior_parameters(kind, facts.unit, facts.gas).items():
        unit = f" [{parameter.unit}]" if parameter.unit else ""
        example = facts.examples.get(f"prior.{name}", known.get(name, "unknown"))
        active = f"prior.{name}" in facts.examples and not facts.is_benchmark
        lines.append(_comment(_sentence(f"{parameter.meaning}{unit}")) + _line(name, example, active))
    return lines


def _entries(example: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in example.values() if isinstance(entry, dict)]


def _line(name: str, value: Any, active: bool) -> str:
    return f"{'' if active else '# '}{name} = {toml_value(value)}\n"


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, _LINE_LENGTH - 2, break_on_hyphens=False))


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def reference_page() -> str:
    """Return the tables of all keys, and the kinds, as Markdown."""
    return "\n".join([*map(_page_section, tables()), _kinds()])


def _page_section(table: Table) -> str:
    title = f"## `{table.header or table.name}`\n\n{table.text}\n"
    if table.name == "prior":
        return f"{title}\n{_table(('kind', 'key', 'unit', 'range', 'meaning'), _parameters())}"
    if not table.keys:
        lines = "".join(_line(name, value, active=True) for name, value in table.example.items())
        title = f"{title}\n```toml\n{table.header}\n{lines}```\n"
        if not table.entry_keys:
            return title
    rows = [_row(table, key) for key in table.keys or table.entry_keys]
    # The last column, the kinds, is of no use where all have all keys.
    size = 5 if all(row[-1] == "all" for row in rows) else 6
    head = ("key", "value", "unit", "default", "meaning", "kinds")
    return f"{title}\n{_table(head[:size], (row[:size] for row in rows))}"


def _row(table: Table, key: Key) -> tuple[str, ...]:
    is_explained = key.default in (None, "", ()) or "Default: " in key.text
    default = "" if is_explained else f"`{json.dumps(key.default)}`"
    used = [kind for kind in KINDS if _is_used(kind, table.name, key.name)]
    return f"`{key.name}`", key.form, key.unit, default, key.text, _kind_words(used)


def _kind_words(used: list[str]) -> str:
    if len(used) == len(KINDS):
        return "all"
    if set(used) == {name for name, kind in KINDS.items() if not kind.is_benchmark}:
        return "all but benchmark fields"
    return ", ".join(used)


def _parameters() -> Iterator[tuple[str, ...]]:
    kinds = [kind for kind in KINDS if not KINDS[kind].is_benchmark] + ["gas"]
    for kind in kinds:
        label = "benchmark fields" if KINDS[kind].is_benchmark else kind
        parameters = prior_parameters(kind, KINDS[kind].unit, KINDS[kind].gas, KINDS[kind].uses_wind)
        for name, parameter in parameters.items():
            yield label, f"`{name}`", parameter.unit, range_words(name), f"{parameter.meaning}."


def _kinds() -> str:
    rows = ((f"`{name}`", kind.meaning, ", ".join(kind.units)) for name, kind in KINDS.items())
    return f"## Kinds\n\n{_table(('kind', 'meaning', 'units'), rows)}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))
    return "\n".join(lines) + "\n"


NEW_SITE = new_site()
"""The new site file of gas in the wind, which uses most keys."""
