"""A tiny run, computed once, and made-up episodes for tests that need none."""

from typing import NamedTuple

import numpy as np
import pytest

from dowsax.evaluate.trace import Episode, Row
from dowsax.experiment.config import RunConfig
from dowsax.experiment.execute import fill, here
from dowsax.experiment.shards import Filled, cut
from dowsax.experiment.store import Run, open_run


class Computed(NamedTuple):
    """A run folder and the shards that were computed for it."""

    run: Run
    progress: list


@pytest.fixture(scope="session")
def config():
    """Two policies, six episodes in shards of two."""
    return RunConfig(
        ("greedy", "random"), ("temperature",), episodes=6, particles=64, max_readings=6, shard_size=2
    )


@pytest.fixture(scope="session")
def filled_run(tmp_path_factory):
    """(config, engine, name) -> the run in a folder of its own, computed by the engine."""

    def compute(config, engine, name):
        run = open_run(tmp_path_factory.mktemp(name), config, lambda: config.shard_size)
        progress = []
        fill(run, run.missing(), engine, lambda shard, ended: progress.append((shard, ended)))
        return Computed(run, progress)

    return compute


@pytest.fixture(scope="session")
def reference(config, filled_run):
    """The tiny run, computed here."""
    return filled_run(config, here, "reference")


@pytest.fixture
def invented_run(config, tmp_path):
    """A complete run of made-up episodes; nothing may be computed from its numbers."""
    run = open_run(tmp_path / "invented", config, lambda: config.shard_size)
    for shard in cut(config):
        run.keep(invented(shard))
    return run


def invented(shard):
    """Episodes of random numbers of different lengths, some not finite, the same at every call."""
    numbers = np.random.default_rng([shard.number, len(shard.cell.policy)])

    def episode(length):
        draw = lambda *shape: numbers.normal(size=(length, *shape)).astype(np.float32)  # noqa: E731
        parts = {name: draw(2) if name in ("position", "mean") else draw() for name in Row._fields}
        parts["spread"][-1] = np.inf
        theta = numbers.normal(size=7).astype(np.float32)
        final_theta = theta.copy()
        final_theta[:2] += 1
        return Episode(theta, final_theta, Row(**parts), float(numbers.uniform()))

    return Filled(shard, [episode(2 + place) for place in range(shard.size)], "an abacus")


def assert_same(some, others, *, seconds=True):
    """The same cells with the same episodes, bit for bit."""
    assert list(some) == list(others)
    for cell, episodes in some.items():
        for one, other in zip(episodes, others[cell], strict=True):
            expected = other if seconds else other._replace(seconds=one.seconds)
            assert one.seconds == expected.seconds
            for left, right in zip((*one[:2], *one.rows), (*expected[:2], *expected.rows), strict=True):
                assert left.dtype == right.dtype
                np.testing.assert_array_equal(left, right)
