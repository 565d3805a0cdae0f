"""Several sources that share what is not their own: prior, coordinates and field, against one source."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.types import Station
from dowsax.world import UniformBox, benchmark_model, compose
from dowsax.world.distributions import Uniform
from dowsax.world.several_columns import numbers_of_sources

OWN = ("x", "y", "q")
NUM_DRAWS = 400


def plumes(number):
    return benchmark_model("temperature", sources=number)


@eqx.filter_jit
def draws(model, seed=0):
    return jax.vmap(model.prior.sample)(jax.random.split(jax.random.key(seed), NUM_DRAWS))


@eqx.filter_jit
def fields(model, thetas, station):
    return jax.vmap(model.field, in_axes=(0, None))(thetas, station)


@eqx.filter_jit
def log_priors(model, thetas):
    return jax.vmap(model.prior.log_prob)(thetas)


@eqx.filter_jit
def there_and_back(coordinates, thetas):
    """Return coordinates, what they are of, and the logs of the Jacobian: as declared, and exact."""
    moved = jax.vmap(coordinates.forward)(thetas)
    exact = jax.vmap(lambda at: jnp.linalg.slogdet(jax.jacfwd(coordinates.inverse)(at))[1])(moved)
    return moved, jax.vmap(coordinates.inverse)(moved), jax.vmap(coordinates.log_det)(moved), exact


@pytest.mark.parametrize("number", [2, 3])
def test_columns_are_those_of_one_source_and_the_own_ones_of_the_others(number):
    names = [parameter.name for parameter in plumes(number).prior.parameters]
    others = [f"{name}{at}" for at in range(2, number + 1) for name in OWN]
    assert names == ["x1", "y1", "q1", "ux", "uy", "alpha", "lambda", *others]


def test_the_other_sources_are_distributed_as_the_first():
    """Kolmogorov and Smirnov's test of each own column; the sources are independent."""
    drawn = np.asarray(draws(plumes(2)))
    for first, second in ((0, 7), (1, 8), (2, 9)):
        assert stats.ks_2samp(drawn[:, first], drawn[:, second]).pvalue > 1e-3
        assert abs(np.corrcoef(drawn[:, first], drawn[:, second])[0, 1]) < 4 / np.sqrt(NUM_DRAWS)


@pytest.mark.parametrize("number", [2, 3])
def test_coordinates_of_several_plumes_are_a_bijection_with_this_jacobian(number):
    model = plumes(number)
    thetas = draws(model)
    _, back, declared, exact = there_and_back(model.prior.coordinates, thetas)
    np.testing.assert_allclose(back, thetas, rtol=1e-5)
    np.testing.assert_allclose(declared, exact, atol=1e-3)


def test_the_free_coordinate_is_uniform_whatever_the_others_are():
    model = plumes(3)
    moved, *_ = there_and_back(model.prior.coordinates, draws(model))
    free = np.asarray(moved)[:, -1]
    assert stats.kstest(free, "uniform").pvalue > 1e-3


def test_any_order_of_the_sources_has_the_same_density_and_field():
    model = plumes(3)
    swapped = model.prior.columns.order(np.array([2, 0, 1]))
    thetas, station = np.asarray(draws(model))[:5], Station(jnp.array([11.0, 13.0]))
    np.testing.assert_allclose(
        log_priors(model, thetas[:, swapped]), log_priors(model, thetas), rtol=0, atol=1e-3
    )
    np.testing.assert_allclose(
        fields(model, thetas[:, swapped], station), fields(model, thetas, station), rtol=1e-5
    )


KINDS = {
    "gas-plume": {"wind": (3.0, 1.0), "distributions": {"height": 1.0}},
    "radiation": {},
    "level": {"background": Uniform(20.0, 40.0)},
    "magnetic-dipole": {},
    "energy": {"background": Uniform(0.0, 3.0)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_fields_add_up_and_the_background_counts_once(kind):
    """Against the fields of single sources without a background; levels by their powers."""
    box = UniformBox((0.0, 0.0), (50.0, 50.0))
    several = compose(kind, box, sources=3, **KINDS[kind])
    settings = KINDS[kind] | {"background": None}
    single = compose(kind, box, **settings)
    station = Station(jnp.array([20.0, 30.0]), dwell=jnp.float32(10.0))
    names = [parameter.name for parameter in several.prior.parameters]
    thetas = np.asarray(draws(several))[:5]
    for theta, found in zip(thetas, fields(several, thetas, station).tolist(), strict=True):
        values = dict(zip(names, theta.tolist(), strict=True))
        own = [[own_value(values, p.name, k) for p in single.prior.parameters] for k in (1, 2, 3)]
        each = fields(single, jnp.array(own), station).tolist()
        background = values["background"]
        if kind == "level":
            powers = [10 ** (level / 10) for level in (*each, background)]
            assert found == pytest.approx(10 * np.log10(sum(powers)), abs=1e-3)
        else:
            assert found == pytest.approx(sum(each) + background, rel=1e-4, abs=1e-4)


def own_value(values, name, number):
    return values[f"{name}{number}"] if f"{name}{number}" in values else values[name]


@pytest.mark.parametrize(("sources", "numbers"), [(2, (2,)), ("1-3", (1, 2, 3)), ("2", (2,)), ("2-2", (2,))])
def test_sources_are_a_number_or_a_range(sources, numbers):
    assert numbers_of_sources(sources) == numbers


@pytest.mark.parametrize("sources", [0, -1, "3-1", "1-9", "two", "1-", "-", True, "2.5", ""])
def test_other_sources_are_refused(sources):
    with pytest.raises(ValueError, match="sources"):
        numbers_of_sources(sources)
