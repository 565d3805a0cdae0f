"""Made-up episodes, and what compares results."""

import numpy as np

from dowsax.evaluate.trace import Episode, Row
from dowsax.experiments.records import pack

SHARD_SIZE = 2
MADE = {"device": "an abacus", "took": 1.5}


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
        return Episode(theta, final_theta, Row(**parts), float(numbers.uniform()), 200)

    return [episode(2 + place) for place in range(shard.size)]


def invent(store, shard):
    """Write made-up episodes of a shard."""
    store.write(shard, pack(invented(shard)), MADE)


def invented_episodes(evaluation):
    """The made-up episodes by run."""
    store = evaluation.store
    return {run: [one for shard in store.shards(run) for one in invented(shard)] for run in evaluation.runs}


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
