"""Requests that wait: all are assimilated, and a place is planned after the last of each searcher."""

import json
import threading

import pytest
from made_teams import STARTS, team_advisor

from dowsax.mission.messages import answer, serve_lines
from dowsax.mission.waiting import Waiting, read_ahead, searcher_of
from dowsax.site.schema import SearchSetting

SEARCH = SearchSetting.model_construct(preset="plain", particles=512, radius=1e-6)


def line(number, name, place):
    body = {"id": number, "x": place[0], "y": place[1], "value": 0.1, "searcher": name}
    return json.dumps(body)


def test_whether_a_later_one_of_its_searcher_waits():
    waiting = Waiting()
    names = [waiting.add(line(1, name, (2, 2))) for name in ("anna", "ben", "anna")]
    names.append(waiting.add("nonsense"))
    assert names == ["anna", "ben", "anna", None]
    assert [waiting.take(name) for name in names] == [True, False, False, False]
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
    second, is_followed = next(read)
    assert [json.loads(one)["id"] for one in (first, second)] == [1, 2]
    assert not is_followed
    with pytest.raises(OSError, match="cable"):
        next(read)


def test_a_reading_that_is_followed_counts_and_keeps_the_place():
    one = team_advisor(search=SEARCH)
    first = answer(one, line(1, "anna", STARTS["anna"]))
    second = answer(one, line(2, "anna", (2.0, 3.0)), is_followed=True)
    assert second["next_position"] == first["next_position"]
    assert "Further readings of anna wait" in second["why"]
    assert second["number"] == 2
    third = answer(one, line(3, "ben", STARTS["ben"]), is_followed=True)
    # It has no place yet.
    assert third["next_position"] is not None
    assert "Further readings" not in third["why"]


def test_every_line_gets_its_answer():
    said = []
    lines = [line(number, name, place) for number in range(4) for name, place in STARTS.items()]
    serve_lines(team_advisor(search=SEARCH), lines, said.append)
    bodies = [json.loads(one) for one in said]
    assert [(body["number"], body["id"]) for body in bodies] == [
        (number + 1, str(number // 2)) for number in range(8)
    ]
    assert "Further readings" not in bodies[-1]["why"]
