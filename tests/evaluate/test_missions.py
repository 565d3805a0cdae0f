"""Rehearsals: simulated missions keep to the site, are the same for the same seed, and are counted right."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_breeze import advisor as breeze_advisor
from made_missions import MODEL, Hill, hill_site
from scipy.stats import binom, kstest, norm

from dowsax.evaluate.episodes import run_episodes
from dowsax.evaluate.missions import (
    MissionEnd,
    MissionRecorder,
    RehearsalConfig,
    assumptions,
    rehearse,
    summarise_missions,
)
from dowsax.inference.widening import Widening
from dowsax.mission.advice import FOUND, INCONCLUSIVE, SEARCHING
from dowsax.mission.plan import Plan
from dowsax.mission.problem import SiteStart, build_problem
from dowsax.mission.rehearsal import SimulatedMission, fingerprint
from dowsax.mission.site_policy import SITE_POLICY, oracle_policy
from dowsax.site.schema import Budget, SearchSetting, SensorSetting, StepSetting
from dowsax.types import Station
from dowsax.world import Gaussian, Model

NEVER = SearchSetting.model_construct(preset="plain", particles=512, radius=1e-6)
"""A stop that cannot be reached."""
RARE = 1e-3


def plan_of(model=MODEL, **changes):
    return Plan.of(hill_site(**changes), model)


def ways(plan, number=2, policy="infotaxis", **changes):
    """The records of missions."""
    chosen = plan.site_policy(policy)
    return run_episodes(
        build_problem(plan, chosen, **changes),
        chosen.policy,
        jax.random.split(jax.random.key(3), number),
        (MissionEnd(),),
        record=MissionRecorder(plan.radius, plan.probability, Widening.of(plan.model.prior)),
    )


@pytest.mark.slow
def test_stops_are_wrong_as_seldom_as_they_promise():
    """Sources from the prior, readings from the model: at most 5 % are off, and 95 % regions hold 95 %."""
    advisor = breeze_advisor(radius=1.0, readings=30)
    config = RehearsalConfig(missions=20, without_source=0.2, seed=3)
    rehearsal = rehearse(advisor.plan, config, advisor.policy).rehearsal
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
    """Another seed gives others; the reported numbers of missions add up; more missions begin with these."""
    plan = plan_of(budget=Budget(readings=6))
    reported: list[int] = []
    config = RehearsalConfig(missions=6, without_source=0.5, seed=1)
    one = rehearse(plan, config, on_progress=reported.append, threads=1).rehearsal
    assert rehearse(plan, config, threads=3).rehearsal == one
    assert sum(reported) == 6
    other = rehearse(plan, RehearsalConfig(missions=6, without_source=0.5, seed=2)).rehearsal
    assert other.missions != one.missions
    assert [mission.source is None for mission in one.missions] == [False] * 3 + [True] * 3
    assert all(mission.readings <= 6 for mission in one.missions)
    first = rehearse(plan, config.with_source_only()).rehearsal
    assert first.missions == one.missions[:3]


@pytest.mark.slow
def test_every_policy_has_the_same_missions_and_the_oracle_finds_more():
    """The sources of the missions are equal, and the oracle finds more of them than random moves."""
    plan = plan_of(budget=Budget(readings=12))
    config = RehearsalConfig(missions=16, without_source=0.0, seed=4)
    told = rehearse(plan, config, oracle_policy(plan.model, plan.reach, plan.radius)).rehearsal
    walked = rehearse(plan, config, plan.site_policy("random")).rehearsal
    assert [one.source for one in told.missions] == [one.source for one in walked.missions]
    assert told.stopped.count > walked.stopped.count
    assert told.policy == "oracle"


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(("speed", "seconds"), [(2.0, 2.0), (1.0, 3.0)])
def test_a_budget_of_time_is_spent_by_going_and_reading(speed, seconds):
    """Steps of 2 m and a second a reading: no place can be reached in what is left of 20 s."""
    step = StepSetting(length=2.0, directions=8, speed=speed, reading_time=1.0)
    plan = plan_of(search=NEVER, budget=Budget(time=20.0), step=step)
    (way,) = ways(plan, 1)
    assert way.rows.over[-1]
    assert not way.rows.found.any()
    assert len(way.rows.over) == 1 + math.floor(19.0 / seconds)
    assert way.rows.elapsed[-1] == pytest.approx(1.0 + seconds * (len(way.rows.over) - 1))


def leg_lengths(plan, path):
    """The lengths [m] of the shortest ways between places, infinite where there is none."""
    return np.array(
        [plan.reach.bounds.way_lengths(*leg)[0] for leg in zip(path[:-1], path[1:, None], strict=True)]
    )


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("policy", ["infotaxis", SITE_POLICY])
def test_missions_keep_to_the_fence_and_the_budget(policy):
    """Every leg has a way by the exact geometry, and no more is gone than there is."""
    plan = plan_of(search=NEVER, budget=Budget(distance=40.0, readings=25))
    for way in ways(plan, 3, policy):
        path = np.asarray(way.rows.place, np.float64)
        walked = leg_lengths(plan, path).sum()
        assert walked == pytest.approx(way.rows.path_length[-1], rel=1e-4)
        assert walked <= 40.01
        assert len(path) <= 25


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("policy", [SITE_POLICY, "infotaxis"])
def test_missions_keep_to_the_legs_and_can_return(policy):
    """Ways of 1.5 to 6 m; after every reading there is a way home, which is within the budget."""
    step = StepSetting(length=2.0, shortest=1.5, longest=6.0, speed=2.0, reading_time=1.0)
    plan = plan_of(
        search=NEVER, budget=Budget(distance=50.0, time=45.0, readings=25, return_=True), step=step
    )
    home = np.array(plan.start)
    for way in ways(plan, 3, policy):
        path = np.asarray(way.rows.place, np.float64)
        legs = leg_lengths(plan, path)
        assert len(legs) > 3
        assert ((legs >= 1.5 - 2e-3) & (legs <= 6.0 + 2e-3)).all()
        back = plan.reach.bounds.way_lengths(home, path)
        assert (way.rows.path_length + back <= 50.0 + 2e-3).all()
        assert (way.rows.elapsed + back / 2.0 <= 45.0 + 1e-3).all()


def test_readings_on_the_way_cost_time_alone():
    """The elapsed time is that of the way and the stops; six stops are taken, not six readings."""
    step = StepSetting(length=2.0, longest=6.0, speed=2.0, reading_time=1.0, reading_interval=0.5)
    plan = plan_of(search=NEVER, budget=Budget(distance=60.0, readings=6), step=step)
    problem = build_problem(plan, plan.site_policy(SITE_POLICY))
    assert problem.horizon == 6 + 6 * 6
    (way,) = ways(plan, 1, SITE_POLICY)
    np.testing.assert_allclose(way.rows.elapsed, way.rows.path_length / 2.0 + np.arange(1, 7), rtol=1e-4)
    assert way.rows.path_length[-1] > 6.0
    assert "a reading every 0.5 s" in assumptions(plan)[0]


def test_readings_are_those_of_another_truth():
    """The filter goes by its own model; its readings are drawn from the other."""
    truth = Model(Hill(), lambda theta, station: jnp.float32(0.25), Gaussian(0.0, 1e-6))
    plan = plan_of(search=NEVER, budget=Budget(readings=3))
    (way,) = ways(plan, 1, truth=truth)
    np.testing.assert_allclose(way.rows.reading, 0.25, atol=1e-4)


def test_a_measured_wind_is_drawn_as_an_unknown_one(key):
    """N(0, 3²) m/s either way: the p-value of Kolmogorov and Smirnov is not extreme."""
    start = SiteStart(Station(jnp.zeros(2), wind=jnp.zeros(2)))
    winds = np.ravel(jax.vmap(lambda part: start(part).wind)(jax.random.split(key, 100)))
    assert kstest(winds, norm(0.0, 3.0).cdf).pvalue > RARE


def test_missions_are_counted_right():
    """Nine that ended in every way there is."""

    def ended(status, error, *, region=2.0, source=(1.0, 1.0)):
        return SimulatedMission(status, source, (1.0, 1.0), error, region, 5, 10.0, 20.0)

    plan = plan_of()
    rehearsal = summarise_missions(
        plan,
        plan.site_policy(),
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
    assert rehearsal.site == fingerprint(plan.text)
    numbers = rehearsal.numbers()
    assert (numbers["policy"], numbers["missions"], numbers["missions_without_source"]) == (SITE_POLICY, 7, 2)
    assert [numbers[name] for name in ("found", "wrong_given_found", "covered95", "inconclusive")] == (
        pytest.approx([4 / 7, 2 / 4, 5 / 7, 2 / 7])
    )
    assert numbers["wrong_given_found_interval"] == pytest.approx([0.5 - half, 0.5 + half])
    assert [numbers[f"{name}_median"] for name in ("readings", "distance", "time")] == [5, 10.0, 20.0]


def test_what_the_readings_have_in_common_is_said():
    """A rehearsal cannot know how real readings err together."""
    (sentence,) = assumptions(plan_of(sensor=SensorSetting(redundancy=4.0)))
    assert "4 of the site's count as one" in sentence


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"missions": 0}, "`missions` must be at least 1"),
        ({"without_source": 1.5}, "from 0 to 1"),
        ({"without_source": math.nan}, "from 0 to 1"),
        ({"max_readings": 0}, "`max_readings` must be at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        RehearsalConfig(**settings)
