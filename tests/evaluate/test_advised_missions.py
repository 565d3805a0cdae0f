"""Missions of the real advisor with simulated readings."""

import math
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_missions import MODEL, Hill, hill_site
from scipy.stats import fisher_exact, kstest, norm

from dowsax.evaluate import advised_missions
from dowsax.evaluate.advised_missions import move_source, simulate_mission
from dowsax.evaluate.missions import RehearsalConfig, rehearse
from dowsax.mission.advice import INCONCLUSIVE, SEARCHING
from dowsax.mission.advisor import Advisor
from dowsax.site.schema import Budget, SearchSetting, SensorSetting, StepSetting
from dowsax.world import Gaussian, Jump, Model

NEVER = SearchSetting.model_construct(preset="plain", particles=512, radius=1e-6)
"""A stop that cannot be reached."""
RARE = 1e-3


def advisor(model=MODEL, policy="infotaxis", **changes):
    return Advisor(hill_site(**changes), policy, model=model, warm_up=False)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["infotaxis", "location-gain"])
def test_rehearsals_are_such_missions_in_bulk(policy, key):
    """As many are found, in as many readings: Fisher's exact test, and medians within a few readings."""
    one, number = advisor(policy=policy), 30
    config = RehearsalConfig(missions=number, without_source=0.0, seed=5)
    slow = [
        simulate_mission(one.new_mission(seed), jax.random.fold_in(key, seed), config)
        for seed in range(number)
    ]
    bulk = rehearse(one.plan, config, one.policy).rehearsal.missions
    counts = [[sum(end.found for end in ends), sum(not end.found for end in ends)] for ends in (slow, bulk)]
    assert fisher_exact(counts).pvalue > RARE
    readings = [[end.readings for end in ends] for ends in (slow, bulk)]
    error = math.sqrt(sum(np.var(row) / number for row in readings))
    assert abs(np.mean(readings[0]) - np.mean(readings[1])) <= 4 * error + 1


@pytest.mark.slow
@pytest.mark.parametrize(("speed", "seconds"), [(1.0, 3.0), (2.0, 2.0)])
def test_a_budget_of_time_is_spent_by_going_and_reading(speed, seconds):
    """Steps of 2 m and a second a reading; the last ones may be shortened, and none ends after 20 s."""
    step = StepSetting(length=2.0, directions=8, speed=speed, reading_time=1.0)
    base = advisor(search=NEVER, budget=Budget(time=20.0), step=step)
    # A mission in which nothing speaks against a source, which would end it earlier.
    ended = simulate_mission(base, jax.random.key(0), RehearsalConfig())
    assert ended.status == INCONCLUSIVE
    whole = math.floor(20.0 / seconds)
    left = 20.0 - whole * seconds
    # The rest suffices for a half of a step, a quarter or an eighth, if for any.
    shares = [share for share in (0.5, 0.25, 0.125) if 2.0 * share / speed + 1.0 <= left + 1e-6]
    assert ended.readings >= 1 + whole + bool(shares)
    assert ended.time <= 20.0 + 1e-6


def test_the_advisor_keeps_to_the_ways_of_the_site_and_counts_stops():
    """Steps of 2 m with a reading each half metre: three on each way; and always enough to return."""
    step = StepSetting(length=2.0, shortest=1.5, longest=2.5, reading_time=1.0, reading_interval=0.5)
    budget = Budget(distance=13.0, readings=6, return_=True)
    one = advisor(policy="random", search=NEVER, budget=budget, step=step)
    ended = simulate_mission(one, jax.random.key(0), RehearsalConfig())
    still = [reading for reading in one.readings if not reading.moving]
    assert ended.status == INCONCLUSIVE
    assert ended.readings == len(still) >= 3
    assert len(one.readings) == len(still) + 3 * (len(still) - 1)
    gone = np.cumsum([math.dist(a.position, b.position) for a, b in pairwise(still)])
    np.testing.assert_allclose(np.diff(gone, prepend=0.0), 2.0, atol=1e-3)
    back = [math.dist(reading.position, one.plan.start) for reading in still[1:]]
    assert (gone + back <= 13.0 + 0.02).all()
    assert ended.time == pytest.approx(3.0 * (len(still) - 1), abs=1e-3)


def test_a_mission_without_end_is_broken_off(key):
    """It is neither found nor `inconclusive`."""
    config = RehearsalConfig(missions=1, without_source=0.0, max_readings=5)
    ended = simulate_mission(advisor(search=NEVER, budget=Budget()), key, config)
    assert (ended.status, ended.readings) == (SEARCHING, 5)
    assert ended.error == pytest.approx(math.dist(ended.source, ended.estimate), rel=1e-5)


def test_the_measured_wind_is_steady_and_drawn_as_an_unknown_one(key):
    """N(0, 3²) m/s either way: the p-value of Kolmogorov and Smirnov is not extreme."""
    one = advisor(search=NEVER, budget=Budget(readings=3))
    simulate_mission(one, key, RehearsalConfig())
    assert len({reading.wind for reading in one.readings}) == 1
    winds = np.ravel([advised_missions._wind(part) for part in jax.random.split(key, 100)])
    assert kstest(winds, norm(0.0, 3.0).cdf).pvalue > RARE


def test_sensors_take_turns(key):
    one = advisor(search=NEVER, budget=Budget(readings=4), sensor=SensorSetting(names=("a", "b")))
    simulate_mission(one, key, RehearsalConfig())
    assert [reading.sensor for reading in one.readings] == ["a", "b", "a", "b"]


def test_what_is_refused_is_read_again_and_in_the_end_given_up(key):
    """With a sensor whose readings are all infinite, none is assimilated and nothing is found."""
    broken = Model(Hill(), lambda theta, station: jnp.full((), jnp.inf), Gaussian(0.05, 0.05))
    ended = simulate_mission(advisor(broken), key, RehearsalConfig())
    assert (ended.status, ended.readings, ended.estimate, ended.error) == (SEARCHING, 0, None, None)
    assert not ended.covered


def test_a_source_moves_as_often_as_the_filter_reckons_with(key):
    """In a share of the readings that is the hazard, and only in the columns that may change."""
    jump, number = Jump(hazard=0.3, birth_share=0.3), 2000
    theta = jnp.array([3.0, 4.0, 1.0])
    after = jax.vmap(lambda part: move_source(MODEL, jump, part, theta))(jax.random.split(key, number))
    share = float(jnp.mean(jnp.any(after[:, :2] != theta[None, :2], axis=1)))
    assert share == pytest.approx(0.3, abs=5 * math.sqrt(0.3 * 0.7 / number))
    assert bool(jnp.all(after[:, 2] == 1.0))


def test_readings_are_those_of_another_truth(key):
    """The advisor goes by its own model; its readings are drawn from the other."""
    truth = Model(Hill(), lambda theta, station: jnp.float32(0.25), Gaussian(0.0, 1e-6))
    one = advisor(search=NEVER, budget=Budget(readings=3))
    simulate_mission(one, key, RehearsalConfig(), truth=truth)
    np.testing.assert_allclose([reading.value for reading in one.readings], 0.25, atol=1e-4)
