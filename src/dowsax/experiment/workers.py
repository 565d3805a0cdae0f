"""The engine of several processes on this machine. One that dies is replaced, and its shard computed anew.

Processes are spawned, never forked, as JAX has threads. Each runs its episodes one at a time on one thread.
"""

import os
import signal
import traceback
from collections import Counter, deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any

from dowsax.experiment.config import RunConfig
from dowsax.experiment.execute import Engine, Progress, compute
from dowsax.experiment.shards import Filled, Shard

_ATTEMPTS = 3
_PATIENCE = 10.0
"""[s], that a process has to end."""


@dataclass
class _Worker:
    """A process, the line to it, and what it is at."""

    process: SpawnProcess
    connection: Any
    shard: "Shard"


def processes(num_workers: int) -> "Engine":
    """The engine of this many processes."""
    if num_workers < 1:
        raise ValueError(f"There is at least 1 worker; got {num_workers}.")

    def engine(
        config: RunConfig, shards: "Sequence[Shard]", progress: "Progress"
    ) -> "Generator[Filled, None, None]":
        _require_cpu()
        waiting, deaths = deque(shards), Counter()
        workers: dict[Any, _Worker] = {}
        try:
            while waiting or workers:
                while waiting and len(workers) < num_workers:
                    worker = _started(config, waiting.popleft())
                    workers[worker.connection] = worker
                for connection in wait(list(workers)):
                    yield from _heard(workers, connection, waiting, deaths, progress)
        finally:
            for worker in workers.values():
                worker.process.terminate()
            for worker in workers.values():
                _end(worker)

    return engine


def _heard(
    workers: dict[Any, _Worker], connection: Any, waiting: deque, deaths: Counter, progress: "Progress"
) -> "Generator[Filled, None, None]":
    """Take one message of a worker: progress, a shard, or an error; or notice that it is dead."""
    worker = workers[connection]
    try:
        kind, content = connection.recv()
    except (EOFError, OSError):
        _end(workers.pop(connection))
        deaths[worker.shard] += 1
        if deaths[worker.shard] == _ATTEMPTS:
            raise ValueError(
                f"The process that computes {worker.shard.file_name} died {_ATTEMPTS} times, perhaps for "
                "want of memory. What was finished is kept; try the same command with fewer workers."
            ) from None
        waiting.appendleft(worker.shard)
        return
    if kind == "progress":
        progress(worker.shard, content)
    elif kind == "error":
        raise RuntimeError(f"A worker failed on {worker.shard.file_name}:\n{content}")
    else:
        yield content
        if not waiting:
            _end(workers.pop(connection))
            return
        worker.shard = waiting.popleft()
        # One that has died since is noticed when it is listened to.
        with suppress(OSError):
            connection.send(worker.shard)


def _started(config: RunConfig, shard: "Shard") -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, config, shard), daemon=True)
    process.start()
    # Only the process holds its end now, so that its death closes the line.
    theirs.close()
    return _Worker(process, ours, shard)


def _end(worker: _Worker) -> None:
    """A process whose line is closed ends by itself; one that does not is killed."""
    worker.connection.close()
    worker.process.join(_PATIENCE)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()


def _work(connection: Any, config: RunConfig, shard: "Shard") -> None:
    """What a process does: shard after shard, until the line is closed."""
    # An interruption reaches all processes of a terminal; the one that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Read by XLA when it starts: one thread a process, as there are others.
    os.environ["NPROC"] = "1"

    def tell(ended: int) -> None:
        connection.send(("progress", ended))

    try:
        while True:
            connection.send(("filled", compute(config, shard, tell, threads=1)))
            shard = connection.recv()
    except (EOFError, OSError):
        return
    except Exception:
        connection.send(("error", traceback.format_exc()))


def _require_cpu() -> None:
    import jax

    if jax.default_backend() != "cpu":
        raise ValueError(
            f"Workers share the cores of a CPU, and here JAX computes on {jax.default_backend()}: leave "
            "--workers out, or set JAX_PLATFORMS=cpu."
        )
