"""The engine of a Ray cluster, or of a Ray started here. The shard of a dead worker is computed again."""

import math
import os
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

from dowsax.experiments.records import Arrays
from dowsax.experiments.runner import Engine, ShardProgress, compute
from dowsax.experiments.store import AnyRun, Shard, Store
from dowsax.extras import require_extra

LOCAL = "local"
_MAX_RETRIES = 5
_CONNECT_TIMEOUT_S = 5.0
_HANDSHAKE_TIMEOUT_S = 20.0
"""The two together are well below half a minute. Ray itself waits far longer."""


def on_ray(address: str, num_workers: int | None = None) -> Engine:
    """The engine of the cluster at an address, or of a Ray that is started here (`local`)."""
    require_extra("ray", "`--ray`")
    if address != LOCAL and num_workers is not None:
        raise ValueError("A Ray cluster has its own workers: leave --workers out, or use --ray local.")

    def engine(store: Store, runs: Sequence[AnyRun], deadline: float, progress: ShardProgress) -> None:
        import ray
        from ray.exceptions import RayError, RayTaskError

        _connect(address, num_workers)
        try:
            _compute_all(store, store.missing(runs), deadline, progress)
        except RayTaskError:
            raise
        except RayError as error:
            reason = str(error).strip().splitlines()[0]
            raise ValueError(f"Ray gave up: {reason} Finished shards are kept.") from None
        finally:
            ray.shutdown()

    return engine


def _compute_all(store: Store, shards: Sequence[Shard], deadline: float, progress: ShardProgress) -> None:
    """Compute shards on Ray and write them here, as other machines may not see the folder."""
    import ray

    # Where there are accelerators each task has one to itself; elsewhere one core.
    num_gpus = 1 if ray.cluster_resources().get("GPU") else 0
    task = ray.remote(num_cpus=1, num_gpus=num_gpus, max_retries=_MAX_RETRIES)(compute_alone)
    waiting = {task.remote(shard): shard for shard in shards}
    while waiting:
        left = None if math.isinf(deadline) else max(0.0, deadline - time.time())
        done, _ = ray.wait(list(waiting), num_returns=1, timeout=left)
        if not done:
            return
        shard = waiting.pop(done[0])
        store.write(shard, *ray.get(done[0]))
        progress(shard, shard.size)


def compute_alone(shard: Shard) -> tuple[Arrays, dict[str, Any]]:
    """Compute a shard with one episode at a time on one thread, as there are other workers."""
    os.environ["NPROC"] = "1"
    return compute(shard, threads=1)


def _connect(address: str, num_workers: int | None) -> None:
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        with warnings.catch_warnings():
            # Ray forks only to start other programs at once, which does JAX no harm.
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
            ray.init(address=LOCAL, num_cpus=num_workers, include_dashboard=False, **quiet)
        return
    _require_answer(address)
    ray.init(address=address, **quiet)


def _require_answer(address: str) -> None:
    """Raise a ValueError within half a minute if no Ray is at the address.

    Tried in a separate process, as Ray's attempt to connect cannot be cancelled.
    """
    if address != "auto":
        _require_open(address)
    attempt = f"import ray; ray.init(address={address!r}, log_to_driver=False, logging_level='ERROR')"
    try:
        outcome = subprocess.run(
            [sys.executable, "-c", attempt], capture_output=True, text=True, timeout=_HANDSHAKE_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"No Ray answers at {address}: is it the address of the head node?") from None
    if outcome.returncode != 0:
        reason = (outcome.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ValueError(f"Cannot join the Ray at {address}: {reason}")


def _require_open(address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdigit()):
        raise ValueError(f"A Ray address must be local, auto, HOST:PORT or ray://HOST:PORT; got {address!r}.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_TIMEOUT_S).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or "no answer"
        raise ValueError(
            f"No Ray answers at {address} ({reason}): is it the address of the head node?"
        ) from None
