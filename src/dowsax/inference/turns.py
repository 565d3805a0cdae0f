"""The loop over the readings so far, in turns of several: what the filter spends its time in."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Int

READINGS_A_TURN = 8
"""What depends on Θ alone is computed once a turn; longer turns take longer to compile for little gain."""

# Before each turn but those of a block an accelerator asks the host whether there is another.
_TURNS_A_BLOCK = 2

Carry = TypeVar("Carry")


def over_readings(
    stop: Int[Array, ""], turn: Callable[[Int[Array, ""], Carry], Carry], carry: Carry
) -> Carry:
    """`carry = turn(number, carry)` for so many turns that all readings before `stop` had theirs.

    There may be more turns than that: in a batch all members take as many as the one with most readings. What
    a turn does for readings from `stop` on must be nothing.
    """
    turns_a_block = 1 if jax.default_backend() == "cpu" else _TURNS_A_BLOCK
    readings = READINGS_A_TURN * turns_a_block
    num_blocks = largest((stop + readings - 1) // readings)
    if turns_a_block == 1:
        return jax.lax.fori_loop(0, num_blocks, turn, carry)

    def block(number, carry):
        first = number * turns_a_block
        return jax.lax.fori_loop(0, turns_a_block, lambda at, carry: turn(first + at, carry), carry)

    return jax.lax.fori_loop(0, num_blocks, block, carry)


@custom_vmap
def largest(number: Int[Array, ""]) -> Int[Array, ""]:
    """The number; in a batch the largest of all, the same for every member.

    A loop whose end differs within a batch asks in every turn who is done, and holds back what those would
    have changed. One with a common end does not.
    """
    return number


@largest.def_vmap
def _largest_of_batch(
    _size: int, batched: list[bool], numbers: Int[Array, " batch"]
) -> tuple[Int[Array, ""], bool]:
    # By itself again, for a batch of batches.
    return (largest(jnp.max(numbers)), False) if batched[0] else (largest(numbers), False)
