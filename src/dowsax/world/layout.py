"""The columns of Θ, and numbers that are known or have a distribution."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import jax.numpy as jnp

from dowsax.world.base import Distribution, Field, Location, Prior
from dowsax.world.fields import Arranged
from dowsax.world.fields.arranged import KNOWN_COLUMN
from dowsax.world.kinds import KnownOrDistribution
from dowsax.world.priors import ExtendedPrior, ProductPrior, SeveralSourcesPrior
from dowsax.world.several_columns import SourceColumns
from dowsax.world.source import Parameter


@dataclass
class Layout:
    """The unknown columns of Θ, and those of the field's own Θ, which includes known numbers."""

    num_source: int
    """KnownOrDistribution of columns of the prior of the source, or of its position."""
    distributions: list[Distribution] = field(default_factory=list)
    named: list[Parameter] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    sources: SeveralSourcesPrior | None = None
    """The prior of several sources, to which further columns are nuisance parameters."""

    def __post_init__(self) -> None:
        self.columns, self.numbers = list(range(self.num_source)), [0.0] * self.num_source

    def unknown(self, parameter: Parameter, distribution: Distribution) -> int:
        """Add a column to Θ and return its index."""
        self.distributions.append(distribution)
        self.named.append(parameter)
        return self.num_source + len(self.distributions) - 1

    def add(self, parameter: Parameter, number: KnownOrDistribution) -> int:
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

    def prior(self, location: Location) -> Prior:
        """Return the prior of Θ, with this distribution of the position of a source."""
        nuisances = tuple(self.distributions), tuple(self.named)
        if self.sources is None:
            return ProductPrior(location, *nuisances)
        return ExtendedPrior(self.sources, *nuisances) if self.distributions else self.sources

    def repeat_source(
        self, location: Location, own: Sequence[str], numbers: Sequence[int]
    ) -> tuple["Layout", SourceColumns]:
        """Return the layout of sources alike, of one of these numbers, and their columns in the field's Θ.

        Those of one source have been added. Each has its own position and its own of these parameters, where
        they are unknown.
        """
        own_unknown = [at for at, parameter in enumerate(self.named) if parameter.name in own]
        own_columns = (0, 1, *(self.num_source + at for at in own_unknown))
        most, fewest = max(numbers), min(numbers) if len(numbers) > 1 else None
        columns = SourceColumns(self.num_source + len(self.named), own_columns, most, fewest)
        own_entries = tuple(self.columns.index(column) for column in own_columns)
        arranged = SourceColumns(len(self.columns), own_entries, most, fewest)
        several = Layout(columns.total, sources=SeveralSourcesPrior(self.prior(location), columns))
        others = range(columns.single, columns.total)
        several.columns = [*self.columns, *others]
        several.numbers = [*self.numbers, *(0.0 for _ in others)]
        return several, arranged


def nominal(numbers: Mapping[str, KnownOrDistribution]) -> dict[str, float]:
    """Return the known numbers, and the medians of the unknown ones."""
    return {
        name: float(number.quantile(jnp.asarray(0.5)))
        if isinstance(number, Distribution)
        else _known(name, number)
        for name, number in numbers.items()
    }


def override(
    defaults: Mapping[str, KnownOrDistribution],
    unknown: Mapping[str, KnownOrDistribution],
    given: Mapping[str, KnownOrDistribution | str],
    what: str,
) -> dict[str, KnownOrDistribution]:
    """Return the defaults with the given ones in their place; "unknown" gives the default distribution."""
    require_known(given, tuple(defaults), what)
    said = {
        name: unknown.get(name, distribution) if distribution == "unknown" else distribution
        for name, distribution in given.items()
    }
    return {**defaults, **{name: as_number(name, distribution) for name, distribution in said.items()}}


def as_number(name: str, number: Any) -> KnownOrDistribution:
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
