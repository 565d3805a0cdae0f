"""What each scenario promises of the truth, of the first particles and of what happens on the way."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest
from walks import NEVER, search_for, walks

from dowsax.envs import SCENARIOS, Scenario, from_prior, inside
from dowsax.world import LOCATIONS, PlumePrior, benchmark_model

NUM_SOURCES = 4000
REGIONS = {
    "ood-west": ((5, 15), (10, 20)),
    "ood-east": ((15, 15), (20, 20)),
    "ood-training": ((10, 10), (15, 15)),
}


class OneSource:
    """A prior that is cheap to draw from: always the same source."""

    parameters = coordinates = ()

    def sample(self, key):
        del key
        return jnp.arange(7.0)

    def log_prob(self, theta):
        return jnp.zeros(())


def sources(scenario, key, prior=None):
    keys = jax.random.split(key, NUM_SOURCES)
    thetas = jax.jit(jax.vmap(lambda key: scenario.sources(prior or OneSource(), key)))(keys)
    return np.asarray(thetas)


def within(places, low, high):
    return np.all((places >= np.array(low)) & (places <= np.array(high)), axis=1)


def is_uniform(values, low, high) -> bool:
    """Kolmogorov and Smirnov do not object; they would by chance in one seed of a thousand."""
    return kstest(values, "uniform", args=(low, high - low)).pvalue > 1e-3


def test_id_sources_are_the_prior(key):
    prior = benchmark_model("temperature").prior
    thetas = sources(SCENARIOS["id"], key, prior)
    for column, (low, high) in enumerate([(5, 20), (5, 20), (10, 3000)]):
        assert is_uniform(thetas[:, column], low, high)
    assert np.isfinite(jax.vmap(prior.log_prob)(thetas)).all()


@pytest.mark.parametrize("name", REGIONS)
def test_ood_sources_fill_their_region(name, key):
    """And what is not their position is left to the prior."""
    thetas = sources(SCENARIOS[name], key)
    low, high = REGIONS[name]
    assert within(thetas[:, :2], low, high).all()
    assert is_uniform(thetas[:, 0], low[0], high[0])
    assert is_uniform(thetas[:, 1], low[1], high[1])
    assert (thetas[:, 2:] == np.arange(2, 7)).all()


def test_ood_is_either_region_as_often(key):
    """The share of one is 1/2 within five standard errors."""
    places = sources(SCENARIOS["ood"], key)[:, :2]
    west, east = (within(places, *REGIONS[name]) for name in ("ood-west", "ood-east"))
    assert np.all(west ^ east)
    assert abs(west.mean() - 0.5) < 5 * 0.5 / NUM_SOURCES**0.5


@pytest.mark.slow
def test_shift_moves_the_source_after_reading_15(first_states):
    """Readings 1 to 15 are of one source, the others of one elsewhere that is otherwise the same."""
    thetas = np.asarray(walks(search_for("shift"), NEVER, first_states).states.theta)
    first, last = thetas[:, :15], thetas[:, 15:]
    assert (first == first[:, :1]).all()
    assert (last == last[:, :1]).all()
    assert (first[:, 0, :2] != last[:, 0, :2]).all()
    assert (first[:, 0, 2:] == last[:, 0, 2:]).all()
    assert within(last[:, 0, :2], (5, 5), (20, 20)).all()
    assert len(np.unique(last[:, 0, 0])) == len(first_states)


def test_other_sources_stay(strolls):
    assert (strolls.states.theta == strolls.states.theta[:, :1]).all()


@pytest.mark.parametrize("name", LOCATIONS)
def test_each_shape_is_a_scenario(name):
    """Particles start in the shape; the truth is drawn from the prior all the same."""
    scenario = SCENARIOS[f"prior-{name.replace('_', '-')}"]
    assert scenario.initial == PlumePrior(location=LOCATIONS[name]())
    assert scenario.sources is from_prior


def test_particles_start_in_the_shape(key):
    """Those of the quarter ring, whose support is a fifth of the square."""
    particles = jax.jit(lambda key: search_for("prior-quarter-ring").prepare(key).belief.particles)(key)
    density = jax.vmap(LOCATIONS["quarter_ring"]().log_prob)
    assert np.isfinite(density(particles[:, :2])).all()
    assert np.ptp(particles[:, :2], axis=0).min() > 5


def test_a_scenario_of_ones_own(key):
    corner = Scenario(inside(((5.0, 5.0), (6.0, 7.0))), meaning="a corner")
    assert within(sources(corner, key)[:, :2], (5, 5), (6, 7)).all()


@pytest.mark.parametrize("reading", [0, -3])
def test_a_jump_before_the_first_reading_is_refused(reading):
    with pytest.raises(ValueError, match="`jump_after` must be a number of readings >= 1"):
        Scenario(from_prior, jump_after=reading)


def test_starts_are_uniform_in_their_corner(search, key):
    keys = jax.random.split(key, 1000)
    starts = jax.jit(jax.vmap(lambda key: search.prepare(key).station.position))(keys)
    assert is_uniform(starts[:, 0], 0, 5)
    assert is_uniform(starts[:, 1], 0, 5)
