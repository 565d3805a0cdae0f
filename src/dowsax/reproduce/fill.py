"""Compute the cells that are missing, while there is time, beside other processes at the same folder."""

import time
from collections.abc import Callable, Sequence

from dowsax.reproduce.cells import Cell
from dowsax.reproduce.store import Store

LEAST = 60.0
"""[s], that a cell may take with what has to be compiled for it, until one has taken longer."""
_SLACK = 1.3

Told = Callable[[Cell, int], None]
"""Told how many more searches of a cell have ended."""


def fill(
    store: Store,
    cells: Sequence[Cell],
    deadline: float,
    told: Told = lambda cell, more: None,
    threads: int | None = None,
) -> None:
    """Compute what is missing in this order, and keep each cell as soon as it is there.

    It ends before the deadline (of `time.monotonic`) rather than begin a cell that may take longer than the
    longest so far. Cells that another process is at are left to it.
    """
    longest, pending = 0.0, store.missing(cells)
    while pending:
        if deadline - time.monotonic() < max(LEAST, _SLACK * longest):
            return
        with store.claimed(pending) as cell:
            if cell is None:
                return
            pending.remove(cell)
            # Another process may have finished it since the list was made.
            if store.about(cell) is not None:
                continue
            begun = time.monotonic()
            arrays = cell.measure(
                store.sizes, store.source(cell), lambda more, of=cell: told(of, more), threads
            )
            took = time.monotonic() - begun
            store.keep(cell, arrays, took)
            longest = max(longest, took)
