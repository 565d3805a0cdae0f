"""The columns of Θ of several sources."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.world.source import Parameter

MAX_SOURCES = 4
"""Particles are compared in all orders of their sources: 24 of these."""


def numbers_of_sources(sources: object) -> tuple[int, ...]:
    """Return the numbers that `sources` allows: one, or those from the first to the second of "1-3"."""
    first, dash, last = (part.strip() for part in str(sources).partition("-"))
    if isinstance(sources, bool) or not first.isdecimal() or (dash and not last.isdecimal()):
        raise ValueError(
            f'the number of sources must be a whole number, or a range like "1-3"; got {sources!r:.60}.'
        )
    low, high = int(first), int(last if dash else first)
    if not 1 <= low <= high <= MAX_SOURCES:
        raise ValueError(f"there may be 1 to {MAX_SOURCES} sources, the lower number first; got {sources!r}.")
    return tuple(range(low, high + 1))


def as_numbers(sources: int | str | Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of sources that there may be, in their order: from one of them, a range or all."""
    if isinstance(sources, int | str | np.integer):
        return numbers_of_sources(sources if isinstance(sources, str) else int(sources))
    numbers = tuple(int(number) for number in sources)
    if not numbers or numbers != tuple(range(numbers[0], numbers[0] + len(numbers))):
        raise ValueError(f"numbers of sources must follow each other; got {numbers}.")
    return numbers_of_sources(f"{numbers[0]}-{numbers[-1]}")


class SourceColumns(eqx.Module):
    """Which columns a source has for itself.

    Θ of several sources is that of the first, which holds what all share too, and then the own columns of
    each other one. So whatever reads a shared column of one source reads it here as well.
    """

    single: int = eqx.field(static=True)
    """Number of columns of one source."""
    own: tuple[int, ...] = eqx.field(static=True)
    """The columns of its own: the position first."""
    number: int = eqx.field(static=True)
    """Of sources, at most."""
    fewest: int | None = eqx.field(default=None, static=True)
    """The least number of sources, where it is unknown: it is then a column after those of the sources, and
    of sources beyond that number the columns have no effect."""
    num_nuisances: int = eqx.field(default=0, static=True)
    """Of columns after those of all sources."""

    def __check_init__(self) -> None:
        if self.number < 1 or not self.own or max(self.own) >= self.single:
            raise ValueError("Several sources need at least one source, and columns of its own.")

    @property
    def total(self) -> int:
        """Number of columns of Θ."""
        return self._end + (self.fewest is not None) + self.num_nuisances

    @property
    def number_column(self) -> int | None:
        """The column of the number of sources; `None` where it is known."""
        return None if self.fewest is None else self._end

    @property
    def numbers(self) -> range:
        """The numbers of sources that there may be."""
        return range(self.number if self.fewest is None else self.fewest, self.number + 1)

    @property
    def _end(self) -> int:
        """The number of columns of all sources."""
        return self.single + (self.number - 1) * len(self.own)

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """The own columns of each source, in Θ."""
        starts = (self.single + number * len(self.own) for number in range(self.number - 1))
        return (self.own, *(tuple(range(start, start + len(self.own))) for start in starts))

    def of(self, theta: Float[Array, " total"], number: int) -> Float[Array, " single"]:
        """Return Θ of one of the sources, from 0."""
        block = self.blocks[number]
        taken = {column: block[at] for at, column in enumerate(self.own)}
        # Column by column: a gather is far slower.
        return jnp.stack([theta[taken.get(column, column)] for column in range(self.single)])

    def order(self, ranks: np.ndarray) -> np.ndarray:
        """Return the columns of Θ with the sources in another order: `ranks` (k,) says which comes where."""
        columns = np.arange(self.total)
        for block, rank in zip(self.blocks, ranks, strict=True):
            columns[list(block)] = self.blocks[int(rank)]
        return columns

    @property
    def by_source(self) -> tuple[int, ...]:
        """All columns, those of each source one after the other and then the shared ones: as is published.

        Without that of the number.
        """
        own = [column for block in self.blocks for column in block]
        others = (column for column in range(self.total) if column != self.number_column)
        return (*own, *(column for column in others if column not in own))

    def named(self, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        """Return the parameters of Θ from those of one source: x1, y1 and so on, then x2, y2."""
        own = set(self.own)
        first = tuple(
            _numbered(parameter, 1) if at in own else parameter for at, parameter in enumerate(parameters)
        )
        others = (
            _numbered(parameters[at], 2 + number) for number in range(self.number - 1) for at in self.own
        )
        number = () if self.fewest is None else (Parameter("sources", "", "number of sources"),)
        return (*first, *others, *number)


def single_name(name: str) -> str:
    """Return the name of a parameter without the number of its source."""
    return name.rstrip("0123456789")


def _numbered(parameter: Parameter, number: int) -> Parameter:
    return Parameter(f"{parameter.name}{number}", parameter.unit, f"{parameter.meaning}, source {number}")
