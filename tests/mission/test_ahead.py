"""Several places ahead: each is the best given the readings before it, on ways within all limits."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_missions import FENCE, MODEL, POND, SIDE, hill_site, read

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Bounds
from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.ahead import MAX_AHEAD
from dowsax.mission.site_policy import _candidates, _choose
from dowsax.policies.location_cells import divide
from dowsax.policies.planned import planned_readings
from dowsax.report.export import geojson, kml, qgc_plan
from dowsax.report.mission_findings import findings_of
from dowsax.site.obstacles import Obstacle
from dowsax.site.schema import Budget, SearchSetting
from dowsax.world import Budget as Left

START = (2.0, 2.0)
RADIUS = 0.2
SMALL = SearchSetting.model_construct(preset="plain", particles=512, radius=RADIUS)
"""A stop that is not reached soon."""
LENGTH, READINGS = 30.0, 8
WALL = np.array([[3.0, 13.0], [14.0, 13.0], [14.0, 13.5], [3.0, 13.5]])
BOUNDS = Bounds((FENCE,), (POND,), (WALL,), ((0.0, 0.0), (SIDE, SIDE)))
PLACED = {
    "coordinates": LocalCoordinates((52.0, 5.0)),
    "search": SMALL,
    "budget": Budget(readings=READINGS, distance=LENGTH),
    "obstacles": (Obstacle(WALL, "wall"),),
}


def advisor(ahead, **changes):
    log = changes.pop("log", None)
    return Advisor(
        hill_site(**(PLACED | changes)), "location-gain", 4, log, model=MODEL, ahead=ahead, warm_up=False
    )


def walk(one, number):
    """Follow the first of the places, and return all advice."""
    place, given = START, []
    for count in range(number):
        given.append(one.observe(place, read(count, place), time=10.0 * count, id=count))
        place = given[-1].next_position
        if place is None:
            break
    return given


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("ahead") / "mission.log"


@pytest.fixture(scope="module")
def mission(log):
    one = advisor(4, log=log)
    return one, walk(one, READINGS)


def test_one_place_ahead_changes_nothing(mission):
    """To the last bit, over a whole mission; and several change nothing but the list."""
    plain = walk(advisor(1), READINGS)
    assert all("ahead" not in advice.to_json() for advice in plain)
    assert [replace(advice, ahead=()) for advice in mission[1]] == plain
    assert len(plain) > 3


def test_the_first_is_the_next_place_and_no_place_comes_twice(mission):
    one, given = mission
    assert any(len(advice.ahead) == 4 for advice in given)
    for advice in given:
        places = [leg.position for leg in advice.ahead]
        assert places[:1] == ([] if advice.next_position is None else [advice.next_position])
        if places:
            first = advice.ahead[0]
            assert (first.distance, first.way) == (advice.distance, advice.next_way)
        apart = [math.dist(a, b) for n, a in enumerate(places) for b in places[:n]]
        assert all(distance > one.plan.radius / 2 for distance in apart)


def test_each_leg_is_allowed_and_the_whole_way_is_within_the_budget(mission):
    """In the fence, around pond and wall, by the shortest way; up to the last metre and the last reading."""
    _, given = mission
    here, gone = START, 0.0
    for number, advice in enumerate(given, start=1):
        start, length = here, 0.0
        for leg in advice.ahead:
            way = [start, *leg.way, leg.position]
            assert all(BOUNDS.allow_way(a, np.array([b]))[0] for a, b in pairwise(way))
            shortest = BOUNDS.way_lengths(start, np.array([leg.position]))[0]
            assert leg.distance == pytest.approx(shortest, abs=1e-3)
            start, length = leg.position, length + leg.distance
        assert gone + length <= LENGTH + 0.012
        assert number + len(advice.ahead) <= READINGS
        gone += advice.distance or 0.0
        here = advice.next_position
    assert max(len(advice.ahead) for advice in given) == 4
    assert {len(advice.ahead) for advice in given[-4:]} != {4}


def test_each_place_is_what_the_planner_would_choose_after_those_before_it(mission):
    """By the planner itself, from the last of them, within what is left, with their readings planned."""
    one, _ = mission
    two = one.new_mission(4)
    advice = walk(two, 3)[-1]
    here, legs = two.readings[-1].position, advice.ahead
    way = two.state.measures(two.plan)["path_length"]
    station = two.plan.stations.station(two.readings[-1], two.readings[:-1])
    key = jax.random.fold_in(jax.random.split(jax.random.key(4), 4)[2], 3)
    for number in range(1, 4):
        way += legs[number - 1].distance
        left = Left(*map(jnp.float32, (READINGS - 3.0 - number, LENGTH + 0.01 - way, jnp.inf)))
        planned = planned_readings([leg.position for leg in legs[:number]], MAX_AHEAD - 1)
        start = legs[number - 1].position
        choice = one.policy.choose(jax.random.fold_in(key, number), two.belief, station, start, left, planned)
        assert choice.position == legs[number].position
        assert math.dist(here, start) > 0


def conditional_gains(cells, first, places, draws=400):
    """What a reading at each place tells of the cell beyond one at the first place [nats], by brute force."""
    rng = np.random.default_rng(1)
    particles, shares = np.asarray(cells.particles, np.float64), np.asarray(cells.shares, np.float64)
    weights = np.exp(np.asarray(cells.log_weights, np.float64))
    sources = rng.choice(len(weights), draws, p=weights / weights.sum())

    def log_likelihoods(place):
        heights = np.exp(particles[:, 2] - ((np.asarray(place) - particles[:, :2]) ** 2).sum(axis=1) / 50)
        noise = 0.05 * heights + 0.05
        readings = heights[sources] + noise[sources] * rng.standard_normal(draws)
        return -0.5 * ((readings[:, None] - heights) / noise) ** 2 - np.log(noise)

    def cell_weights(logs):
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        return posterior / posterior.sum(axis=1, keepdims=True) @ shares + 1e-300

    before = np.log(weights) + log_likelihoods(first)
    known = cell_weights(before)
    after = [cell_weights(before + log_likelihoods(place)) for place in places]
    return np.array([(each * np.log(each / known)).sum(axis=1).mean() for each in after])


def test_the_second_place_is_nearly_the_best_beyond_a_reading_at_the_first(mission):
    """By what both readings tell together, computed by brute force; a place at random is half as good."""
    one, _ = mission
    two, place, shares = one.new_mission(4), START, []
    for count in range(2):
        advice = two.observe(place, read(count, place), time=10.0 * count, id=count)
        place = advice.next_position
        first, second = (np.array(leg.position) for leg in advice.ahead[:2])
        station = two.plan.stations.station(two.readings[-1], two.readings[:-1])
        station = eqx.tree_at(lambda at: at.position, station, jnp.asarray(first, jnp.float32))
        way = two.state.measures(two.plan)["path_length"] + advice.distance
        left = Left(*map(jnp.float32, (READINGS - 2.0 - count, LENGTH - way, jnp.inf)))
        found = _candidates(one.policy.actions, two.belief, station, left)
        places = np.asarray(found.places)
        allowed = np.asarray(found.mask) & (np.linalg.norm(places - first, axis=1) > 1.01 * RADIUS / 2)
        cells = divide(jax.random.key(0), two.belief, one.policy.policy.scale, 1024)
        gains = conditional_gains(cells, first, places[allowed])
        rates = gains / np.asarray(left.shares(found))[allowed]
        chosen = rates[np.linalg.norm(places[allowed] - second, axis=1).argmin()]
        shares.append((chosen / rates.max(), rates.mean() / rates.max()))
    chosen, random = np.mean(shares, axis=0)
    assert chosen > 0.75, shares
    assert random < 0.65, shares


def test_one_compiled_program_serves_any_number(mission, caplog):
    """The readings that are pending, and how many there are, are data."""
    one, _ = mission

    def new_program(number):
        return number + 1

    with jax.log_compiles():
        for ahead in (2, 3, 7, 10):
            other = Advisor(one.plan, one.policy, 5, warm_up=False, ahead=ahead)
            other.observe(START, read(0, START))
            assert len(other.latest.ahead) == min(ahead, READINGS - 1)
        jax.jit(new_program)(1.0)
    compiled = [line for line in caplog.messages if line.startswith("Compiling")]
    assert any("new_program" in line for line in compiled)
    assert not any(_choose.__name__ in line for line in compiled)


def test_a_mission_goes_on_from_its_log_with_another_number(mission, log):
    one, given = mission
    one.close()
    done = []
    changes = {"warm_up": False, "ahead": 2, "on_progress": lambda *numbers: done.append(numbers)}
    again = Advisor(one.plan, one.policy, 4, log, **changes)
    assert again.latest == given[-1]
    assert done == [(number, len(given)) for number in range(1, len(given) + 1)]
    again.close()


def test_the_message_has_all_places_in_degrees_as_well(mission):
    one, given = mission
    advice = next(each for each in given if any(leg.way for leg in each.ahead))
    assert Advice.from_json(json.loads(json.dumps(advice.to_json()))) == advice
    message = json.loads(json.dumps(advice.message(one.plan.coordinates)))
    for leg, sent, degrees in zip(advice.ahead, message["ahead"], message["degrees"]["ahead"], strict=True):
        assert sent["position"] == pytest.approx(leg.position, abs=5e-4)
        back = one.plan.coordinates.to_metres(degrees["latitude"], degrees["longitude"])
        np.testing.assert_allclose(np.ravel(back), leg.position, atol=1e-3)
        assert len(degrees.get("way", ())) == len(sent.get("way", ())) == len(leg.way)
    assert message["ahead"][0]["position"] == message["next_position"]


def test_exports_have_all_of_them(mission):
    """The plan flies every leg by its corners, and stays at each place."""
    one, _ = mission
    two, site = one.new_mission(4), hill_site(**PLACED)
    legs = walk(two, 2)[-1].ahead
    findings = findings_of(two, site, "location-gain")
    assert findings.waypoints.tolist() == [list(leg.position) for leg in legs]
    items = json.loads(qgc_plan(findings, hold=5.0))["mission"]["items"]
    expected = [place for leg in legs for place in (*leg.way, leg.position)]
    found = one.plan.coordinates.to_metres(*np.transpose([item["params"][4:6] for item in items[1:]]))
    np.testing.assert_allclose(found, expected, atol=1e-2)
    stays = [hold for leg in legs for hold in (*[0.0] * len(leg.way), 5.0)]
    assert [item["params"][0] for item in items[1:]] == stays
    features = json.loads(geojson(findings))["features"]
    points = [each for each in features if each["properties"]["what"] == "next waypoint"]
    assert [each["properties"]["number"] for each in points] == [1, 2, 3, 4]
    (line,) = (each for each in features if each["properties"]["what"] == "next way")
    assert len(line["geometry"]["coordinates"]) == 1 + len(expected)
    assert "Next waypoint 4" in kml(findings)


@pytest.mark.parametrize("ahead", [0, MAX_AHEAD + 1])
def test_the_number_is_from_1_to_10(ahead, mission):
    with pytest.raises(ValueError, match="`ahead` must be from 1 to 10 places; got"):
        Advisor(mission[0].plan, mission[0].policy, warm_up=False, ahead=ahead)


def test_a_policy_that_knows_no_planned_readings_is_refused():
    with pytest.raises(ValueError, match="'infotaxis' does not plan several places ahead: choose location-g"):
        Advisor(hill_site(), "infotaxis", model=MODEL, warm_up=False, ahead=2)
