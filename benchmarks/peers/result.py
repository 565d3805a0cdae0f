"""What every peer returns, and how its time and its random numbers are kept."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np


class PeerResult(NamedTuple):
    """A weighted sample of the posterior after the last reading."""

    samples: np.ndarray
    """(n, 7): x, y, q, ux, uy, alpha, lambda."""
    weights: np.ndarray
    """(n,), normalised."""
    cpu_seconds: float
    """CPU time of the whole run, summed over the threads of the process; compilation left out."""


class Stopwatch:
    """CPU seconds of this process, read once at the end of a `with` block."""

    seconds: float = 0.0

    def __enter__(self) -> "Stopwatch":
        self._start = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.process_time() - self._start


@contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, which some packages draw from, and put it back afterwards."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def normalise(log_weights: np.ndarray) -> np.ndarray:
    """Weights that sum to one."""
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()
