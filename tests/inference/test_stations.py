"""Surveys with more than positions: what was measured along reaches the field and the sensor."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.inference.arguments import check_stations
from dowsax.inference.belief import empty_history, record
from dowsax.inference.locate import locate
from dowsax.types import Station
from dowsax.world import UniformBox, compose, with_trail, without_source
from dowsax.world.distributions import LogUniform

NUM_READINGS = 24


@pytest.fixture
def stations(key):
    """A walk with dwell times, altitudes and two sensors."""
    return Station(
        jax.random.uniform(key, (NUM_READINGS, 2), maxval=50.0),
        dwell=jnp.linspace(2.0, 6.0, NUM_READINGS),
        time=5 * jnp.arange(float(NUM_READINGS)),
        altitude=jnp.ones(NUM_READINGS),
        sensor=jnp.arange(NUM_READINGS) % 2,
    )


def test_every_leaf_is_kept_and_numbers_of_sensors_stay_whole(stations):
    full = with_trail(stations, 3)
    kept = check_stations(full, np.asarray(full.position))
    assert jax.tree.structure(kept) == jax.tree.structure(full)
    for ours, theirs in zip(jax.tree.leaves(kept), jax.tree.leaves(full), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert kept.sensor.dtype == kept.trail.stations.sensor.dtype == jnp.int32


def test_the_history_keeps_whole_numbers_too(stations):
    first, second = (jax.tree.map(lambda leaf, at=at: leaf[at], stations) for at in (0, 1))
    history = record(empty_history(first, 4), second, jnp.float32(7.0))
    assert history.stations.sensor.dtype == jnp.int32
    assert history.stations.sensor[0] == 1


def test_extras_are_checked(stations):
    broken = replace(stations, altitude=jnp.full(NUM_READINGS, jnp.nan))
    with pytest.raises(ValueError, match="one value a position"):
        check_stations(broken, np.asarray(stations.position))


@pytest.mark.slow
def test_evidence_for_a_source_against_none(stations, key):
    """Where there is a source it is found, with evidence; where there is none the evidence says nothing.

    The evidence of the null model is an integral over its background, here by quadrature.
    """
    model = compose(
        "radiation",
        UniformBox((0, 0), (50, 50)),
        distributions={"attenuation": 0.01, "height": 1.0},
        background=LogUniform(1.0, 100.0),
    )
    null, truth = without_source(model), jnp.float32([30, 20, 3000, 10, 0.15])
    loud, quiet = (np.asarray(jax.jit(at.simulate)(key, truth, stations), float) for at in (model, null))
    found = locate(stations, loud, model=model, particles=512)
    assert (np.abs(found.mean[:2] - np.asarray(truth[:2])) < 4 * found.std[:2] + 0.1).all()
    factor = lambda readings: [  # noqa: E731
        float(locate(stations, readings, model=at, particles=512).log_evidence) for at in (model, null)
    ]
    with_one, without = factor(loud)
    assert with_one - without > 20
    with_one, without = factor(quiet)
    assert with_one - without < 1

    dwell = np.asarray(stations.dwell, float)[None, :]
    edges = np.linspace(0, np.log(100), 20_001)
    rates = np.exp((edges[1:] + edges[:-1]) / 2)[:, None]
    # The background varies by 5 %, so that counts are negative binomial.
    shape = 0.05**-2
    terms = stats.nbinom.logpmf(quiet[None, :], shape, shape / (shape + dwell * rates)).sum(axis=1)
    expected = np.log(np.mean(np.exp(terms - terms.max()))) + terms.max()
    # With 512 particles the filter's evidence has a standard error of about a tenth.
    assert without == pytest.approx(expected, abs=0.5)
