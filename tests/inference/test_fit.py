"""The check of the fit: quiet where the model is right, loud where scores are large or neighbours alike."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import ndtr

from dowsax.inference.belief import Belief, History
from dowsax.inference.fit import MAX_CHECKED_READINGS, model_fit
from dowsax.inference.locate import locate
from dowsax.inference.redundancy import with_redundancy
from dowsax.types import Station
from dowsax.world import UniformBox, benchmark_model, compose, wander
from dowsax.world.distributions import LogUniform

MODEL = benchmark_model("temperature")
NUM_SURVEYS = 2000


def belief_of(scores, positions) -> Belief:
    """A belief whose readings have these normal scores; its particles do not matter."""
    number = scores.shape[0]
    history = History(Station(positions), jnp.zeros(number), jnp.asarray(number, jnp.int32))
    zeros, zero = jnp.zeros(2), jnp.zeros(())
    starts = jnp.zeros(2, jnp.int32)
    return Belief(jnp.zeros((2, 2)), zeros, zeros, starts, history, zero, zero, ranks=ndtr(scores))


@jax.jit
def fit_of(scores, positions, redundancy=1.0):
    return model_fit(with_redundancy(MODEL, redundancy), belief_of(scores, positions))


@jax.jit
def own_fit(belief):
    return model_fit(MODEL, belief)


fits_of = jax.jit(jax.vmap(fit_of, in_axes=(0, 0, None)))


@partial(jax.jit, static_argnums=(1, 2))
def walks(key, number, length):
    return jax.vmap(lambda key: wander(key, length))(jax.random.split(key, number))


@pytest.mark.parametrize("length", [3, 80])
def test_a_right_model_is_rarely_suspected(key, length):
    """Independent normal scores are below a level at most as often as it says, and not far more rarely."""
    score_key, path_key = jax.random.split(key)
    fits = fits_of(
        jax.random.normal(score_key, (NUM_SURVEYS, length)), walks(path_key, NUM_SURVEYS, length), 1.0
    )
    for level in (0.01, 0.1):
        share, deviation = float(jnp.mean(fits < level)), np.sqrt(level / NUM_SURVEYS)
        assert level / 4 - 5 * deviation <= share <= level + 5 * deviation
    assert bool(jnp.all((fits >= 0) & (fits <= 1)))


def test_readings_that_err_as_one_are_suspected_unless_they_count_as_one(key):
    """Scores that four neighbours share: suspected as forty readings, and as ten hardly ever."""
    score_key, path_key = jax.random.split(key)
    number = 500
    shared = jnp.repeat(jax.random.normal(score_key, (number, 10)), 4, axis=1)
    paths = walks(path_key, number, 40)
    assert float(jnp.mean(fits_of(shared, paths, 1.0) < 0.01)) > 0.5
    assert float(jnp.mean(fits_of(shared, paths, 4.0) < 0.01)) <= 0.01 + 5 * np.sqrt(0.01 / number)
    model = benchmark_model("temperature")
    belief = belief_of(shared[0], paths[0])
    for count in (1.0, 4.0):
        counted = with_redundancy(model, count)
        assert float(
            jax.jit(lambda belief, model=counted: model_fit(model, belief))(belief)
        ) == pytest.approx(float(fit_of(shared[0], paths[0], count)), rel=1e-4)


@pytest.mark.parametrize(
    "pattern",
    [
        lambda number, path: 1.5 * (-1.0) ** number,
        lambda number, path: 1.5 * jnp.sin(number / 3),
        lambda number, path: (number - 20) / 12,
        lambda number, path: jnp.sign(path[:, 0] - jnp.median(path[:, 0])),
    ],
    ids=["too large", "slow waves", "drift", "two halves"],
)
def test_a_pattern_is_suspected(key, pattern):
    """Patterns about as large as the noise, beside it."""
    noise_key, path_key = jax.random.split(key)
    paths = walks(path_key, 64, 40)
    scores = jax.vmap(lambda path: pattern(jnp.arange(40.0), path))(paths)
    noisy = scores + jax.random.normal(noise_key, scores.shape)
    assert float(jnp.mean(fits_of(noisy, paths, 1.0) < 0.01)) > 0.8


def test_neighbours_in_place_are_compared_whatever_their_order(key):
    """The east errs one way and the west the other, read in any order."""
    path_key, order_key = jax.random.split(key)
    path = 25 * jax.random.uniform(path_key, (40, 2))
    scores = jnp.sign(path[:, 0] - jnp.median(path[:, 0]))
    order = jax.random.permutation(order_key, 40)
    assert float(fit_of(scores[order], path[order])) < 0.01
    assert float(fit_of(scores, path[order])) > 0.01


def test_a_long_survey_is_judged_by_readings_evenly_spread(key):
    """What is between does not matter; and no reading, or none whose rank is kept, is no misfit."""
    length = 4 * MAX_CHECKED_READINGS
    path = jax.jit(wander, static_argnums=1)(key, length)
    tested = jnp.arange(length) % 4 == 0
    odd = jnp.where(tested, 0.0, 5.0)
    assert float(fit_of(odd, path)) == 1
    assert float(fit_of(5.0 - odd, path)) == 0
    belief = belief_of(odd, path)
    history = replace(belief.history, size=jnp.zeros((), jnp.int32))
    assert float(own_fit(replace(belief, history=history))) == 1
    assert float(own_fit(replace(belief, ranks=None))) == 1


def test_readings_at_one_place_can_be_checked():
    """A fixed sensor has no neighbouring place; the fit is a number all the same."""
    fits = [float(fit_of(jnp.full(12, score), jnp.zeros((12, 2)))) for score in (0.1, 3.0)]
    assert fits[0] > 0.01 > fits[1]


def test_a_path_is_where_its_middle_is(key):
    """Paths of one instrument, with the same middles as readings at points, have the same neighbours."""
    path = jax.jit(wander, static_argnums=1)(key, 40)
    belief = belief_of(jnp.sign(path[:, 0] - jnp.median(path[:, 0])), path)
    along = Station(jnp.zeros_like(path), far_end=2 * path)
    paths = replace(belief, history=replace(belief.history, stations=along))
    assert float(own_fit(paths)) == float(own_fit(belief)) < 0.01


@pytest.mark.slow
def test_a_wrong_sign_is_seen_although_the_noise_is_inferred(key):
    """Eight surveys of a plume, as they are and mirrored: most of the latter alarm, of the former none."""
    noise = {"noise_ratio": LogUniform(0.02, 0.5), "noise_floor": LogUniform(0.001, 0.1)}
    model = compose("temperature", UniformBox(), noise=noise)
    alarms = []
    for survey_key in jax.random.split(key, 8):
        theta_key, place_key, noise_key = jax.random.split(survey_key, 3)
        places = 25 * jax.random.uniform(place_key, (40, 2))
        readings = np.asarray(model.simulate(noise_key, model.prior.sample(theta_key), Station(places)))
        mirrored = readings.max() + readings.min() - readings
        alarms.append(
            [not locate(places, one, model=model, particles=256).fits for one in (readings, mirrored)]
        )
    right, wrong = np.sum(alarms, axis=0)
    assert right <= 1
    assert wrong >= 4
