"""A live mission whose wind is given the wrong way round: said when the readings say so, and only then."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_plume_sites import SITE as PLUME
from scipy.stats import binom

from dowsax.mission.advice import FOUND, SEARCHING
from dowsax.mission.advisor import Advisor
from dowsax.mission.decision import BudgetUse, StatusInputs, explain_status, status_of
from dowsax.mission.state import ReversedWind
from dowsax.site import parse_site
from dowsax.survey.reversed_wind import MIN_LOG_ODDS
from dowsax.types import Station

SITE = PLUME.replace("[prior]", 'search = {preset = "default", particles = 256, radius = 5}\n[prior]')
SOURCE = (40.0, 40.0, 1.0, 0.0)
BLOWS = (3.0, 0.0)
"""[m/s], a wind from the west."""
PLACES = [(x, y) for x in (100.0, 80.0, 60.0, 30.0, 10.0) for y in (20.0, 40.0, 60.0)]
"""Crossings of the plume from far downwind to upwind."""


@pytest.fixture(scope="module")
def ready():
    """An advisor whose filter is compiled; others of the same site are made by it."""
    return Advisor(parse_site(SITE), "infotaxis", seed=1, warm_up=False)


def values(ready, key, theta=SOURCE):
    """Readings of the source at the places, in the wind that blows."""
    number = len(PLACES)
    stations = Station(
        jnp.asarray(PLACES, jnp.float32),
        wind=jnp.tile(jnp.asarray(BLOWS, jnp.float32), (number, 1)),
        altitude=jnp.full(number, 1.5, jnp.float32),
    )
    return np.asarray(ready.plan.model.simulate(key, jnp.asarray(theta, jnp.float32), stations), np.float64)


def observe_all(advisor, readings, wind):
    """All that is advised on these readings, the wind given so."""
    return [
        advisor.observe(place, value, wind=wind, altitude=1.5)
        for place, value in zip(PLACES, readings, strict=True)
    ]


@pytest.mark.slow
def test_a_flipped_stream_is_noticed_and_nothing_is_found_in_it(ready, key):
    """Once as a warning and in every sentence from then on; the same stream the right way round is not."""
    readings = values(ready, key)
    flipped = observe_all(ready.new_mission(1), readings, (-BLOWS[0], -BLOWS[1]))
    warned = [advice.number for advice in flipped if any("looks reversed" in one for one in advice.warnings)]
    assert len(warned) == 1
    said = [advice.number for advice in flipped if "The wind looks reversed" in advice.why]
    assert said[0] == warned[0]
    assert said[-1] == len(PLACES)
    assert "wind_from is where the wind comes FROM" in flipped[-1].why
    assert all(advice.status != FOUND for advice in flipped if advice.number in said)
    right = observe_all(ready.new_mission(1), readings, BLOWS)
    assert not any("reversed" in advice.why or advice.warnings for advice in right)


@pytest.mark.slow
def test_right_streams_are_hardly_ever_accused(ready, key):
    """By Ville's inequality in e⁻⁵ of missions at most; the count of 24 has odds of 1000 to 1 to be so."""
    number, accused = 24, 0
    for one in jax.random.split(key, number):
        source_key, noise_key = jax.random.split(one)
        theta = ready.plan.model.prior.sample(source_key)
        advisor = ready.new_mission(1)
        last = observe_all(advisor, values(ready, noise_key, theta), BLOWS)
        accused += any("reversed" in advice.why for advice in last)
    assert accused <= binom.ppf(0.999, number, math.exp(-MIN_LOG_ODDS))


@pytest.mark.slow
def test_the_opposite_wind_is_that_of_a_mission_of_its_own(ready, key):
    """Followed on the side, its evidence is that of an advisor that was given the opposite wind."""
    readings = values(ready, key)[:6]
    one, other = ready.new_mission(1), ready.new_mission(1)
    for place, value in zip(PLACES, readings, strict=False):
        one.observe(place, value, wind=BLOWS, altitude=1.5)
        other.observe(place, value, wind=(-BLOWS[0], -BLOWS[1]), altitude=1.5)
        expected = float(other.belief.log_evidence) - float(one.belief.log_evidence)
        assert one.state.reversed_wind.log_odds == expected
        assert other.state.reversed_wind.log_odds == pytest.approx(-expected, abs=1e-4)


@pytest.mark.slow
def test_what_is_settled_is_followed_no_more(ready, key):
    """Whichever way: from odds of e¹⁰ on, or where the opposite wind explains nothing."""
    belief = ready.new_mission(1).belief
    start = ReversedWind(belief)
    evidence = float(belief.log_evidence)
    for log_odds, followed, flipped in ((9.9, True, True), (10.1, False, True), (-10.1, False, False)):
        made = start.compare(belief, evidence - log_odds)
        assert made.log_odds == pytest.approx(log_odds, abs=1e-5)
        assert (made.belief is not None, made.check.is_reversed) == (followed, flipped)
    assert start.compare(None, evidence) == ReversedWind(None, -math.inf)
    assert not start.compare(None, evidence).check.is_reversed
    advisor = ready.new_mission(1)
    observe_all(advisor, values(ready, key), BLOWS)
    assert advisor.state.reversed_wind.belief is None
    assert advisor.state.reversed_wind.log_odds <= -2 * MIN_LOG_ODDS


def test_nothing_is_found_while_the_wind_looks_reversed(ready):
    plan, spent = ready.plan, BudgetUse(5, 10.0, None)
    sure = StatusInputs(((3.0, 4.0),), 1.0, 0.99, 0.5, 10.0)
    assert status_of(plan, spent, sure) == FOUND
    doubtful = sure._replace(is_wind_reversed=True)
    assert status_of(plan, spent, doubtful) == SEARCHING
    assert explain_status(plan, spent, doubtful, SEARCHING, None).startswith(
        "Nothing is found until that is settled"
    )


def test_a_mission_goes_on_from_its_log_with_what_it_knew_of_the_wind(ready, key, tmp_path):
    readings = values(ready, key)
    whole = ready.new_mission(1)
    expected = observe_all(whole, readings, (-BLOWS[0], -BLOWS[1]))
    plan = replace(ready.plan, text=SITE)
    log = tmp_path / "mission.log"
    begun = Advisor(plan, ready.policy, 1, log, warm_up=False)
    half = len(PLACES) // 2
    wind = (-BLOWS[0], -BLOWS[1])
    for place, value in zip(PLACES[:half], readings, strict=False):
        begun.observe(place, value, wind=wind, altitude=1.5)
    begun.close()
    resumed = Advisor(plan, ready.policy, 1, log, warm_up=False)
    again = [
        resumed.observe(place, value, wind=wind, altitude=1.5)
        for place, value in zip(PLACES[half:], readings[half:], strict=True)
    ]
    assert again == expected[half:]
    resumed.close()
