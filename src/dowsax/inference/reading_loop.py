"""The loop over the readings so far, in chunks: the filter spends its time here."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Int

# On an accelerator a loop tests for its end only after this many readings, as each test waits for the host.
_READINGS_PER_BLOCK = 16

Carry = TypeVar("Carry")


def readings_per_chunk() -> int:
    """Return the number of readings in a chunk.

    Terms of Θ alone are computed once a chunk. Longer chunks take longer to compile for little gain; with 8 a
    gas plume ran five times as long on a CPU. An accelerator starts a program for each chunk.
    """
    return 2 if jax.default_backend() == "cpu" else 4


def loop_over_chunks(
    stop: Int[Array, ""], step: Callable[[Int[Array, ""], Carry], Carry], carry: Carry
) -> Carry:
    """Compute `carry = step(chunk, carry)` for all chunks with readings before `stop`, and possibly more.

    In a batch all members take as many chunks as the one with most readings: a step must ignore readings from
    `stop` on.
    """
    chunks_per_block = 1 if jax.default_backend() == "cpu" else _READINGS_PER_BLOCK // readings_per_chunk()
    readings = readings_per_chunk() * chunks_per_block
    num_blocks = batch_max((stop + readings - 1) // readings)
    if chunks_per_block == 1:
        return jax.lax.fori_loop(0, num_blocks, step, carry)

    def block(number, carry):
        first = number * chunks_per_block
        return jax.lax.fori_loop(0, chunks_per_block, lambda at, carry: step(first + at, carry), carry)

    return jax.lax.fori_loop(0, num_blocks, block, carry)


@custom_vmap
def batch_max(number: Int[Array, ""]) -> Int[Array, ""]:
    """Return the number; in a batch the maximum over all members.

    A loop whose end differs within a batch has to mask the members that are done in every iteration; one with
    a common end does not.
    """
    return number


@batch_max.def_vmap
def _batch_max_rule(
    _size: int, batched: list[bool], numbers: Int[Array, " batch"]
) -> tuple[Int[Array, ""], bool]:
    # Recursive, for a batch of batches.
    return (batch_max(jnp.max(numbers)), False) if batched[0] else (batch_max(numbers), False)
