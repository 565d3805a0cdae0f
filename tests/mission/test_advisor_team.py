"""Missions of several searchers: one belief, a next place for each, ways and budgets of their own."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from made_missions import MODEL, hill_site, read
from made_teams import STARTS, team_advisor, team_site, walk_in_turn

from dowsax.mission.advice import FOUND, INCONCLUSIVE, SEARCHING, Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.messages import answer
from dowsax.mission.team import places_of_others
from dowsax.site.schema import Budget, SearchSetting
from dowsax.site.searcher import Searcher
from dowsax.survey.reading import Refused

SEARCH = SearchSetting.model_construct(preset="plain", particles=512, radius=1e-6)
"""A stop that cannot be reached."""
LEGS = Budget(readings=20, distance=40.0)
"""Limits the way, so that far ways are gone in legs."""


def test_a_team_finds_the_hill_and_each_has_its_own_way():
    """The two are never sent to one place, and the way of each is from its own last reading."""
    one = team_advisor()
    given = walk_in_turn(one, 30)
    assert given[-1].status == FOUND
    here = dict(STARTS)
    going = {}
    for advice in given[:-1]:
        assert advice.searcher in STARTS
        there, name = advice.next_position, advice.searcher
        assert advice.distance >= math.dist(here[name], there) - 1e-3
        others = [place for other, place in going.items() if other != name]
        assert all(math.dist(there, place) >= one.plan.radius / 2 for place in others)
        going[name] = here[name] = there
    assert Advice.from_json(json.loads(json.dumps(given[-1].to_json()))) == given[-1]


def test_each_plans_ahead_apart_from_where_the_others_go():
    """Where neither way nor time is limited, the next places are those of a team that does not."""
    plain, given = walk_in_turn(team_advisor(), 4), walk_in_turn(team_advisor(ahead=3), 4)
    assert [replace(advice, ahead=()) for advice in given] == plain
    going = {}
    for advice in given:
        others = [place for name, place in going.items() if name != advice.searcher]
        assert len(advice.ahead) == 3
        assert all(math.dist(leg.position, place) > 0.75 for leg in advice.ahead for place in others)
        going[advice.searcher] = advice.next_position
    assert set(going) == set(STARTS)


def test_a_far_way_is_gone_in_legs():
    """The next place is on the straight way to a far one, which the others are planned beyond."""
    one = team_advisor(search=SEARCH, budget=LEGS)
    given, here, aims = walk_in_turn(one, 8), dict(STARTS), 0
    for advice in given:
        name, there, aim = advice.searcher, advice.next_position, advice.next_aim
        going = [place for place in (there, aim) if place is not None]
        assert places_of_others(one.plan, (), None, {name: advice}) == going
        if aim is not None:
            aims += 1
            assert math.dist(here[name], there) <= 3.0
            if not advice.next_way:
                by_stop = math.dist(here[name], there) + math.dist(there, aim)
                assert by_stop == pytest.approx(math.dist(here[name], aim), abs=1e-2)
            assert "read on the way to" in advice.why
        assert Advice.from_json(json.loads(json.dumps(advice.to_json()))) == advice
        here[name] = there
    assert aims > 0


def test_one_searcher_goes_through():
    budget = Budget(readings=20, distance=60.0)
    single = Advisor(
        hill_site(budget=budget, search=SEARCH), "location-gain", seed=4, model=MODEL, warm_up=False
    )
    place, lengths = (2.0, 2.0), []
    for count in range(4):
        advice = single.observe(place, read(count, place), time=10.0 * count)
        assert advice.next_aim is None
        lengths.append(advice.distance)
        place = advice.next_position
    assert max(lengths) > 4.5


def test_the_belief_is_that_of_one_searcher_with_all_the_readings():
    """Whose a reading is changes nothing of what it tells."""
    team, single = team_advisor(), Advisor(hill_site(), "location-gain", seed=4, model=MODEL, warm_up=False)
    for count, name in enumerate(("anna", "ben", "ben", "anna")):
        place = (2.0 + 4.0 * count, 3.0)
        by_team = team.observe(place, read(count, place), id=count, searcher=name)
        alone = single.observe(place, read(count, place), id=count)
        assert by_team.estimate == alone.estimate
        assert by_team.evidence == alone.evidence
    assert alone.searcher is None
    assert "searcher" not in alone.to_json()


def test_a_mission_goes_on_from_its_log_to_the_last_bit(tmp_path):
    """Also where it ended on the way to a far place."""
    expected = walk_in_turn(team_advisor(search=SEARCH, budget=LEGS), 6)
    assert expected[2].next_aim is not None
    log = tmp_path / "mission.log"
    begun = team_advisor(search=SEARCH, budget=LEGS, log=log)
    assert walk_in_turn(begun, 3) == expected[:3]
    begun.close()
    places = {advice.searcher: advice.next_position for advice in expected[:3]}
    resumed = team_advisor(search=SEARCH, budget=LEGS, log=log)
    assert walk_in_turn(resumed, 3, first=3, places=places) == expected[3:]


def test_readings_may_come_in_any_order():
    """Late readings of one searcher belong to its own way: of each, the newest by time is where it is."""
    one = team_advisor(search=SEARCH)
    for time, name, place in ((20, "anna", (6, 2)), (5, "ben", (18, 2)), (10, "anna", (2, 2))):
        advice = one.observe(place, read(time, place), time=time, searcher=name)
    assert math.dist((6, 2), advice.next_position) == pytest.approx(advice.distance, abs=1e-3)
    assert one.state.measures(one.plan)["path_length"] == pytest.approx(4.0)


def test_each_searcher_has_a_budget_of_its_own():
    """One that has spent its own is told so, the other goes on; after both, nothing is left."""
    team = (Searcher("anna", (2.0, 2.0), readings=1), Searcher("ben", (18.0, 2.0), readings=2))
    one = team_advisor(searchers=team, search=SEARCH, budget=Budget(distance=500.0))
    one.observe((18.0, 2.0), 0.1, searcher="ben")
    spent = one.observe((2.0, 2.0), 0.1, searcher="anna")
    assert (spent.status, spent.next_position) == (SEARCHING, None)
    assert "For you it is over: the 1 readings of the budget are taken; ben can go on." in spent.why
    last = one.observe((18.0, 6.0), 0.1, searcher="ben")
    assert (last.status, last.next_position) == (INCONCLUSIVE, None)


def test_one_that_has_not_read_yet_can_go_on():
    team = (Searcher("anna", (2.0, 2.0), readings=1), Searcher("ben", (18.0, 2.0)))
    spent = team_advisor(searchers=team, search=SEARCH).observe((2.0, 2.0), 0.1, searcher="anna")
    assert (spent.status, spent.next_position) == (SEARCHING, None)
    assert "ben can go on." in spent.why


def test_speed_and_fence_of_a_searcher_are_its_own():
    fence = [[0.0, 0.0], [6.0, 0.0], [6.0, 20.0], [0.0, 20.0]]
    team = (Searcher("anna", (2.0, 2.0), geofence=np.array(fence), speed=0.5), Searcher("ben", (18.0, 2.0)))
    one = team_advisor(searchers=team, search=SEARCH, budget=Budget(time=1000.0))
    given = walk_in_turn(one, 6)
    assert all(a.next_position[0] <= 6.0 + 1e-6 for a in given if a.searcher == "anna")
    assert any(a.next_position[0] > 6.0 for a in given if a.searcher == "ben")
    out = one.observe((9.0, 5.0), 0.1, searcher="anna")
    assert any("outside the geofence" in warning for warning in out.warnings)
    assert "may not be" in out.why


def test_who_falls_silent_is_planned_around():
    """After 30 s and three times its usual 10 s its place is free; when it reads again it is planned for."""
    one = team_advisor(search=SEARCH)
    walk_in_turn(one, 4)
    place = (2.0, 10.0)
    late = one.observe(place, read(9, place), time=600.0, searcher="anna")
    assert "ben is silent: the others plan without them." in late.why
    back = one.observe((18.0, 4.0), read(10, (18.0, 4.0)), time=605.0, searcher="ben")
    assert "silent" not in back.why
    assert back.next_position is not None


def test_a_searcher_can_join_late():
    team = (*team_site().searchers, Searcher("cleo", (2.0, 18.0)))
    one = team_advisor(searchers=team, search=SEARCH)
    walk_in_turn(one, 4)
    advice = one.observe((2.0, 18.0), 0.05, time=100.0, searcher="cleo")
    assert (advice.searcher, advice.status) == ("cleo", SEARCHING)
    assert advice.next_position is not None


def test_each_searcher_numbers_its_own_readings():
    """The same id of another searcher is another reading; a withdrawal then says whose."""
    one = team_advisor(search=SEARCH)
    one.observe((2.0, 2.0), 0.1, id="1", searcher="anna")
    two = one.observe((18.0, 2.0), 0.1, id="1", searcher="ben")
    assert two.number == 2
    assert one.observe((18.0, 2.0), 0.1, id="1", searcher="ben").number == 2
    asked = answer(one, '{"withdraw": true, "id": "1"}')
    assert asked["error"].startswith("Several searchers have a reading '1'")
    done = answer(one, '{"withdraw": true, "id": "1", "searcher": "ben"}')
    assert (done["searcher"], done["next_position"]) == ("ben", (18.0, 2.0))
    assert [reading.searcher for reading in one.readings] == ["anna"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"x": 2, "y": 2, "value": 0.1}', "`searcher` is missing: say whose reading it is, anna, ben."),
        (
            '{"x": 2, "y": 2, "value": 0.1, "searcher": "carl"}',
            "Unknown searcher 'carl': the site file names anna, ben.",
        ),
        (
            '{"x": 2, "y": 2, "value": 0.1, "searcher": "Anna"}',
            "Unknown searcher 'Anna': the site file names anna, ben. Did you mean 'anna'?",
        ),
    ],
)
def test_a_reading_of_nobody_is_refused(line, words):
    one = Advisor(team_site(), "location-gain", seed=4, model=MODEL, warm_up=False)
    assert answer(one, line)["error"] == words


def test_one_searcher_has_no_name():
    single = Advisor(hill_site(), "greedy", seed=4, model=MODEL, warm_up=False)
    with pytest.raises(Refused, match="This site has one searcher"):
        single.observe((2.0, 2.0), 0.1, searcher="anna")
    body = answer(single, '{"x": 2, "y": 2, "value": 0.1, "searcher": "anna"}')
    assert body["warnings"] == ["Not used at this site: searcher."]
