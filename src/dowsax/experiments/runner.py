"""The runner: compute the missing shards of runs, in this process or in several on this machine.

Processes are spawned, never forked, as JAX has threads. One that dies is replaced, and its shard is computed
again. An episode depends on its own key alone, so all engines give the same numbers.
"""

import math
import os
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any

import jax

from dowsax.experiments.claims import claim
from dowsax.experiments.provenance import device
from dowsax.experiments.records import Arrays
from dowsax.experiments.store import AnyRun, Shard, Store

ShardProgress = Callable[[Shard, int], None]
"""Called with a shard and the number of its episodes that have ended since the last call."""
Engine = Callable[[Store, Sequence[AnyRun], float, ShardProgress], None]
"""Computes what is missing of the runs in a store until a deadline (of `time.time`) [s]."""

FIRST_SHARD_S = 60.0
"""What a shard may take with its compilation, until one has taken longer."""
_SLACK = 1.3
_MAX_DEATHS = 3
_END_TIMEOUT_S = 10.0
CPU_SHARD_SIZE, ACCELERATOR_SHARD_SIZE = 25, 1000
"""An accelerator computes the episodes of a shard together: more of them cost it little."""


def default_shard_size() -> int:
    """The number of episodes in a shard that suits the device."""
    return CPU_SHARD_SIZE if jax.default_backend() == "cpu" else ACCELERATOR_SHARD_SIZE


def execute(
    store: Store,
    runs: Sequence[AnyRun],
    engine: Engine | None = None,
    deadline: float = math.inf,
    progress: ShardProgress = lambda shard, ended: None,
) -> None:
    """Compute what is missing, by default in this process, and write each shard when it is computed."""
    # A process may have been killed between the last shard of a run and its one file.
    for run in store.incomplete(runs):
        store.join(run)
    (engine or local)(store, runs, deadline, progress)


def local(
    store: Store, runs: Sequence[AnyRun], deadline: float, progress: ShardProgress, threads: int | None = None
) -> None:
    """Compute missing shards here, in the order of the runs; leave those that other processes have claimed.

    It ends before the deadline rather than begin a shard that may take longer than the longest so far.
    """
    longest, pending = 0.0, store.missing(runs)
    while pending:
        if deadline - time.time() < max(FIRST_SHARD_S, _SLACK * longest):
            return
        with claim(store, pending) as shard:
            if shard is None:
                return
            pending.remove(shard)
            # Another process may have computed it since the list was made.
            if store.has(shard):
                continue
            arrays, made = compute(shard, lambda ended, of=shard: progress(of, ended), threads)
            store.write(shard, arrays, made)
            longest = max(longest, made["took"])


def compute(
    shard: Shard, progress: Callable[[int], None] = lambda ended: None, threads: int | None = None
) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of a shard, and the device and time [s] it took."""
    progress(0)
    begun = time.time()
    arrays = shard.run.compute(shard.start, shard.stop, progress, threads)
    return arrays, {"device": device(), "took": time.time() - begun}


@dataclass
class _Worker:
    """A process, the connection to it, and the shard that it computes."""

    process: SpawnProcess
    connection: Any
    shard: Shard | None = None


def processes(num_workers: int, *, share_accelerator: bool = False) -> Engine:
    """The engine of several processes, which share the cores, or if asked the memory of an accelerator."""
    if num_workers < 1:
        raise ValueError(f"There must be at least 1 worker; got {num_workers}.")

    def engine(store: Store, runs: Sequence[AnyRun], deadline: float, progress: ShardProgress) -> None:
        if not share_accelerator:
            _require_cpu()
        tasks, deaths = (store, tuple(runs), deadline, num_workers), Counter()
        number = min(num_workers, len(store.missing(runs)))
        workers = {worker.connection: worker for worker in (_start(tasks) for _ in range(number))}
        try:
            while workers:
                connection = wait(list(workers))[0]
                if _receive(workers[connection], progress):
                    continue
                worker = workers.pop(connection)
                if _end(worker) != 0:
                    _count_death(deaths, worker.shard)
                    worker = _start(tasks)
                    workers[worker.connection] = worker
        finally:
            for worker in workers.values():
                worker.process.terminate()
                _end(worker)

    return engine


def _receive(worker: _Worker, progress: ShardProgress) -> bool:
    """Handle a message of a worker; false if it has ended."""
    try:
        kind, content = worker.connection.recv()
    except (EOFError, OSError):
        return False
    if kind == "progress":
        shard, ended = content
        worker.shard = shard
        progress(shard, ended)
        return True
    raise ValueError(content) if kind == "input" else RuntimeError(f"A worker failed:\n{content}")


def _count_death(deaths: Counter, shard: Shard | None) -> None:
    deaths[shard] += 1
    if deaths[shard] == _MAX_DEATHS:
        where = "A worker" if shard is None else f"The process that computes {shard.label}"
        raise ValueError(
            f"{where} died {_MAX_DEATHS} times, perhaps because memory ran out. Finished shards are kept: "
            "run the same command with fewer workers."
        )


def _start(tasks: tuple) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, *tasks), daemon=True)
    process.start()
    # Only the process holds its end now, so that its death closes the connection.
    theirs.close()
    return _Worker(process, ours)


def _end(worker: _Worker) -> int | None:
    """Wait for a process to end, kill it if it does not, and return its exit code."""
    worker.connection.close()
    worker.process.join(_END_TIMEOUT_S)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()
    return worker.process.exitcode


def _work(connection: Any, store: Store, runs: Sequence[AnyRun], deadline: float, num_workers: int) -> None:
    """The program of a worker process."""
    # An interruption reaches all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Read by XLA when it starts.
    threads = max(1, (os.cpu_count() or 1) // num_workers)
    os.environ.setdefault("NPROC", str(threads))
    os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", f"{0.9 / num_workers:.2f}")

    def report(shard: Shard, ended: int) -> None:
        connection.send(("progress", (shard, ended)))

    try:
        local(store, runs, deadline, report, threads)
    except ValueError as error:
        connection.send(("input", str(error)))
    except Exception:
        connection.send(("failure", traceback.format_exc()))


def _require_cpu() -> None:
    if jax.default_backend() != "cpu":
        raise ValueError(
            f"Workers share the cores of a CPU, and here JAX computes on {jax.default_backend()}: leave "
            "--workers out, or set JAX_PLATFORMS=cpu."
        )
