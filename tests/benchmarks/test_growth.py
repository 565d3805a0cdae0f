"""The recall that stands beside the growth curves, and the table at equal accuracy."""

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import growth, peers_table, surveys
from dowsax.inference.neighbours import exact_neighbours


def test_recall_of_the_exact_search_is_one_and_of_strangers_their_share(key):
    """Rows with half of the neighbours replaced by the farthest particles have recall one half."""
    embeddings = jax.random.normal(key, (200, 5))
    found = jax.jit(exact_neighbours, static_argnums=2)(embeddings, jnp.ones(200, bool), 8)
    indices = np.array(found.indices)
    assert growth.recall(np.asarray(embeddings), indices) == 1.0
    distances = np.linalg.norm(np.asarray(embeddings)[:, None] - np.asarray(embeddings)[None], axis=2)
    indices[:, 4:] = np.argsort(distances, axis=1)[:, -4:]
    assert growth.recall(np.asarray(embeddings), indices) == 0.5


def test_copies_count_as_found():
    """Of twenty copies of one point any eight are its neighbours."""
    embeddings = np.repeat(np.eye(3), 20, axis=0)
    indices = np.arange(60)[:, None] // 20 * 20 + np.arange(19, 11, -1)[None, :]
    assert growth.recall(embeddings, indices) == 1.0


def row(name, number, median, tail, time):
    one = surveys.Summary(1, median, tail, 1.0, 1.0, 0.9, median, tail)
    return peers_table.Row(name, number, {"overall": one}, time, [])


def test_equal_accuracy_takes_the_fastest_that_is_no_worse_in_median_and_tail():
    rows = [
        row("peer", 5000, 0.10, 0.40, 10.0),
        row("better peer", 5000, 0.01, 0.02, 10.0),
        row("dowsax", 512, 0.09, 0.50, 1.0),
        row("dowsax, default", 2048, 0.08, 0.30, 2.5),
        row("dowsax", 4096, 0.05, 0.20, 5.0),
    ]
    lines = peers_table.equal_accuracy_table(rows).splitlines()
    assert lines[2] == "| peer (5,000) | 10.0 | 2,048 particles | 2.5 | 0.25 |"
    assert lines[3] == "| better peer (5,000) | 10.0 | none of these | – | – |"
    assert len(lines) == 4
