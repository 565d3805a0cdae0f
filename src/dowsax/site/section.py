"""What the tables of a site file consist of: keys with their explanation, numbers, places, distributions."""

import ast
import inspect
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    GetPydanticSchema,
    Tag,
    model_validator,
)
from pydantic_core import core_schema

from dowsax.site.text import MISSING_KEY_ERROR, Fault, choice_words, show, unknown_key_words


def key(
    default: Any = None, *, example: Any = None, unit: str = "", active: bool = False, **limits: Any
) -> Any:
    """Declare a key of a site file; the text below it is its explanation.

    `example` is the value in the file that `dowsax site new` writes, `active` whether the key counts there or
    stands behind a #.
    """
    return Field(default, examples=[example], json_schema_extra={"unit": unit, "active": active}, **limits)


class Section(BaseModel):
    """A table of a site file. An unknown key is an error that names the nearest known one."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @classmethod
    def known_keys(cls) -> dict[str, str]:
        """The keys as the file writes them, each with the name of its field."""
        return {field.alias or name: name for name, field in cls.model_fields.items()}

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, table: Any) -> Any:
        known = cls.known_keys()
        for name in table if isinstance(table, dict) else ():
            if name not in known and name not in known.values():
                raise Fault(unknown_key_words(name, known), name)
        return table

    def given(self, *keys: str) -> list[str]:
        """Return those of these keys that the file has."""
        fields = self.known_keys()
        return [name for name in keys if fields[name] in self.model_fields_set]

    def require(self, *keys: str) -> None:
        """Raise a Fault for the first of these keys that the file does not have."""
        for name in keys:
            if not self.given(name):
                raise Fault(MISSING_KEY_ERROR, name)


def explain(section: type[Section], name: str) -> str:
    """Return the explanation of a key, by the name of its field, in one line.

    It is read from the source when it is asked for: pydantic would read all of them at each import, which
    takes a second.
    """
    description = section.model_fields[name].description
    texts = [description] if description else [_attribute_texts(kind).get(name) for kind in section.__mro__]
    return " ".join(next((text for text in texts if text), "").split())


@cache
def _attribute_texts(kind: type) -> dict[str, str]:
    """Return the texts below the attributes of a section; empty for other classes."""
    if not issubclass(kind, Section):
        return {}
    try:
        definition = ast.parse(dedent(inspect.getsource(kind))).body[0]
    except OSError:
        # A model that was made by a function has no source; its keys have descriptions.
        return {}
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        line.target.id: text.value.value
        for line, text in pairwise(body)
        if isinstance(line, ast.AnnAssign)
        and isinstance(line.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def one_of(choices: Any) -> AfterValidator:
    """Require one of these words."""

    def require(value: Any) -> Any:
        if isinstance(value, str) and value not in choices:
            raise ValueError(choice_words(value, choices))
        return value

    return AfterValidator(require)


def require_positive(number: Any) -> Any:
    """Require a number > 0; words and flags pass."""
    if not isinstance(number, str | bool) and number is not None and number <= 0:
        raise ValueError(f"must be > 0; got {number:g}.")
    return number


def require_different(names: tuple[str, ...]) -> tuple[str, ...]:
    """Require that no name occurs twice."""
    if len(set(names)) != len(names):
        raise ValueError("a name occurs twice; every sensor needs its own.")
    return names


def _require_two(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"must be two numbers in brackets, [1, 2]; got {show(value)}.")
    return value


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Pair = Annotated[tuple[Number, Number], BeforeValidator(_require_two)]


def _require_pairs(value: Any) -> Any:
    for entry in value if isinstance(value, list) else [value]:
        if not isinstance(entry, list | tuple) or len(entry) != 2:
            raise ValueError(f"must be pairs of numbers in brackets, [[1, 2], [3, 4]]; got {show(entry)}.")
    return value


def _as_array(pairs: list[tuple[float, float]]) -> np.ndarray:
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


Points = Annotated[
    np.ndarray,
    GetPydanticSchema(
        lambda _, schema_of: core_schema.no_info_after_validator_function(
            _as_array, schema_of(Annotated[list[Pair], FailFast(), BeforeValidator(_require_pairs)])
        )
    ),
]
"""(k, 2), from a list of pairs."""


FORMS = 'a number, "unknown", [low, high], {mean = 1, std = 0.1} or {median = 1, factor = 2}'


class RangeSetting(Section):
    """Between two numbers, on a linear or logarithmic scale, or on that of the usual distribution."""

    low: Number
    high: Number
    scale: Literal["own", "linear", "log"] = "own"

    @model_validator(mode="after")
    def _require_order(self) -> "RangeSetting":
        if not self.low < self.high:
            raise ValueError(f"must be [low, high] with low below high; got [{self.low:g}, {self.high:g}].")
        if self.scale == "log" and self.low <= 0:
            raise Fault(f"must be > 0 on a log scale; got {self.low:g}.", "low")
        return self


class NormalSetting(Section):
    """Around a mean."""

    mean: Number
    std: Number = key(..., gt=0)


class LogNormalSetting(Section):
    """Within a factor of a median."""

    median: Number = key(..., gt=0)
    factor: Number = key(..., gt=1)


_TABLES = {
    RangeSetting: ("low", "high"),
    NormalSetting: ("mean", "std"),
    LogNormalSetting: ("median", "factor"),
}


def _form(value: Any) -> str | None:
    """Return the name of the form in which a distribution is written."""
    if value == "unknown":
        return "unknown"
    if isinstance(value, int | float):
        return None if isinstance(value, bool) else "number"
    if isinstance(value, list):
        return "pair"
    for table, keys in _TABLES.items():
        if isinstance(value, table) or (isinstance(value, dict) and set(keys) <= set(value)):
            return table.__name__
    return None


def _name_ends(value: list[Any]) -> dict[str, Any]:
    if len(value) != 2:
        raise ValueError(f"must be two numbers in brackets, [low, high]; got {show(value)}.")
    return dict(zip(("low", "high"), value, strict=True))


Distribution = Annotated[
    Annotated[Literal["unknown"], Tag("unknown")]
    | Annotated[Number, Tag("number")]
    | Annotated[RangeSetting, BeforeValidator(_name_ends), Tag("pair")]
    | Annotated[RangeSetting, Tag("RangeSetting")]
    | Annotated[NormalSetting, Tag("NormalSetting")]
    | Annotated[LogNormalSetting, Tag("LogNormalSetting")],
    Discriminator(_form, custom_error_type="form", custom_error_message=f"must be {FORMS}"),
]
"""A known number, a range, a normal or a log-normal distribution; "unknown" is the usual one of the kind."""


def ends(distribution: Any) -> tuple[float, ...]:
    """Return the known number, or the ends of a range; nothing for a distribution without ends."""
    if isinstance(distribution, RangeSetting):
        return distribution.low, distribution.high
    return (distribution,) if isinstance(distribution, int | float) else ()


def _require_not_negative(distribution: Any) -> Any:
    if min(ends(distribution), default=0.0) < 0:
        raise ValueError(f"must be >= 0; got {min(ends(distribution)):g}.")
    return distribution


NonNegative = Annotated[Distribution, AfterValidator(_require_not_negative)]


def require_above_zero(distribution: Any) -> Any:
    """Refuse a number that is known to be zero."""
    if ends(distribution) == (0.0,):
        raise ValueError("must be > 0; got 0.")
    return distribution


MAX_HEIGHTS = 10
"""At which readings are taken: each has all candidates again."""
MAX_HEIGHT_M = 1000.0
"""Of a reading above ground: more is probably above the sea."""


def _sort_heights(heights: list[float]) -> tuple[float, ...]:
    if not 1 <= len(heights) <= MAX_HEIGHTS:
        raise ValueError(f"must have 1 to {MAX_HEIGHTS} heights, [1.5, 5.0]; got {len(heights):,}.")
    wrong = next((height for height in heights if not 0 <= height <= MAX_HEIGHT_M), None)
    if wrong is not None:
        raise ValueError(f"must be from 0 to {MAX_HEIGHT_M:,.0f} m above ground; got {wrong:g}.")
    if len(set(heights)) < len(heights):
        raise ValueError(f"a height occurs twice in {show(heights)}; give each once.")
    return tuple(sorted(heights))


Heights = Annotated[list[Number], AfterValidator(_sort_heights)]
"""Different heights [m] above ground, from the lowest."""
