"""The engine of a Ray cluster, or of a Ray started here, which computes the shard of a dead worker anew."""

import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Generator, Sequence

from dowsax.experiment.config import RunConfig
from dowsax.experiment.execute import Engine, Progress, compute
from dowsax.experiment.shards import Filled, Shard
from dowsax.extras import require_extra

LOCAL = "local"
_RETRIES = 5
_KNOCK = 5.0
_HANDSHAKE = 20.0
"""[s], the two together well below half a minute. Ray itself is far more patient."""


def on_ray(address: str, num_workers: int | None = None) -> "Engine":
    """The engine of the cluster at an address, or of this many workers of a Ray of its own (`local`)."""
    require_extra("ray", "`--ray`")
    if address != LOCAL and num_workers is not None:
        raise ValueError("A Ray cluster knows its own workers: leave --workers out, or use --ray local.")

    def engine(
        config: RunConfig, shards: "Sequence[Shard]", progress: "Progress"
    ) -> "Generator[Filled, None, None]":
        import ray
        from ray.exceptions import RayError, RayTaskError

        _connect(address, num_workers)
        try:
            yield from _results(config, shards, progress)
        except RayTaskError:
            raise
        except RayError as error:
            reason = str(error).strip().splitlines()[0]
            raise ValueError(f"Ray gave up: {reason} What was finished is kept.") from None
        finally:
            ray.shutdown()

    return engine


def _results(
    config: RunConfig, shards: "Sequence[Shard]", progress: "Progress"
) -> "Generator[Filled, None, None]":
    import ray

    # Where there are accelerators each task has one to itself; elsewhere one core.
    num_gpus = 1 if ray.cluster_resources().get("GPU") else 0
    task = ray.remote(num_cpus=1, num_gpus=num_gpus, max_retries=_RETRIES)(compute_alone)
    waiting = {task.remote(config, shard): shard for shard in shards}
    while waiting:
        (done, *_), _ = ray.wait(list(waiting), num_returns=1)
        filled = ray.get(done)
        progress(waiting.pop(done), filled.shard.size)
        yield filled


def compute_alone(config: RunConfig, shard: "Shard") -> "Filled":
    """What a worker does: the episodes of a shard one at a time on one thread, as there are other workers."""
    os.environ["NPROC"] = "1"

    return compute(config, shard, threads=1)


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
    """A ValueError within half a minute unless there is a Ray at the address.

    Tried in a process of its own, as an attempt of Ray's to connect cannot be given up.
    """
    if address != "auto":
        _require_open(address)
    attempt = f"import ray; ray.init(address={address!r}, log_to_driver=False, logging_level='ERROR')"
    try:
        outcome = subprocess.run(
            [sys.executable, "-c", attempt], capture_output=True, text=True, timeout=_HANDSHAKE
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"No Ray answers at {address}: is it the address of the head node?") from None
    if outcome.returncode != 0:
        reason = (outcome.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ValueError(f"Cannot join the Ray at {address}: {reason}")


def _require_open(address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdigit()):
        raise ValueError(f"A Ray address is local, auto, HOST:PORT or ray://HOST:PORT; got {address!r}.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or "no answer"
        raise ValueError(
            f"No Ray answers at {address} ({reason}): is it the address of the head node?"
        ) from None
