"""The advisor: what it advises may be done, the same readings give the same advice, nonsense stays out."""

import math
import re
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_disks import largest_file
from made_missions import FENCE, MODEL, POND, TRUTH, hill_site, read

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Bounds
from dowsax.journal import NotRecorded
from dowsax.mission.advice import (
    FOUND,
    INCONCLUSIVE,
    SEARCHING,
    Advice,
)
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import MissionLog
from dowsax.site.schema import Budget, SearchSetting, StepSetting
from dowsax.survey.reading import Refused
from dowsax.types import Station

BOUNDS = Bounds((FENCE,), (POND,))


def advisor(**changes):
    log = changes.pop("log", None)
    policy = changes.pop("policy", "infotaxis")
    return Advisor(hill_site(**changes), policy, seed=4, log=log, model=MODEL)


def walk(one, number, *, truth=TRUTH, start=(2.0, 2.0), first=0):
    """Follow the advice for this many readings, and return all of it."""
    given, position = [], start
    for count in range(first, first + number):
        given.append(one.observe(position, read(count, position, truth), time=10.0 * count, id=count))
        if given[-1].next_position is None:
            break
        position = given[-1].next_position
    return given


def test_finds_the_hill_by_ways_that_are_allowed():
    """Inside the fence, round the pond, step by step, until it is found where it is."""
    one = advisor()
    given = walk(one, 40)
    last = given[-1]
    assert last.status == FOUND
    assert last.next_position is None
    assert "not measured" in last.why
    assert last.evidence > math.log(20)
    here = (2.0, 2.0)
    for advice in given[:-1]:
        assert advice.status == SEARCHING
        there = advice.next_position
        assert BOUNDS.allow_way(here, [there]).all()
        assert advice.distance == pytest.approx(2.0)
        angle = math.radians(advice.bearing)
        offset = np.subtract(there, here)
        assert offset == pytest.approx([2.0 * math.sin(angle), 2.0 * math.cos(angle)], abs=1e-6)
        here = there
    assert math.dist(last.estimate.position, TRUTH[:2]) < 1.5
    assert last.region.centre == last.estimate.position
    assert last.estimate.names == ("x", "y", "log_q")
    assert Advice.from_json(last.to_json()) == last


def test_the_same_readings_give_the_same_advice(tmp_path):
    """Also when the mission is broken off in between and goes on from its log, to the last bit."""
    whole = advisor()
    expected = walk(whole, 6)
    log = tmp_path / "mission.log"
    begun = advisor(log=log)
    assert walk(begun, 3) == expected[:3]
    begun.close()
    resumed = advisor(log=log)
    assert resumed.latest == expected[2]
    assert walk(resumed, 3, start=expected[2].next_position, first=3) == expected[3:]
    for one, other in zip(jax.tree.leaves(whole.belief), jax.tree.leaves(resumed.belief), strict=True):
        np.testing.assert_array_equal(one, other)
    resumed.close()


def test_a_reading_that_comes_again_gets_the_same_answer(tmp_path):
    """By its id, or by its time where it has none; an id that was used for something else is refused."""
    one = advisor(log=tmp_path / "mission.log")
    first = one.observe((2.0, 2.0), 0.1, id="a", time=0.0)
    second = one.observe((4.0, 2.0), 0.2, time=1.0)
    assert one.observe((2.0, 2.0), 0.1, id="a", time=0.0) == first
    assert one.observe((4.0, 2.0), 0.2, time=1.0) == second
    assert one.observe((4.0, 2.0), 0.3, time=1.0) != second
    with pytest.raises(Refused, match="'a' was given to another"):
        one.observe((2.0, 2.0), 0.5, id="a", time=0.0)
    assert len(one.readings) == 3
    one.close()


