"""A walk run: one filter on the readings of random walks, which are the same for every filter."""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np

from dowsax.evaluate.surveys import wandering_survey
from dowsax.experiments.fingerprint import filter_settings
from dowsax.experiments.records import Arrays
from dowsax.experiments.run import Progress, episode_keys, hash_of, preset_of, require_sizes
from dowsax.inference import Preset
from dowsax.inference.locate import locate
from dowsax.world import benchmark_model

WALK_READINGS = 20
_BATCH_SIZE = 100
"""Walks that are located together; the numbers depend on it, as each batch has a seed."""
_COMPILED: set[tuple[str, int]] = set()
"""Runs and batch sizes whose programs this process has compiled."""


@dataclass(frozen=True)
class WalkRun:
    """What a filter makes of numbered random walks."""

    preset: str
    field: str = "temperature"
    episodes: int = 1000
    """Walks."""
    seed: int = 0
    particles: int | None = None
    """Default: as in the preset."""

    name = "walks"
    policy = "random"

    def __post_init__(self) -> None:
        require_sizes(self.episodes, self.seed, self.particles)

    @property
    def filter(self) -> Preset:
        return preset_of(self.preset, self.particles)

    @property
    def folder(self) -> str:
        return f"{self.preset}/walks/{self.field}"

    def settings(self) -> dict[str, Any]:
        """All that decides about the numbers."""
        sizes = {"walks": self.episodes, "seed": self.seed, "readings": WALK_READINGS}
        return {"preset": self.preset, "field": self.field} | sizes | filter_settings(self.filter)

    @cached_property
    def fingerprint(self) -> str:
        return hash_of(self.settings())

    def shard_size(self, default: int) -> int:
        del default
        return _BATCH_SIZE

    def compute(self, start: int, stop: int, progress: Progress, threads: int | None) -> Arrays:
        """Locate the sources of the walks from `start` to before `stop`, timed without compilation."""
        del threads
        preset, model = self.filter, benchmark_model(self.field)
        thetas, positions, readings = _walks(self.seed, self.field, np.arange(start, stop))
        seed = int(np.random.SeedSequence([self.seed, start]).generate_state(1)[0])

        def once():
            return locate(positions, readings, model=model, preset=preset, seed=seed)

        # Compiled once for each size of a batch.
        if (self.fingerprint, stop - start) not in _COMPILED:
            once()
            _COMPILED.add((self.fingerprint, stop - start))
        begun = time.perf_counter()
        posterior = once()
        seconds = np.full(stop - start, (time.perf_counter() - begun) / (stop - start))
        low, high = posterior.interval(0.9)
        inside = ((thetas >= low) & (thetas <= high))[:, :2]
        trace = posterior.trace
        error = np.linalg.norm(trace.mean[:, :, :2] - thetas[:, None, :2], axis=2)
        columns = (error, trace.std[:, :, :2], trace.ess, trace.evaluations.sum(axis=1))
        progress(stop - start)
        singles = [column.astype(np.float32) for column in columns]
        return dict(zip(Walks._fields, (*singles, inside, seconds), strict=True))


class Walks(NamedTuple):
    """What a filter makes of n walks of k readings."""

    error: np.ndarray
    """(n, k) [m]"""
    std: np.ndarray
    """(n, k, 2) [m]"""
    ess: np.ndarray
    """(n, k), before anything is done about it."""
    evaluations: np.ndarray
    """(n,), likelihood terms."""
    inside: np.ndarray
    """(n, 2), whether the 90 % interval of x and of y holds the source."""
    seconds: np.ndarray
    """(n,)"""


def _walks(seed: int, field: str, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    model = benchmark_model(field)

    def one(key):
        source_key, walk_key = jax.random.split(key)
        theta = model.prior.sample(source_key)
        return theta, *wandering_survey(walk_key, model, theta, WALK_READINGS)

    thetas, positions, readings = jax.vmap(one)(episode_keys(seed, f"walks {field}", numbers))
    return np.asarray(thetas), np.asarray(positions), np.asarray(readings)
