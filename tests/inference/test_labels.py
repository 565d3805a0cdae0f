"""Labels of several sources: any order is the same particle, and the filter does not depend on it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.inference.labels import agree, sort_sources
from dowsax.inference.locate import locate
from dowsax.types import Station
from dowsax.world import benchmark_model
from dowsax.world.several_columns import SourceColumns

COLUMNS = SourceColumns(4, (0, 1), 3)


def shuffled(seed, spread):
    """Three places far from each other, in random order, and two shared columns."""
    random = np.random.default_rng(seed)
    places = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    rows = [
        [*(places + random.normal(0, spread, (3, 2)))[random.permutation(3)].ravel(), *random.normal(0, 1, 2)]
        for _ in range(64)
    ]
    rows = np.array(rows)
    return rows[:, [0, 1, 6, 7, 2, 3, 4, 5]]


def test_labels_agree_and_nothing_else_changes():
    before = shuffled(0, 0.5)
    after = np.asarray(agree(jnp.asarray(before, jnp.float32), jnp.zeros(64), COLUMNS))
    for block in COLUMNS.blocks:
        assert np.ptp(after[:, list(block)], axis=0).max() < 6
    np.testing.assert_allclose(after[:, 2:4], before[:, 2:4], rtol=1e-6)
    np.testing.assert_allclose(
        sort_sources(after, COLUMNS.blocks), sort_sources(before, COLUMNS.blocks), rtol=1e-5
    )


@pytest.mark.slow
def test_two_sources_are_found_with_calibrated_places():
    """Ranks of the sorted places of 24 surveys: their mean is that of uniform ones, within 4 errors."""
    model = benchmark_model("temperature", sources=2)
    ranks = []
    for seed in range(24):
        theta_key, noise_key = jax.random.split(jax.random.fold_in(jax.random.key(3), seed))
        theta = model.prior.sample(theta_key)
        places = np.random.default_rng(seed).uniform(5, 20, (20, 2))
        values = model.simulate(noise_key, theta, Station(jnp.asarray(places, jnp.float32)))
        found = locate(places, values, model=model, particles=512, seed=seed)
        samples = sort_sources(found.samples, found.source_columns)[:, [0, 1, 3, 4]]
        truth = sort_sources(np.asarray(theta)[None], model.prior.columns.blocks)[0, [0, 1, 7, 8]]
        ranks.append((found.weights[:, None] * (samples < truth)).sum(axis=0))
    ranks = np.array(ranks)
    assert np.abs(ranks.mean(axis=0) - 0.5).max() < 4 / np.sqrt(12 * 24)
    inside = ((ranks > 0.05) & (ranks < 0.95)).mean(axis=1)
    # Coordinates of one survey depend on each other: surveys are the sample.
    assert inside.mean() > 0.9 - stats.norm.ppf(0.999) * inside.std() / np.sqrt(24) - 0.02