def test_a_late_reading_counts_but_does_not_move_anyone():
    """A source that stays does not care about the order; the next way starts at the newest place."""
    one, other = advisor(), advisor()
    one.observe((2.0, 2.0), 0.1, time=0.0)
    one.observe((6.0, 2.0), 0.2, time=20.0)
    late = one.observe((4.0, 2.0), 0.15, time=10.0)
    assert late.number == 3
    assert math.dist((6.0, 2.0), late.next_position) == pytest.approx(2.0)
    for position, value in (((2.0, 2.0), 0.1), ((4.0, 2.0), 0.15), ((6.0, 2.0), 0.2)):
        other.observe(position, value)
    # The same readings in another order: within five standard errors, each about one over √n.
    error = 5 * math.sqrt(2 / len(one.belief.log_weights))
    assert float(one.belief.log_evidence) == pytest.approx(float(other.belief.log_evidence), abs=error)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"position": (25.0, 2.0)}, r"5 m outside the area from \(0, 0\) m to \(20, 20\) m"),
        ({"position": (math.nan, 2.0)}, "`position` is nan"),
        ({"position": 3.0}, "pair of numbers"),
        ({"reading": math.inf}, "`value` is inf"),
        ({"reading": "wet"}, "`value` is not a number"),
        ({"reading": True}, "`value` is not a number"),
        ({"reading": 3e25}, "3e\\+26 times the largest reading so far: check it, and send it again"),
        ({"reading": 3e25, "confirm": True}, "No source that the site allows explains"),
        ({"time": "soon"}, "neither seconds nor a date"),
        ({"dwell": -1.0}, "above 0 s"),
        ({"wind": (1.0,)}, "`wind` is a pair"),
    ],
)
def test_nonsense_is_refused_with_a_reason_and_kept_as_refused(tmp_path, given, reason):
    log = MissionLog.resume(tmp_path / "mission.log", advisor().header)
    one = advisor(log=log)
    one.observe((2.0, 2.0), 0.1)
    before = one.belief
    with pytest.raises(Refused, match=reason):
        one.observe(**({"position": (4.0, 2.0), "reading": 0.1} | given))
    assert one.belief is before
    taken, refusal = log.records()
    assert taken.number == 1
    assert refusal.after == 1
    assert one.observe((4.0, 2.0), 0.1).number == 2
    log.close()


def test_what_could_not_be_recorded_has_not_happened(tmp_path):
    """A full disk: said, not acknowledged; the same reading is taken in when there is room."""
    log = MissionLog.resume(tmp_path / "mission.log", advisor().header)
    one, reference = advisor(log=log), advisor()
    one.observe((2.0, 2.0), 0.1, id=0)
    full = largest_file(log.path.stat().st_size + 8000)
    with full, pytest.raises(NotRecorded, match="the disk is full"):  # noqa: PT012
        for number in range(1, 100):
            one.observe((4.0, 2.0), 0.2, id=number)
    taken = len(one.readings)
    assert 1 < len(list(log.steps())) == taken < 100
    advice = one.observe((4.0, 2.0), 0.2, id=taken)
    reference.observe((2.0, 2.0), 0.1, id=0)
    for number in range(1, taken + 1):
        expected = reference.observe((4.0, 2.0), 0.2, id=number)
    assert advice == expected
    log.close()


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(readings=3), "3 readings of the budget"),
        (Budget(distance=4.0), "4 m of the budget"),
        (Budget(time=20.0), "20 s of the budget"),
    ],
)
def test_a_spent_budget_ends_the_search(budget, words):
    """After the third reading, and not before; nothing that is advised goes beyond it."""
    given = walk(advisor(budget=budget), 10)
    assert [advice.status for advice in given] == [SEARCHING, SEARCHING, INCONCLUSIVE]
    assert words in given[-1].why


def test_the_last_step_is_as_long_as_what_is_left():
    given = walk(advisor(budget=Budget(distance=3.0)), 10)
    assert [advice.distance for advice in given] == [pytest.approx(2.0), pytest.approx(1.0), None]


def test_goes_only_to_the_places_there_are():
    """A list of reachable places, of which one lies behind the pond, and one, which is none, in it."""
    points = np.array([[2.0, 2.0], [18.0, 2.0], [2.0, 18.0], [9.0, 9.0], [12.0, 12.0]])
    one = advisor(step=StepSetting(points=points.tolist()))
    given = walk(one, 4)
    places = {tuple(point) for point in points[:3]} | {tuple(points[4])}
    assert all(advice.next_position in places for advice in given if advice.next_position)


