"""Advice at several heights: it says how high to read, and a reading that does not say was taken there."""

import json
from dataclasses import replace

import numpy as np
import pytest
from made_heights import HEIGHTS, MODEL, read_at, tall_advisor, tall_site
from made_missions import POND

from dowsax.mission.advice import FOUND, Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.messages import parse_request, serve_lines
from dowsax.mission.plan import Plan
from dowsax.mission.seen_walls import seen_walls
from dowsax.mission.team import budget_use
from dowsax.site.obstacles import Obstacle
from dowsax.site.schema import Budget, SearchSetting, StepSetting
from dowsax.site.searcher import Searcher
from dowsax.site.sensor import SensorSetting
from dowsax.survey.reading import Reading, Refused

NEVER = SearchSetting.model_construct(preset="plain", particles=512, radius=1e-6)
START = (2.0, 2.0)


def walk(one, number, place=START, height=HEIGHTS[0], *, says_height=False, first=0):
    """Follow the advice, and return all of it."""
    given = []
    for count in range(first, first + number):
        more = {"altitude": height} if says_height else {}
        value = read_at(count, place, height)
        given.append(one.observe(place, value, time=10.0 * count, id=count, **more))
        height = given[-1].next_height or height
        place = given[-1].next_position
        if place is None:
            break
    return given


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("heights") / "mission.log"


@pytest.fixture(scope="module")
def found(log):
    one = tall_advisor(log=log)
    return one, walk(one, 25)


def test_it_finds_the_source_by_reading_where_the_plume_is(found):
    """It begins at the lowest height, and goes up: below and above next to nothing is to be read."""
    one, given = found
    assert given[-1].status == FOUND
    assert np.hypot(*np.subtract(given[-1].estimate.position, (14.0, 12.0))) < 1.5
    assert given[-1].next_height is None
    heights = [reading.altitude for reading in one.readings]
    assert heights[0] == HEIGHTS[0]
    assert heights[1:] == [advice.next_height for advice in given[:-1]]
    assert heights.count(6.0) > len(heights) / 2
    assert "6 m above ground" in next(advice for advice in given if advice.next_height == 6.0).why


def test_a_reading_that_says_the_advised_height_is_the_same(found):
    """The belief is the same to the last bit; at another height it is not."""
    one, given = found
    told, other = one.new_mission(4), one.new_mission(4)
    says = walk(told, 4, says_height=True)
    assert says == given[:4]
    walk(other, 1)
    value = read_at(1, given[0].next_position, given[0].next_height)
    ground = other.observe(given[0].next_position, value, time=10.0, id=1, altitude=1.0)
    assert ground.estimate != given[1].estimate
    assert other.readings[1].altitude == 1.0


def test_several_places_ahead_each_have_their_height():
    """Climbs count as way, and no place is given twice, not even at another height."""
    site = tall_site(budget=Budget(distance=40.0))
    ahead = Advisor(Plan.of(site, MODEL), "location-gain", 4, warm_up=False, ahead=4)
    advice = walk(ahead, 2)[-1]
    length, level = 0.0, ahead.readings[-1].altitude
    for leg in advice.ahead:
        assert leg.height in HEIGHTS
        length, level = length + leg.distance + abs(leg.height - level), leg.height
    assert budget_use(ahead.plan, ahead.readings, None).distance + length <= 40.012
    assert (advice.ahead[0].position, advice.ahead[0].height) == (advice.next_position, advice.next_height)
    assert len({leg.position for leg in advice.ahead}) == len(advice.ahead) > 1
    assert Advice.from_json(json.loads(json.dumps(advice.to_json()))) == advice


def test_a_mission_goes_on_from_its_log(found, log):
    one, given = found
    one.close()
    again = tall_advisor(log=log)
    assert again.latest == given[-1]
    assert again.readings == one.readings
    assert Advice.from_json(json.loads(json.dumps(given[0].to_json()))) == given[0]


def test_the_same_reading_again_gets_the_same_answer(found):
    """Although the advised height is another one by now; a correction keeps the height that it had."""
    one = found[0].new_mission(4)
    first, second = walk(one, 2)
    assert first.next_height != one.plan.stations.sensor.height
    assert one.observe(START, read_at(0, START, 1.0), time=0.0, id=0) == first
    at = first.next_position
    assert one.observe(at, read_at(1, at, first.next_height), time=10.0, id=1) == second
    assert len(one.readings) == 2
    one.answer(parse_request({"correct": True, "id": "1", "value": 0.4}))
    assert one.readings[1].altitude == first.next_height
    with pytest.raises(Refused, match="was given to another reading"):
        one.observe(at, 0.4, time=10.0, id=1, altitude=2.0)


def test_the_json_line_has_the_height(found):
    one = found[0].new_mission(4)
    lines = []
    serve_lines(one, [b'{"id": "1", "x": 2, "y": 2, "value": 0.01}\n'], lines.append)
    answer = json.loads(lines[0])
    assert answer["next_height"] in HEIGHTS
    assert answer["next_height"] == one.latest.next_height


