"""The predictive check: quiet where the model is right, loud where it is not."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference.belief import History
from dowsax.inference.fit import NUM_DRAWS, predictive_fit, quick_fit
from dowsax.inference.presets import DEFAULT
from dowsax.types import Station
from dowsax.world import benchmark_model, wander

LENGTH = 12
NUM_SURVEYS = 48


@pytest.mark.slow
def test_suspects_a_wrong_sensor_and_not_the_right_one(key):
    """Under the right model the check is near zero in at most a few surveys; with noise ten times as large
    as the model says it always is. A few draws say the same where they leave no doubt."""
    model = benchmark_model("temperature")
    filter_ = DEFAULT.with_particles(256).with_horizon(LENGTH).build(model)

    def fit(key, excess):
        theta_key, path_key, noise_key, excess_key, filter_key, fit_key = jax.random.split(key, 6)
        theta, path = model.prior.sample(theta_key), wander(path_key, LENGTH)
        readings = model.simulate(noise_key, theta, Station(path))
        scale = jax.vmap(lambda at: model.sensor.scale(model.intensity(theta, Station(at))))(path)
        readings = readings + excess * scale * jax.random.normal(excess_key, (LENGTH,))

        def step(belief, now):
            key, position, reading = now
            return filter_.step(key, belief, Station(position), reading)

        init_key, step_key = jax.random.split(filter_key)
        keys = jax.random.split(step_key, LENGTH)
        belief, _ = jax.lax.scan(step, filter_.init(init_key), (keys, path, readings))
        return predictive_fit(fit_key, model, belief), quick_fit(fit_key, model, belief)

    keys = jax.random.split(key, NUM_SURVEYS)
    run = jax.jit(lambda excess: jax.lax.map(lambda key: fit(key, excess), keys))
    (right, quick), (wrong, quickly_wrong) = (
        np.asarray(run(jnp.asarray(excess, jnp.float32))) for excess in (0, 10)
    )
    assert ((right >= 0) & (right <= 1)).all()
    # Predictive p-values are at most twice as often small as uniform ones (Meng 1994).
    expected = NUM_SURVEYS * 2 * (0.05 + 1 / NUM_DRAWS)
    assert (right < 0.05).sum() <= expected + 5 * expected**0.5
    assert np.median(wrong) < 0.005
    # Both are shares of draws, of a quarter as many where they are large.
    few = np.where(quick >= 0.125, NUM_DRAWS / 4, NUM_DRAWS)
    pooled = (right + quick) / 2
    deviation = np.sqrt(pooled * (1 - pooled) * (1 / NUM_DRAWS + 1 / few))
    assert (np.abs(right - quick) <= 5 * deviation + 1e-6).all()
    assert ((quick * few) % 1 == 0).all()
    assert ((wrong < 0.005) == (quickly_wrong < 0.005)).mean() > 0.9


@pytest.mark.slow
def test_a_long_history_is_judged_by_readings_evenly_spread(key):
    """With room for all of them nothing changes; with less, what is between does not matter."""
    model = benchmark_model("temperature")
    belief_key, path_key, fit_key = jax.random.split(key, 3)
    empty = jax.jit(DEFAULT.with_particles(64).with_horizon(LENGTH).build(model).init)(belief_key)
    history = History(Station(wander(path_key, LENGTH)), jnp.ones(LENGTH), jnp.asarray(LENGTH, jnp.int32))
    belief = eqx.tree_at(lambda at: at.history, empty, history)
    spoilt = history.readings.at[jnp.array([1, 2, 4, 5, 7, 8, 10, 11])].set(jnp.nan)
    thinned = eqx.tree_at(lambda at: at.history.readings, belief, spoilt)
    fits = [
        jax.jit(lambda belief, most=most: predictive_fit(fit_key, model, belief, most))
        for most in (None, LENGTH, 4)
    ]
    whole, all_, few = (float(fit(belief)) for fit in fits)
    assert all_ == whole
    assert float(fits[2](thinned)) == few
    # A reading that is not a number is never as likely as a replica, and so would be seen.
    assert float(fits[1](thinned)) == 0
