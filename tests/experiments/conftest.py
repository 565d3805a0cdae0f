"""A tiny evaluation, computed once, and made-up episodes for tests that need none."""

from typing import NamedTuple

import numpy as np
import pytest

from dowsax.evaluate.trace import Episode, Row
from dowsax.experiments.evaluation import Evaluation, grid, open_evaluation
from dowsax.experiments.records import pack
from dowsax.experiments.runner import execute, local

SHARD_SIZE = 2
MADE = {"device": "an abacus", "took": 1.5}


class Computed(NamedTuple):
    """An evaluation and the progress that was reported while it was computed."""

    evaluation: Evaluation
    progress: list


@pytest.fixture(scope="session")
def runs():
    """Two policies, six episodes in shards of two."""
    return grid(("greedy", "random"), ("temperature",), episodes=6, particles=64, max_readings=6)


@pytest.fixture(scope="session")
def computed(tmp_path_factory):
    """(runs, engine, name) -> the evaluation in a folder of its own, computed by the engine."""

    def compute(runs, engine, name, shard_size=SHARD_SIZE):
        evaluation = open_evaluation(tmp_path_factory.mktemp(name), runs, shard_size)
        progress = []
        report = lambda shard, ended: progress.append((shard, ended))  # noqa: E731
        execute(evaluation.store, runs, engine, progress=report)
        return Computed(evaluation, progress)

    return compute


@pytest.fixture(scope="session")
def reference(runs, computed):
    """The tiny evaluation, computed in this process."""
    return computed(runs, local, "reference")


def shards_of(evaluation):
    """All shards of an evaluation."""
    return [shard for run in evaluation.runs for shard in evaluation.store.shards(run)]


def invented(shard):
    """Episodes of random numbers of different lengths, some not finite, the same at every call."""
    numbers = np.random.default_rng([shard.start, len(shard.run.policy)])

    def episode(length):
        draw = lambda *shape: numbers.normal(size=(length, *shape)).astype(np.float32)  # noqa: E731
        parts = {name: draw(2) if name in ("position", "mean") else draw() for name in Row._fields}
        parts["spread"][-1] = np.inf
        theta = numbers.normal(size=7).astype(np.float32)
        final_theta = theta.copy()
        final_theta[:2] += 1
        return Episode(theta, final_theta, Row(**parts), float(numbers.uniform()))

    return [episode(2 + place) for place in range(shard.size)]


def invent(store, shard):
    """Write made-up episodes of a shard."""
    store.write(shard, pack(invented(shard)), MADE)


def invented_episodes(evaluation):
    """The made-up episodes by run."""
    store = evaluation.store
    return {run: [one for shard in store.shards(run) for one in invented(shard)] for run in evaluation.runs}


@pytest.fixture
def invented_evaluation(runs, tmp_path):
    """A complete evaluation of made-up episodes; nothing may be computed from its numbers."""
    evaluation = open_evaluation(tmp_path / "invented", runs, SHARD_SIZE)
    for shard in shards_of(evaluation):
        invent(evaluation.store, shard)
    return evaluation


def assert_same(some, others, *, seconds=True):
    """The same runs with the same episodes, bit for bit."""
    assert list(some) == list(others)
    for run, episodes in some.items():
        for one, other in zip(episodes, others[run], strict=True):
            expected = other if seconds else other._replace(seconds=one.seconds)
            assert one.seconds == expected.seconds
            for left, right in zip((*one[:2], *one.rows), (*expected[:2], *expected.rows), strict=True):
                assert left.dtype == right.dtype
                np.testing.assert_array_equal(left, right)