def test_one_listed_height_is_the_height_of_the_sensor():
    """The same belief, places and estimates, to the last bit; but for the height that advice says."""
    usual = tall_advisor(None, sensor=SensorSetting(height=6.0), search=NEVER)
    one = tall_advisor((6.0,), search=NEVER)
    for without, given in zip(walk(usual, 5, height=6.0), walk(one, 5, height=6.0), strict=True):
        assert given.next_height == 6.0
        why = given.why.replace(", 6 m above ground", "")
        assert replace(given, next_height=None, why=why) == without


def test_climbs_are_way_and_no_wall_below_stops_a_way():
    """The pond is 3 m high: at 1 m one goes around it, and at 6 m over it."""
    wall = Obstacle(POND, height=3.0)
    site = tall_site(no_go=(), obstacles=(wall,), search=NEVER, budget=Budget(distance=200.0))
    plan = Plan.of(site, MODEL)
    readings = [Reading((5.0, 9.0), 0.1, altitude=1.0), Reading((13.0, 9.0), 0.1, altitude=1.0)]
    from_start = np.hypot(3.0, 7.0)
    around = plan.reach.at(1.0).bounds.way_lengths((5.0, 9.0), [(13.0, 9.0)])[0]
    assert around > 8.5
    assert budget_use(plan, readings, None).distance == pytest.approx(from_start + around)
    over = [readings[0], replace(readings[1], altitude=6.0)]
    assert budget_use(plan, over, None).distance == pytest.approx(from_start + 8.0 + 5.0)
    assert plan.reach.at(1.0).bends((5.0, 9.0), (13.0, 9.0))
    assert plan.reach.at(1.0, 6.0).bends((5.0, 9.0), (13.0, 9.0)) == ()
    assert plan.reach.at(1.0).is_outside((9.0, 9.0))
    assert not plan.reach.at(6.0).is_outside((9.0, 9.0))


def test_advice_never_goes_through_a_wall_that_is_as_high():
    wall = Obstacle(np.array([[9.0, 0.0], [10.0, 0.0], [10.0, 17.0], [9.0, 17.0]]), height=8.0)
    one = tall_advisor(no_go=(), obstacles=(wall,), search=NEVER)
    place, height = START, HEIGHTS[0]
    over = 0
    for advice in walk(one, 8):
        there, level = advice.next_position, advice.next_height
        flown = one.plan.reach.at(max(height, level))
        way = (place, *advice.next_way, there)
        assert flown.bounds.space.see(np.array(way[:-1]), np.array(way[1:])).all()
        assert not one.plan.reach.at(level).is_outside(there)
        over += max(height, level) > 8.0
        place, height = there, level


def test_walls_that_were_seen_from_below_do_not_stop_what_flies_higher():
    sensor = SensorSetting(range_directions=4, range_limit=6.0)
    plan = Plan.of(tall_site(sensor=sensor, no_go=()), MODEL)
    low = Reading((5.0, 10.0), 0.1, altitude=1.0, ranges=(None, 3.0, None, None))
    high = replace(low, position=(5.0, 15.0), altitude=6.0)
    number = {height: len(seen_walls(plan, [low, high], None, height)) for height in HEIGHTS}
    assert number == {1.0: 2, 6.0: 1, 11.0: 0}
    reach = plan.reach.with_walls(lambda height: seen_walls(plan, [low, high], None, height))
    assert [len(level.bounds.obstacles) for level in reach.levels] == [2, 1, 0]


def test_each_searcher_has_its_heights_and_plans_with_those_of_the_others():
    team = (
        Searcher("drone", (2.0, 2.0)),
        Searcher("walker", (18.0, 2.0), height=1.5),
        Searcher("kite", (2.0, 18.0), heights=(6.0, 16.0)),
    )
    one = tall_advisor(searchers=team, search=NEVER)
    reached = {name: member.reach.heights for name, member in one.plan.searchers.items()}
    assert reached == {"drone": HEIGHTS, "walker": (1.5,), "kite": (6.0, 16.0)}
    given = {}
    for count in range(2):
        for searcher in team:
            name = searcher.name
            place = given[name].next_position if count else searcher.start
            height = given[name].next_height if count else one.plan.searchers[name].height
            value = read_at(3 * count, place, height)
            given[name] = one.observe(place, value, time=20.0 * count, id=count, searcher=name)
    for name, advice in given.items():
        assert advice.next_height in reached[name]
    heights = [reading.altitude for reading in one.readings[:3]]
    assert heights == [1.0, 1.5, 6.0]


def test_policies_of_steps_and_fields_without_height_are_refused():
    with pytest.raises(ValueError, match="'infotaxis' reads at one height: choose location-gain"):
        tall_advisor(policy="infotaxis")
    flat = tall_site()
    with pytest.raises(ValueError, match="same at every height: leave `heights` out"):
        Advisor(flat, "location-gain", model=replace(MODEL, field=lambda theta, station: theta[2]))


def test_the_site_begins_at_the_lowest_height_where_it_does_not_say():
    assert tall_site().sensor.height == HEIGHTS[0]
    assert tall_site(sensor=SensorSetting(height=6.0)).sensor.height == 6.0
    assert StepSetting(heights=[9.0, 2.0]).heights == (2.0, 9.0)