def test_from_a_forbidden_place_the_way_leads_back():
    one = advisor()
    advice = one.observe((8.0, 9.0), 0.3)
    assert "may not be" in advice.why
    assert advice.distance == pytest.approx(1.0, abs=0.02)
    assert BOUNDS.allow([advice.next_position]).all()


@pytest.mark.parametrize("policy", ["entrotaxis", "greedy"])
def test_any_policy_may_choose(policy):
    """Planners judge places; those that make moves are followed where the move is allowed."""
    one = advisor(policy=policy)
    advice = one.observe((2.0, 2.0), 0.1)
    assert one.policy.name == policy
    assert advice.distance == pytest.approx(2.0)
    if policy == "greedy":
        assert advice.next_position == pytest.approx((2 + math.sqrt(2), 2 + math.sqrt(2)), abs=1e-5)


def test_evidence_without_a_source_is_the_product_of_what_the_sensor_says_of_nothing():
    one = advisor()
    places, values = [(2.0, 2.0), (4.0, 2.0), (4.0, 4.0)], [0.02, -0.03, 0.04]
    for place, value in zip(places, values, strict=True):
        one.observe(place, value)
    station = Station(jnp.zeros(2))
    exact = sum(float(MODEL.sensor.log_prob(jnp.float32(value), jnp.zeros(()), station)) for value in values)
    assert float(one.state.null.log_evidence) == pytest.approx(exact, abs=1e-4)
    assert one.latest.evidence == pytest.approx(float(one.belief.log_evidence) - exact, abs=1e-4)


def test_a_change_of_the_source_is_detected_and_reported():
    """The hill is elsewhere from the ninth reading on: reported soon after; the search restarts."""
    search = SearchSetting.model_construct(preset="plain", particles=2048, radius=0.3, may_jump=True)
    one = advisor(search=search, budget=Budget())
    places = [(2.0 + 2 * (count % 8), 2.0 + 2 * (count // 8)) for count in range(20)]
    reported = []
    for count, place in enumerate(places):
        truth = TRUTH if count < 8 else (4.0, 5.0, 1.0)
        advice = one.observe(place, read(count, place, truth), time=float(count))
        if "have changed" in advice.why:
            reported.append(count)
    assert reported
    assert 8 <= reported[0] <= 12
    assert math.dist(advice.estimate.position, TRUTH[:2]) > 5
    with pytest.raises(Refused, match="order matters, as the source may change"):
        one.observe((3.0, 3.0), 0.1, time=3.0)


def test_a_site_in_degrees_gets_advice_in_degrees():
    """Where to go next, and what is wrong with a reading; distances are in metres."""
    one = advisor(coordinates=LocalCoordinates((52.1, 5.1)), budget=Budget())
    why = one.observe((2.0, 2.0), read(0, (2.0, 2.0))).why
    assert re.search(r"Next: \d[\d.]* m to the \w+, to \([\d.]+, [\d.]+\) m, 52\.1\d+° N, 5\.1\d+° E", why)
    assert "nats" not in why
    with pytest.raises(
        Refused, match=r"52\.100000° N, 5\.100438° E is 10 m outside the area from \(0, 0\) m, 52\.1"
    ):
        one.observe((30.0, 0.0), 1.0)


def test_what_is_no_reading_of_the_air_is_refused():
    """Far below the background of the site: a dropout, or another unit. Just above that it is taken in."""
    one = advisor()
    one.plan = replace(one.plan, min_reading=0.5, unit="ppm")
    with pytest.raises(Refused, match=r"`value` is 0.49 ppm, far below the background of the site"):
        one.observe((2.0, 2.0), 0.49)
    assert one.observe((2.0, 2.0), 0.51).number == 1


def test_a_stuck_sensor_is_asked_about():
    one = advisor(budget=Budget())
    for number in range(10):
        advice = one.observe((2.0 + 0.1 * number, 2.0), 0.11)
    assert "0.11 10 times in a row" in advice.why
