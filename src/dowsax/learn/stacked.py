"""Many search problems in one compiled program: those that differ by numbers alone, stacked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from dowsax.envs import SearchProblem

_NUMBERS = float, np.floating, jax.Array, np.ndarray


@dataclass(frozen=True)
class StackedProblems:
    """Problems of one structure; leaves that differ are arrays with one entry for each."""

    like: SearchProblem
    """One of them, for what is the same in all."""
    leaves: tuple[Any, ...]
    """Of all problems: stacked where they differ."""
    is_stacked: tuple[bool, ...]
    structure: Any
    number: int

    @classmethod
    def of(cls, problems: Sequence[SearchProblem]) -> "StackedProblems":
        """Stack problems; raise a ValueError unless they differ by numbers alone."""
        structures = [jax.tree.structure(problem) for problem in problems]
        different = [at for at, structure in enumerate(structures) if structure != structures[0]]
        if different:
            raise ValueError(
                f"Problem {different[0]} has other static choices than problem 0: problems that are stacked "
                "may differ by numbers alone."
            )
        columns = list(zip(*(jax.tree.leaves(problem) for problem in problems), strict=True))
        is_stacked = tuple(not all(_is_same(leaf, column[0]) for leaf in column) for column in columns)
        leaves = tuple(
            _stack(column) if varies else column[0]
            for column, varies in zip(columns, is_stacked, strict=True)
        )
        return cls(problems[0], leaves, is_stacked, structures[0], len(problems))

    def select(self, number: Int[Array, ""]) -> SearchProblem:
        """Return the problem of this number."""
        pairs = zip(self.leaves, self.is_stacked, strict=True)
        return jax.tree.unflatten(
            self.structure, [leaf[number] if varies else leaf for leaf, varies in pairs]
        )


def _is_same(leaf: Any, other: Any) -> bool:
    if isinstance(leaf, _NUMBERS) and isinstance(other, _NUMBERS):
        return np.shape(leaf) == np.shape(other) and bool(np.array_equal(leaf, other))
    return leaf is other or leaf == other


def _stack(column: Sequence[Any]) -> Array:
    if len({np.shape(leaf) for leaf in column}) > 1:
        raise ValueError(
            "Arrays of problems that are stacked must have one shape; got "
            f"{sorted({np.shape(leaf) for leaf in column})}."
        )
    return jnp.stack([jnp.asarray(leaf, jnp.result_type(column[0])) for leaf in column])
