"""Requests that wait: all are assimilated, and a place is planned after the last of each searcher."""

import json
import math
import threading

import pytest
from made_teams import STARTS, team_advisor

from dowsax.mission.messages import answer, serve_lines
from dowsax.mission.waiting import Waiting, read_ahead, searcher_of
from dowsax.site.schema import Budget, SearchSetting

KEPT = "Further readings of anna wait"
SEARCH = SearchSetting.model_construct(preset="plain", particles=512, radius=1e-6)


def line(number, name, place):
    body = {"id": number, "x": place[0], "y": place[1], "value": 0.1, "searcher": name}
    return json.dumps(body)


def test_whether_a_later_one_of_its_searcher_waits():
    waiting = Waiting()
    names = [waiting.add(line(1, name, (2, 2))) for name in ("anna", "ben", "anna")]
    names.append(waiting.add("nonsense"))
    assert names == ["anna", "ben", "anna", None]
    assert [len(waiting.take(name)) for name in names] == [1, 0, 0, 0]
    assert searcher_of(b'\xff{"searcher": 1}') is None
    assert searcher_of('{"searcher": 1}') == "1"


def test_lines_come_in_order_and_an_error_comes_through():
    held = threading.Event()

    def lines():
        yield line(1, "anna", (2, 2))
        yield line(2, "anna", (2, 3))
        held.set()
        raise OSError("The cable is out.")

    read = read_ahead(lines())
    first, _ = next(read)
    held.wait(10)
    second, later = next(read)
    assert [json.loads(one)["id"] for one in (first, second)] == [1, 2]
    assert later == ()
    with pytest.raises(OSError, match="cable"):
        next(read)


def test_a_reading_that_is_followed_counts_and_keeps_the_place():
    one = team_advisor(search=SEARCH)
    first = answer(one, line(1, "anna", STARTS["anna"]))
    second = answer(one, line(2, "anna", (2.0, 3.0)), waiting=(line(4, "anna", (2.0, 4.0)),))
    assert second["next_position"] == first["next_position"]
    assert KEPT in second["why"]
    assert second["number"] == 2
    third = answer(one, line(3, "ben", STARTS["ben"]), waiting=(line(5, "ben", (9.0, 4.0)),))
    # It has no place yet.
    assert third["next_position"] is not None
    assert "Further readings" not in third["why"]


def test_the_far_place_is_kept_as_well():
    """Else another could be sent there."""
    one = team_advisor(search=SEARCH, budget=Budget(readings=20, distance=60.0))
    first = answer(one, line(1, "anna", STARTS["anna"]))
    assert first["next_aim"] is not None
    second = answer(one, line(2, "anna", (2.0, 2.2)), waiting=(line(3, "anna", (2.0, 2.4)),))
    assert KEPT in second["why"]
    assert (second["next_position"], second["next_aim"]) == (first["next_position"], first["next_aim"])


@pytest.mark.parametrize(
    "later",
    [
        line(1, "anna", STARTS["anna"]),
        line(2, "anna", (2.0, 3.0)),
        line(2, "anna", (2.0, 3.5)),
        line(3, "anna", (-50.0, 3.0)),
        json.dumps({"withdraw": True, "id": "1", "searcher": "anna"}),
        "nonsense",
    ],
    ids=["recorded", "same", "its id again", "outside", "withdrawal", "not an object"],
)
def test_a_place_is_planned_where_no_later_request_adds_a_reading(later):
    one = team_advisor(search=SEARCH)
    answer(one, line(1, "anna", STARTS["anna"]))
    assert KEPT not in answer(one, line(2, "anna", (2.0, 3.0)), waiting=(later,))["why"]


def test_a_place_where_one_has_just_read_is_not_kept():
    one = team_advisor(search=SEARCH)
    place = answer(one, line(1, "anna", STARTS["anna"]))["next_position"]
    second = answer(one, line(2, "anna", place), waiting=(line(3, "anna", (2.0, 4.0)),))
    assert KEPT not in second["why"]
    assert second["next_position"] != place


def test_a_place_beyond_the_budget_is_not_kept():
    one = team_advisor(search=SEARCH, budget=Budget(distance=30.0))
    place = answer(one, line(1, "anna", STARTS["anna"]))["next_position"]
    second = answer(one, line(2, "anna", (2.0, 18.0)), waiting=(line(3, "anna", (2.0, 17.0)),))
    assert math.dist((2.0, 18.0), place) > 14.0
    assert KEPT not in second["why"]


def test_every_line_gets_its_answer():
    said = []
    lines = [line(number, name, place) for number in range(4) for name, place in STARTS.items()]
    serve_lines(team_advisor(search=SEARCH), lines, said.append)
    bodies = [json.loads(one) for one in said]
    assert [(body["number"], body["id"]) for body in bodies] == [
        (number + 1, str(number // 2)) for number in range(8)
    ]
    assert "Further readings" not in bodies[-1]["why"]
