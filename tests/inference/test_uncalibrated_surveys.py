"""Surveys of sensors that only click or only rank: regions hold the source as often as they say."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import binom

from dowsax.inference.locate import locate
from dowsax.types import Station
from dowsax.world import UniformBox
from dowsax.world.compose import compose

NUM_SURVEYS, NUM_READINGS, SIDE = 40, 20, 60.0
PROBABILITY, RARE = 0.9, 1e-3
KNOWN = {"height": 1.0, "stability": 2.0, "lateral": 1.0, "vertical": 1.0, "meander": 0.5} | {
    "turn": 0.0,
    "speed": 1.0,
}


def model(reading):
    """A plume of which the place, the strength and the fluctuation are unknown."""
    noise = {"threshold": 2.0, "correlation_time": 5.0} if reading == "binary" else {"threshold": 2.0}
    box, settings = UniformBox((0.0, 0.0), (SIDE, SIDE)), {"gas": "methane", "wind": (2.0, 1.0)}
    return compose("gas-plume", box, reading=reading, distributions=KNOWN, noise=noise, **settings)


def latent_values(truth, keys, thetas, stations):
    """Readings of a sensor that ranks, by its definition: a power of the noisy concentration itself."""
    amounts = jax.vmap(jax.vmap(truth.intensity, in_axes=(None, 0)))(thetas, stations)
    column = [parameter.name for parameter in truth.prior.parameters].index("fluctuation")
    scale = jnp.sqrt(6 * jnp.log1p(thetas[:, column] ** 2)) / jnp.pi
    noise = jax.vmap(lambda key: jax.random.gumbel(key, (NUM_READINGS,)))(keys)
    return jnp.exp(0.3 * (jnp.log(2.0 + amounts) + scale[:, None] * noise))


def surveys(reading, key):
    """Sources from the prior, and readings at random places; of hits, one after the other."""
    truth = model(reading)
    place_key, own_key, noise_key = jax.random.split(key, 3)
    thetas = jax.vmap(truth.prior.sample)(jax.random.split(own_key, NUM_SURVEYS))
    places = jax.random.uniform(place_key, (NUM_SURVEYS, NUM_READINGS, 2), maxval=SIDE)
    stations = Station(places, dwell=jnp.full(places.shape[:2], 5.0))
    keys = jax.random.split(noise_key, NUM_SURVEYS)
    draw = jax.vmap(truth.simulate)
    if reading == "rank":
        draw = lambda *given: latent_values(truth, *given)  # noqa: E731
    return truth, np.asarray(thetas), stations, np.asarray(jax.jit(draw)(keys, thetas, stations))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("reading", ["binary", "rank"])
def test_regions_hold_the_source_and_are_smaller_than_the_area(reading, key):
    """Of 40 regions of 90 %, within what happens in 998 of 1,000; and the estimate beats the middle.

    Ranks are those of values with independent noise, while the filter compares each reading with eight
    earlier ones at most.
    """
    truth, thetas, stations, values = surveys(reading, key)
    found = locate(stations, values, model=truth, preset="plain", particles=2048)
    off = np.linalg.norm(found.mean[:, :2] - thetas[:, :2], axis=1)
    held = int(np.sum(off <= found.credible_radius(PROBABILITY)))
    assert binom.ppf(RARE, NUM_SURVEYS, PROBABILITY) <= held <= binom.ppf(1 - RARE, NUM_SURVEYS, PROBABILITY)
    gain = np.linalg.norm(thetas[:, :2] - SIDE / 2, axis=1) - off
    assert gain.mean() > 5 * gain.std() / np.sqrt(NUM_SURVEYS)
