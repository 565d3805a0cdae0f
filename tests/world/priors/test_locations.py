"""Distributions of the source position: normalised densities, and samples that follow them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.world.base import Location
from dowsax.world.priors import LOCATIONS, BetaBox, DirichletBox, GaussianBox, RingSector, Star, UniformBox

NUM_DRAWS = 20_000
FINE, COARSE = 720, 18
"""Cells a side of [4, 22]² for the integral, and for counting samples: one metre."""


@pytest.fixture(params=[*LOCATIONS, "skewed_beta", "skewed_gaussian", "skewed_dirichlet"])
def distribution(request):
    others = {
        "skewed_beta": BetaBox((1.0, 4.0), (3.0, 1.5), low=(5, 6), high=(18, 20)),
        "skewed_gaussian": GaussianBox((6.0, 14.0), (4.0, 2.0)),
        "skewed_dirichlet": DirichletBox((1.0, 2.0, 4.0), low=(5, 6), high=(18, 20)),
    }
    return others[request.param] if request.param in others else LOCATIONS[request.param]()


@functools.cache
def cell_probabilities(distribution):
    """The density integrated over each coarse cell by the midpoint rule."""
    middles = 4 + 18 * (jnp.arange(FINE) + 0.5) / FINE
    grid = jnp.stack(jnp.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    density = (
        np.exp(np.asarray(jax.jit(jax.vmap(distribution.log_prob))(grid), np.float64)) * (18 / FINE) ** 2
    )
    ratio = FINE // COARSE
    return density.reshape(COARSE, ratio, COARSE, ratio).sum(axis=(1, 3))


def test_meets_the_protocol(distribution):
    assert isinstance(distribution, Location)


def test_is_normalised(distribution):
    """To 0.005: cells of 2.5 cm along edges of up to 80 m, of which a fraction errs either way."""
    assert cell_probabilities(distribution).sum() == pytest.approx(1, abs=5e-3)


@pytest.mark.slow_after(4)
def test_samples_follow_the_density(distribution, key):
    """Samples are in the support and in [5, 20]²; counts in cells of 1 m pass chi-square at level 1e-4."""
    samples = jax.jit(jax.vmap(distribution.sample))(jax.random.split(key, NUM_DRAWS))
    assert np.isfinite(jax.jit(jax.vmap(distribution.log_prob))(samples)).all()
    assert ((samples >= 5 - 1e-5) & (samples <= 20 + 1e-5)).all()
    edges = np.linspace(4, 22, COARSE + 1)
    counts, _, _ = np.histogram2d(*np.asarray(samples).T, bins=[edges, edges])
    probabilities = cell_probabilities(distribution) / cell_probabilities(distribution).sum()
    common = probabilities * NUM_DRAWS > 20
    observed = np.r_[counts[common], counts[~common].sum()]
    expected = NUM_DRAWS * np.r_[probabilities[common], probabilities[~common].sum()]
    kept = expected > 0
    assert observed[~kept].sum() == 0
    statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
    assert statistic < stats.chi2.ppf(1 - 1e-4, kept.sum() - 1)


def test_is_never_nan(distribution):
    points = jnp.array([[5.0, 5.0], [20.0, 20.0], [5.0, 20.0], [12.5, 12.5], [1e30, 0.0], [jnp.nan, 9.0]])
    values = np.asarray(jax.jit(jax.vmap(distribution.log_prob))(points))
    assert not np.isnan(values).any()
    assert np.isneginf(values[-2:]).all()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: UniformBox((5, 5), (5, 20)),
        lambda: BetaBox((0.5, 2)),
        lambda: GaussianBox((500, 12)),
        lambda: GaussianBox(spread=(0, 1)),
        lambda: DirichletBox((0.0, 1.0, 1.0)),
        lambda: Star(outer=1.0),
        lambda: RingSector(extent=7.0),
        lambda: RingSector(inner=-1.0),
    ],
)
def test_refuses_parameters_without_sense(wrong):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        wrong()
    assert "\n" not in str(caught.value)
