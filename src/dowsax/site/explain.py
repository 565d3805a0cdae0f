"""The schema of the site file as plain data: its tables and keys, for the template and the reference page."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
from pydantic.fields import FieldInfo

from dowsax.site.distributions import RangeSetting
from dowsax.site.errors import plain
from dowsax.site.schema import SiteFile
from dowsax.site.section import Section

_FORMS = {
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
    """Whether it counts in a new site file, or stands behind a #."""
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


def tables() -> Iterator[Table]:
    """Yield the tables of a site file in their order, with the keys at the top as tables without a header."""
    for name, field in SiteFile.model_fields.items():
        is_list = get_origin(field.annotation) is list
        kind: Any = get_args(field.annotation)[0] if is_list else field.annotation
        section = kind if isinstance(kind, type) and issubclass(kind, Section) else None
        header = f"[[{name}]]" if is_list else f"[{name}]"
        example = field.examples[0] if field.examples else None
        text = _flow(field.description or (section.__doc__ if section else ""))
        if section is not None:
            keys = tuple(_key(section, key) for key in section.known_keys())
            yield Table(name, header, text, example, keys)
        elif field.annotation is str:
            yield Table(name, "", text, example, (_key(SiteFile, name),))
        else:
            yield Table(name, header, text, example, ())


def _key(section: type[Section], name: str) -> Key:
    field = section.model_fields[section.known_keys()[name]]
    extra: Any = field.json_schema_extra
    example = (field.examples or [None])[0]
    text, unit, active = _flow(field.description), extra["unit"], extra["active"]
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
        elif leaf in _FORMS:
            forms.append(_FORMS[leaf])
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


def _flow(text: str | None) -> str:
    return " ".join((text or "").split())
