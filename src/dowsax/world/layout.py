"""The columns of Θ, and numbers that are known or have a distribution."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import jax.numpy as jnp

from dowsax.world.base import Distribution, Field
from dowsax.world.fields import Arranged
from dowsax.world.fields.arranged import KNOWN_COLUMN
from dowsax.world.kinds import Number
from dowsax.world.source import Parameter


@dataclass
class Layout:
    """The unknown columns of Θ, and those of the field's own Θ, which includes known numbers."""

    num_source: int
    """Number of columns of the prior of the source, or of its position."""
    distributions: list[Distribution] = field(default_factory=list)
    named: list[Parameter] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns, self.numbers = list(range(self.num_source)), [0.0] * self.num_source

    def unknown(self, parameter: Parameter, distribution: Distribution) -> int:
        """Add a column to Θ and return its index."""
        self.distributions.append(distribution)
        self.named.append(parameter)
        return self.num_source + len(self.distributions) - 1

    def add(self, parameter: Parameter, number: Number) -> int:
        """Add a column to the field's Θ and return its index there."""
        known = not isinstance(number, Distribution)
        self.columns.append(KNOWN_COLUMN if known else self.unknown(parameter, number))
        self.numbers.append(_known(parameter.name, number) if known else 0.0)
        return len(self.columns) - 1

    def arrange(self, inner: Field) -> Field:
        """Return the field as a function of Θ."""
        if self.columns == list(range(len(self.columns))):
            return inner
        return Arranged(inner, tuple(self.columns), tuple(self.numbers))


def nominal(numbers: Mapping[str, Number]) -> dict[str, float]:
    """Return the known numbers, and the medians of the unknown ones."""
    return {
        name: float(number.quantile(jnp.asarray(0.5)))
        if isinstance(number, Distribution)
        else _known(name, number)
        for name, number in numbers.items()
    }


def override(
    defaults: Mapping[str, Number],
    unknown: Mapping[str, Number],
    given: Mapping[str, Number | str],
    what: str,
) -> dict[str, Number]:
    """Return the defaults with the given ones in their place; "unknown" gives the default distribution."""
    require_known(given, tuple(defaults), what)
    said = {
        name: unknown.get(name, distribution) if distribution == "unknown" else distribution
        for name, distribution in given.items()
    }
    return {**defaults, **{name: as_number(name, distribution) for name, distribution in said.items()}}


def as_number(name: str, number: Any) -> Number:
    return number if isinstance(number, Distribution) else _known(name, number)


def _known(name: str, number: Any) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError(
            f"`{name}` must be a distribution, or a finite number if it is known; got {number!r}."
        )
    return float(number)


def require_known(given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"unknown name {name!r} in the {what}{hint(name, known)}")


def hint(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else "."
    return f"{meant} Known are {', '.join(known)}." if known else "; there are none."
