"""Several sources that share what is not their own: prior, coordinates and field, against one source."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.types import Station
from dowsax.world import UniformBox, benchmark_model, compose
from dowsax.world.several import several_sources

OWN = ("x", "y", "q")
PLUME = benchmark_model("temperature")
NUM_DRAWS = 400


def draws(model, seed=0):
    return jax.vmap(model.prior.sample)(jax.random.split(jax.random.key(seed), NUM_DRAWS))


@pytest.mark.parametrize("number", [2, 3])
def test_columns_are_those_of_one_source_and_the_own_ones_of_the_others(number):
    names = [parameter.name for parameter in several_sources(PLUME, number, OWN).prior.parameters]
    others = [f"{name}{at}" for at in range(2, number + 1) for name in OWN]
    assert names == ["x1", "y1", "q1", "ux", "uy", "alpha", "lambda", *others]


def test_one_source_is_the_model_itself():
    assert several_sources(PLUME, 1, OWN) is PLUME


def test_the_other_sources_are_distributed_as_the_first():
    """Kolmogorov and Smirnov's test of each own column; the sources are independent."""
    drawn = np.asarray(draws(several_sources(PLUME, 2, OWN)))
    for first, second in ((0, 7), (1, 8), (2, 9)):
        assert stats.ks_2samp(drawn[:, first], drawn[:, second]).pvalue > 1e-3
        assert abs(np.corrcoef(drawn[:, first], drawn[:, second])[0, 1]) < 4 / np.sqrt(NUM_DRAWS)


@pytest.mark.parametrize("number", [2, 3])
def test_coordinates_of_several_plumes_are_a_bijection_with_this_jacobian(number):
    model = several_sources(PLUME, number, OWN)
    coordinates, thetas = model.prior.coordinates, draws(model)
    moved = jax.vmap(coordinates.forward)(thetas)
    np.testing.assert_allclose(jax.vmap(coordinates.inverse)(moved), thetas, rtol=1e-5)
    exact = jax.vmap(lambda at: jnp.linalg.slogdet(jax.jacfwd(coordinates.inverse)(at))[1])(moved)
    np.testing.assert_allclose(jax.vmap(coordinates.log_det)(moved), exact, atol=1e-3)


def test_the_free_coordinate_is_uniform_whatever_the_others_are():
    moved = jax.vmap(several_sources(PLUME, 3, OWN).prior.coordinates.forward)
    free = np.asarray(moved(draws(several_sources(PLUME, 3, OWN)))[:, -1])
    assert stats.kstest(free, "uniform").pvalue > 1e-3


def test_any_order_of_the_sources_has_the_same_density_and_field():
    model = several_sources(PLUME, 3, OWN)
    swapped = model.prior.columns.order(np.array([2, 0, 1]))
    for theta in draws(model)[:5]:
        station = Station(jnp.array([11.0, 13.0]))
        assert model.prior.log_prob(theta[swapped]) == pytest.approx(
            float(model.prior.log_prob(theta)), abs=1e-3
        )
        assert model.field(theta[swapped], station) == pytest.approx(
            float(model.field(theta, station)), rel=1e-5
        )


def test_fields_add_up_and_the_background_counts_once():
    single = compose("radiation", UniformBox((0.0, 0.0), (50.0, 50.0)))
    model = several_sources(single, 2, OWN)
    station = Station(jnp.array([20.0, 30.0]), dwell=jnp.float32(10.0))
    for theta in draws(model)[:5]:
        each = [single.field(model.prior.columns.of(theta, number), station) for number in (0, 1)]
        background = single.field.without_source()(theta, station)
        assert model.field(theta, station) == pytest.approx(float(sum(each) - background), rel=1e-5)
