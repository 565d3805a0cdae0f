"""Rehearsals: simulated missions keep to the site, are the same for the same seed, and are counted right."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_breeze import advisor as breeze_advisor
from made_missions import MODEL, Hill, hill_site
from scipy.stats import binom, kstest, norm

from dowsax.evaluate import missions
from dowsax.evaluate.missions import (
    RehearsalConfig,
    assumptions,
    move_source,
    rehearse,
    simulate_mission,
    summarise_missions,
)
from dowsax.mission.advice import FOUND, INCONCLUSIVE, SEARCHING
from dowsax.mission.advisor import Advisor
from dowsax.mission.rehearsal import SimulatedMission, fingerprint
from dowsax.site.schema import Budget, SearchSetting, SensorSetting
from dowsax.world import Gaussian, Jump, Model

NEVER = SearchSetting.model_construct(preset="plain", particles=512, radius=1e-6)
"""A stop that cannot be reached."""
RARE = 1e-3


def advisor(model=MODEL, **changes):
    return Advisor(hill_site(**changes), "infotaxis", model=model, warm_up=False)


@pytest.mark.slow
def test_stops_are_wrong_as_seldom_as_they_promise():
    """Sources from the prior, readings from the model: at most 5 % are off, and 95 % regions hold 95 %."""
    rehearsal = rehearse(
        breeze_advisor(radius=1.0, readings=30), RehearsalConfig(missions=20, without_source=0.2, seed=3)
    )
    stops, covered = rehearsal.false_stops, rehearsal.covered
    assert stops.of == rehearsal.stopped.count >= 8
    assert stops.count <= binom.isf(RARE, stops.of, 0.05)
    assert covered.of == 16
    assert covered.count >= binom.ppf(RARE, 16, 0.95)
    assert rehearsal.found_nothing.of == 4
    assert rehearsal.policy == "infotaxis"
    assert any("moves with a probability of 0.01" in sentence for sentence in rehearsal.assumed)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_missions_whatever_the_threads():
    """Another seed gives others; the reported numbers of missions add up."""
    base = advisor(budget=Budget(readings=6))
    reported: list[int] = []
    config = RehearsalConfig(missions=6, without_source=0.5, seed=1)
    one = rehearse(base, config, on_progress=reported.append, threads=1)
    assert rehearse(base, config, threads=3) == one
    assert sum(reported) == 6
    other = rehearse(base, RehearsalConfig(missions=6, without_source=0.5, seed=2))
    assert other.missions != one.missions
    assert [mission.source is None for mission in one.missions] == [False] * 3 + [True] * 3
    assert all(mission.readings <= 6 for mission in one.missions)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(("speed", "seconds"), [(1.0, 3.0), (2.0, 2.0)])
def test_a_budget_of_time_is_spent_by_going_and_reading(speed, seconds):
    """Steps of 2 m and a second a reading: the first reading at or after 20 s is the last one."""
    base = advisor(search=NEVER, budget=Budget(time=20.0))
    # A mission in which nothing speaks against a source, which would end it earlier.
    ended = simulate_mission(base, jax.random.key(0), RehearsalConfig(speed=speed))
    assert ended.status == INCONCLUSIVE
    assert ended.readings == 1 + math.ceil(20.0 / seconds)
    assert ended.distance == pytest.approx(2.0 * (ended.readings - 1))
    assert f"goes {speed:g} m/s" in assumptions(base.plan, RehearsalConfig(speed=speed))[0]


def test_a_mission_without_end_is_broken_off(key):
    """It is neither found nor `inconclusive`."""
    config = RehearsalConfig(missions=1, without_source=0.0, max_readings=5)
    base = advisor(search=NEVER, budget=Budget())
    ended = simulate_mission(base, key, config)
    assert (ended.status, ended.readings) == (SEARCHING, 5)
    assert math.dist(ended.source, ended.estimate) == ended.error
    rehearsal = summarise_missions(base, config, [ended])
    assert (rehearsal.stopped.count, rehearsal.cannot_tell.count, rehearsal.stopped.of) == (0, 0, 1)


def test_the_measured_wind_is_steady_and_drawn_as_an_unknown_one(key):
    """N(0, 3²) m/s either way: the p-value of Kolmogorov and Smirnov is not extreme."""
    one = advisor(search=NEVER, budget=Budget(readings=3))
    simulate_mission(one, key, RehearsalConfig())
    assert len({reading.wind for reading in one.readings}) == 1
    winds = np.ravel([missions._wind(part) for part in jax.random.split(key, 100)])
    assert kstest(winds, norm(0.0, 3.0).cdf).pvalue > RARE


def test_sensors_take_turns(key):
    one = advisor(search=NEVER, budget=Budget(readings=4), sensor=SensorSetting(names=("a", "b")))
    simulate_mission(one, key, RehearsalConfig())
    assert [reading.sensor for reading in one.readings] == ["a", "b", "a", "b"]


def test_what_is_refused_is_read_again_and_in_the_end_given_up(key):
    """A sensor that never reads a number: no reading is ever taken in, and nothing is found."""
    broken = Model(Hill(), lambda theta, station: jnp.full((), jnp.inf), Gaussian(0.05, 0.05))
    ended = simulate_mission(advisor(broken), key, RehearsalConfig())
    assert (ended.status, ended.readings, ended.estimate, ended.error) == (SEARCHING, 0, None, None)
    assert ended.refused == 10
    assert not ended.covered


def test_a_source_moves_as_often_as_the_filter_reckons_with(key):
    """In a share of the readings that is the hazard, and only in the columns that may change."""
    jump, number = Jump(hazard=0.3, birth_share=0.3), 2000
    theta = jnp.array([3.0, 4.0, 1.0])
    after = jax.vmap(lambda part: move_source(MODEL, jump, part, theta))(jax.random.split(key, number))
    share = float(jnp.mean(jnp.any(after[:, :2] != theta[None, :2], axis=1)))
    assert share == pytest.approx(0.3, abs=5 * math.sqrt(0.3 * 0.7 / number))
    assert bool(jnp.all(after[:, 2] == 1.0))


def test_missions_are_counted_right():
    """Nine that ended in every way there is."""

    def ended(status, error, *, region=2.0, source=(1.0, 1.0)):
        return SimulatedMission(status, source, (1.0, 1.0), error, region, 5, 10.0, 0)

    base = advisor()
    rehearsal = summarise_missions(
        base,
        RehearsalConfig(missions=9),
        [
            *[ended(FOUND, error) for error in (0.0, 1.5, 1.6, 3.0)],
            *[ended(INCONCLUSIVE, error) for error in (0.5, 2.5)],
            ended(SEARCHING, 0.1),
            ended(FOUND, None, source=None),
            ended(INCONCLUSIVE, None, source=None),
        ],
    )
    counted = {
        name: (getattr(rehearsal, name).count, getattr(rehearsal, name).of)
        for name in ("stopped", "false_stops", "covered", "cannot_tell", "found_nothing")
    }
    assert counted == {
        "stopped": (4, 7),
        "false_stops": (2, 4),
        "covered": (5, 7),
        "cannot_tell": (2, 7),
        "found_nothing": (1, 2),
    }
    # Wilson's interval of 2 of 4, by hand: (1/2 ± z √(1/16 + z²/64)) / ..., symmetric about a half.
    score = norm.ppf(0.975)
    half = score * math.sqrt(0.25 / 4 + score**2 / 64) / (1 + score**2 / 4)
    assert (rehearsal.false_stops.low, rehearsal.false_stops.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert rehearsal.site == fingerprint(base.plan.text)


def test_what_the_readings_have_in_common_is_said():
    """A rehearsal cannot know how real readings err together."""
    plan = advisor(sensor=SensorSetting(redundancy=4.0)).plan
    (sentence,) = assumptions(plan, RehearsalConfig())
    assert "4 of the site's count as one" in sentence


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"missions": 0}, "`missions` must be at least 1"),
        ({"without_source": 1.5}, "from 0 to 1"),
        ({"without_source": math.nan}, "from 0 to 1"),
        ({"speed": 0.0}, "must be > 0 m/s"),
        ({"speed": math.inf}, "must be > 0 m/s"),
        ({"max_readings": 0}, "`max_readings` must be at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        RehearsalConfig(**settings)


def test_readings_are_those_of_another_truth(key):
    """The advisor goes by its own model; its readings are drawn from the other."""
    truth = Model(Hill(), lambda theta, station: jnp.float32(0.25), Gaussian(0.0, 1e-6))
    one = advisor(search=NEVER, budget=Budget(readings=3))
    simulate_mission(one, key, RehearsalConfig(), truth=truth)
    np.testing.assert_allclose([reading.value for reading in one.readings], 0.25, atol=1e-4)
