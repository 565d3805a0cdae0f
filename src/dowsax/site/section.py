"""What the tables of a site file are made of: keys with their explanation, numbers and places."""

from typing import Annotated, Any

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    GetPydanticSchema,
    model_validator,
)
from pydantic_core import core_schema

from dowsax.site.errors import MISSING, Fault, choice_words, show, unknown_key_words


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

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, use_attribute_docstrings=True
    )

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
                raise Fault(MISSING, name)


def one_of(choices: Any) -> AfterValidator:
    """Require one of these words."""

    def require(value: Any) -> Any:
        if isinstance(value, str) and value not in choices:
            raise ValueError(choice_words(value, choices))
        return value

    return AfterValidator(require)


def _require_two(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"must be two numbers in brackets, [1, 2]; got {show(value)}.")
    return value


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Pair = Annotated[tuple[Number, Number], BeforeValidator(_require_two)]


def _as_array(pairs: list[tuple[float, float]]) -> np.ndarray:
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


Points = Annotated[
    np.ndarray,
    GetPydanticSchema(
        lambda _, schema_of: core_schema.no_info_after_validator_function(
            _as_array, schema_of(Annotated[list[Pair], FailFast()])
        )
    ),
]
"""(k, 2), from a list of pairs."""
