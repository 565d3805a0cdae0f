"""Fill a run folder: compute the shards that are missing, here or wherever an engine takes them.

An episode depends on its own key alone, so the numbers are the same whichever engine computes them.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

import jax
import numpy as np

from dowsax.evaluate.episodes import run_episodes
from dowsax.experiment.assemble import assemble, episode_keys
from dowsax.experiment.config import RunConfig
from dowsax.experiment.provenance import device
from dowsax.experiment.shards import Filled, Shard
from dowsax.experiment.store import Run

Progress = Callable[[Shard, int], None]
"""Told how many more episodes of a shard have ended."""
Engine = Callable[[RunConfig, Sequence[Shard], Progress], Generator[Filled, None, None]]
"""Computes shards, in any order."""

SHARD_SIZE = 25
SHARD_SIZE_ACCELERATED = 1000
"""An accelerator takes the episodes of a shard in step: more of them cost it little."""


def default_shard_size() -> int:
    """The cut that suits the device here."""
    return SHARD_SIZE if jax.default_backend() == "cpu" else SHARD_SIZE_ACCELERATED


def compute(
    config: RunConfig,
    shard: Shard,
    progress: Callable[[int], None] = lambda ended: None,
    *,
    threads: int | None = None,
) -> Filled:
    """The episodes of a shard. On a CPU as many run at once as there are threads, or cores."""
    search, policy = assemble(config, shard.cell)
    keys = episode_keys(config.seed, shard.cell.field, np.arange(shard.start, shard.stop))
    episodes = run_episodes(search, policy, keys, config.until, threads=threads, on_progress=progress)
    return Filled(shard, episodes, device())


def here(config: RunConfig, shards: Sequence[Shard], progress: Progress) -> Generator[Filled, None, None]:
    """The engine that needs nothing: one shard after another in this process."""
    for shard in shards:
        yield compute(config, shard, lambda ended, of=shard: progress(of, ended))


def fill(run: Run, missing: Sequence[Shard], engine: Engine, progress: Progress) -> None:
    """Compute what is missing. Whatever has been computed is kept, even when this is interrupted."""
    # Closed at once when interrupted, so that an engine can end what it has started.
    with closing(engine(run.configuration, missing, progress)) as results:
        for filled in results:
            run.keep(filled)
