"""The model puts prior, field and sensor together and adds nothing of its own."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world.fields import Plume
from dowsax.world.modalities import MODALITIES, benchmark_model
from dowsax.world.model import Model
from dowsax.world.priors import LOCATIONS, PlumePrior
from dowsax.world.sensors import Gaussian


def test_has_the_seven_fields():
    names = ["temperature", "concentration", "magnetic", "electric", "gas", "energy", "noise"]
    assert list(MODALITIES) == names
    assert all(MODALITIES[name].name == name for name in names)


def test_unknown_field_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'heat'.*temperature.*noise") as caught:
        benchmark_model("heat")
    assert "\n" not in str(caught.value)


def test_takes_another_prior():
    prior = PlumePrior(LOCATIONS["star"]())
    assert benchmark_model("gas", prior).prior is prior


def test_log_likelihood_is_the_sensor_at_the_intensity(key, draw):
    model = benchmark_model("temperature")
    theta, station = draw(model.prior, key, 1)[0], Station(jnp.array([9.0, 11.0]))
    level = model.intensity(theta, station)
    assert model.log_likelihood(theta, station, level) == model.sensor.log_prob(level, level, station)


def test_simulate_reads_once_at_every_station(key):
    """With next to no noise the readings are the field along the path; noise differs between stations."""
    path = jnp.stack([jnp.arange(8.0), jnp.full(8, 12.0)], axis=1)
    theta = jnp.array([10.0, 12.0, 500.0, 1.0, 0.0, 2.0, 2.0])

    model = Model(PlumePrior(), Plume(), Gaussian(0.0, 1.0))

    @jax.jit
    def simulate(floor):
        quieter = eqx.tree_at(lambda model: model.sensor.noise_floor, model, floor)
        return quieter.simulate(key, theta, Station(path))

    exact = simulate(1e-6)
    expected = jax.jit(jax.vmap(lambda position: Plume()(theta, Station(position))))(path)
    assert np.allclose(exact, expected, rtol=1e-5, atol=1e-5)
    noise = simulate(1.0) - exact
    assert len(np.unique(noise)) == 8


@pytest.mark.parametrize("name", ["concentration", "gas", "energy"])
def test_simulated_readings_are_possible(name, key, draw):
    """Sensors that rule some readings out never give them, and give every reading a density."""
    model = benchmark_model(name)
    path = jnp.stack([jnp.linspace(0, 25, 20), jnp.linspace(3, 20, 20)], axis=1)

    @jax.jit
    @jax.vmap
    def survey(key, theta):
        readings = model.simulate(key, theta, Station(path))
        logs = jax.vmap(model.log_likelihood, in_axes=(None, 0, 0))(theta, Station(path), readings)
        return readings, logs

    readings, logs = survey(jax.random.split(key, 50), draw(model.prior, key, 50))
    assert np.isfinite(logs).all()
    assert model.sensor.fault(np.asarray(readings).ravel()) is None


def test_is_hashable_data():
    """Two equal models are one static argument: no second compilation."""
    assert hash(benchmark_model("gas")) == hash(benchmark_model("gas"))
    assert benchmark_model("gas") == benchmark_model("gas")
