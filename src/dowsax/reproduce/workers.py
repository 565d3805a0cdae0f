"""Several processes at one folder: each takes the next cell that nobody is at."""

import os
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from typing import Any

from dowsax.reproduce.cells import Cell
from dowsax.reproduce.fill import fill
from dowsax.reproduce.store import Store

_LOOK = 1.0
"""[s], between looks at what has been finished."""


def fill_together(
    store: Store, cells: Sequence[Cell], seconds: float, num_workers: int, told: Callable[[int], None]
) -> None:
    """Compute what is missing in so many processes; `told` hears how many cells are there so far."""
    context = get_context("spawn")
    # By the clock on the wall, as a process takes a while to start.
    until = time.time() + seconds
    line, theirs = context.Pipe(duplex=False)
    workers = [
        context.Process(target=_work, args=(theirs, store, tuple(cells), until, num_workers), daemon=True)
        for _ in range(num_workers)
    ]
    for worker in workers:
        worker.start()
    theirs.close()
    try:
        while any(worker.is_alive() for worker in workers):
            time.sleep(_LOOK)
            told(sum(store.path(cell).exists() for cell in cells))
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()
    _complain(line, [worker.exitcode for worker in workers])


def _complain(line: Any, codes: list[int | None]) -> None:
    """Raise what a process has said, or that one has died without a word."""
    try:
        kind, said = line.recv()
    except EOFError:
        kind, said = None, ""
    if kind is not None:
        raise ValueError(said) if kind == "input" else RuntimeError(f"A process failed:\n{said}")
    dead = [code for code in codes if code != 0]
    if dead:
        raise ValueError(
            f"{len(dead)} of {len(codes)} processes died (exit code {dead[0]}), perhaps for want of memory. "
            "What was finished is kept: go on with fewer --workers."
        )


def _work(line: Any, store: Store, cells: tuple[Cell, ...], until: float, num_workers: int) -> None:
    """What a process does."""
    # An interruption reaches all processes of a terminal; the one that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Read by XLA when it starts: they share the cores of a processor, or the memory of a card.
    threads = max(1, (os.cpu_count() or 1) // num_workers)
    os.environ.setdefault("NPROC", str(threads))
    os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", f"{0.9 / num_workers:.2f}")
    try:
        fill(store, cells, time.monotonic() + until - time.time(), threads=threads)
    except ValueError as error:
        line.send(("input", str(error)))
    except Exception:
        line.send(("failure", traceback.format_exc()))
