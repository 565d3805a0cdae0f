"""While a filter is compiled or a belief made anew, the mission says so; then it says so no longer."""

import threading
from dataclasses import replace

import pytest

BODY = {"position": [2.0, 3.0], "value": 0.5}


@pytest.fixture
def held(client, monkeypatch):
    """Advisors are made only after this is set."""
    cache, gate = client.app.state.console.advisor_cache, threading.Event()
    build = cache.build_advisor

    def advisor(*given):
        assert gate.wait(60)
        return build(*given)

    monkeypatch.setattr(cache, "build_advisor", advisor)
    yield gate
    gate.set()


def listed(client, mission):
    [item] = [item for item in client.get("/api/missions").json() if item["id"] == mission]
    return item


def sent(client, mission, body):
    """A reading on its way."""
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(client.post(f"/api/missions/{mission}/readings", json=body))
    )
    thread.start()
    return thread, answers


def test_a_mission_from_before_a_restart_says_that_it_is_prepared(begin, client, wait_until, held):
    """Its status is what it was; the message says what is waited for, and how much is taken in again."""
    held.set()
    mission = begin()["id"]
    for number in range(3):
        client.post(f"/api/missions/{mission}/readings", json=BODY | {"id": str(number)})
    held.clear()
    client.app.state.console.missions[mission].release()
    assert listed(client, mission)["preparing"] is False
    thread, answers = sent(client, mission, BODY | {"id": "3"})
    told = wait_until(mission, lambda now: now["preparing"])
    words = "Preparing: the filter is being compiled, and 3 readings are assimilated again."
    assert (told["status"], told["message"]) == ("searching", words)
    assert (listed(client, mission)["preparing"], listed(client, mission)["message"]) == (True, words)
    held.set()
    thread.join(60)
    assert answers[0].json()["advice"]["number"] == 4
    after = wait_until(mission, lambda now: not now["preparing"])
    assert (after["status"], after["message"]) == ("searching", "")


def test_a_new_mission_says_so_from_the_beginning(client, site_text, wait_until, held):
    body = {"type": "real", "policy": "greedy", "seed": 3, "site": site_text()}
    told = client.post("/api/missions", json=body).json()
    assert (told["status"], told["preparing"]) == ("preparing", True)
    assert told["message"] == "Preparing: the filter is being compiled."
    held.set()
    after = wait_until(told["id"], lambda now: not now["preparing"])
    assert (after["status"], after["message"]) == ("searching", "")


def test_a_mission_that_cannot_be_prepared_fails(client, site_text, wait_until, monkeypatch):
    def broken(*_):
        raise OSError("The disk is gone.")

    monkeypatch.setattr(client.app.state.console.advisor_cache, "build_advisor", broken)
    body = {"type": "real", "policy": "greedy", "seed": 3, "site": site_text()}
    mission = client.post("/api/missions", json=body).json()["id"]
    after = wait_until(mission, lambda now: now["status"] == "failed")
    assert after["preparing"] is False
    assert "The disk is gone." in after["message"]


def test_a_filter_that_has_to_grow_says_so(begin, client):
    """Its history is full: the next reading waits for one of twice the length."""
    host = client.app.state.console.missions[begin()["id"]]
    generation = host._compiled
    assert host.waits_for(generation) == ""
    room = host._advisor.belief.history.readings.shape[0]
    reading = host._advisor.plan.parse_reading({"x": 2.0, "y": 3.0, "value": 0.5})
    host._advisor._state = replace(host._advisor._state, readings=(reading,) * room)
    assert host.waits_for(generation) == "Preparing: the filter is being compiled for more readings."


BODIES = [{"position": [3.0 + 2 * number, 4.0], "value": 0.3 + 0.1 * number} for number in range(4)]


@pytest.fixture
def read(begin, client):
    """A mission with these readings."""

    def begun(bodies):
        mission = begin()["id"]
        for body in bodies:
            assert client.post(f"/api/missions/{mission}/readings", json=body).status_code == 200
        return mission

    return begun


def latest_of(client, mission):
    return client.get(f"/api/missions/{mission}").json()


def test_a_withdrawn_reading_was_never_there(read, client):
    """Belief, advice and counts are those of the mission without it; snapshots and events show it."""
    slip = {"position": [5.0, 4.0], "value": 90.0}
    mission, without = read([BODIES[0], slip, *BODIES[2:]]), read([BODIES[0], *BODIES[2:]])
    answer = client.delete(f"/api/missions/{mission}/readings/2", params={"reason": "hose open"})
    assert answer.status_code == 200
    snapshot, expected = answer.json()["snapshot"], latest_of(client, without)["latest"]
    assert (snapshot["number"], snapshot["corrects"], snapshot["reading"]) == (5, 2, None)
    assert snapshot["estimate"] == expected["estimate"]
    assert snapshot["next"] == expected["next"]
    now = latest_of(client, mission)
    assert (now["readings"], now["snapshots"]) == (3, 5)
    assert now["latest"]["particles"] == expected["particles"]
    assert now["events"][-1]["text"] == "Reading 2 was withdrawn: hose open"
    snapshots = client.get(f"/api/missions/{mission}/snapshots").json()
    assert [one["number"] for one in snapshots] == [1, 2, 3, 4, 5]
    assert snapshots[1]["reading"]["value"] == 90.0
    table = client.get(f"/api/missions/{mission}/export?to=csv").text
    assert "90.0" not in table
    assert len(table.strip().splitlines()) == 4
    assert client.get(f"/api/missions/{mission}/field?number=5").status_code == 200


def test_a_corrected_reading_was_right_all_along(read, client):
    """Only what was wrong is given; released and made again from its log it is the same."""
    mission, right = read([BODIES[0], BODIES[1] | {"value": 40.0}, BODIES[2]]), read(BODIES[:3])
    answer = client.patch(f"/api/missions/{mission}/readings/2", json={"value": BODIES[1]["value"]})
    assert answer.status_code == 200, answer.text
    expected = latest_of(client, right)["latest"]
    assert answer.json()["snapshot"]["estimate"] == expected["estimate"]
    assert answer.json()["snapshot"]["reading"]["position"] == BODIES[1]["position"]
    client.app.state.console.missions[mission].release()
    more = [client.post(f"/api/missions/{id}/readings", json=BODIES[3]).json() for id in (mission, right)]
    assert more[0]["snapshot"]["estimate"] == more[1]["snapshot"]["estimate"]
    assert [one["advice"]["number"] for one in more] == [5, 4]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("DELETE", "9", None, 422, "Reading 9 was never recorded"),
        ("DELETE", "0", None, 422, ">= 1"),
        ("PATCH", "1", {}, 422, "what is right instead"),
        ("PATCH", "1", {"value": True}, 422, "must be a number, not true or false"),
        ("PATCH", "1", {"position": [500, 3]}, 422, "outside the area"),
        ("PATCH", "1", {"value": 1e14}, 422, "times the largest|check"),
        ("PATCH", "1", {"value": 1, "id": "x"}, 422, "not known here"),
    ],
)
def test_an_impossible_correction_gets_the_reason(read, client, method, path, body, status, words):
    import re

    mission = read(BODIES[:2])
    answer = client.request(method, f"/api/missions/{mission}/readings/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert re.search(words, answer.json()["error"])
    assert latest_of(client, mission)["readings"] == 2


def test_an_implausible_value_can_be_confirmed(read, client):
    mission = read(BODIES[:2])
    path, body = f"/api/missions/{mission}/readings", {"position": [5.0, 5.0], "value": 4e7}
    doubted = client.post(path, json=body)
    assert doubted.status_code == 422
    assert doubted.json()["confirm"] is False
    assert "times the largest reading so far" in doubted.json()["error"]
    refused = client.post(path, json=body | {"position": [500, 5]})
    assert "confirm" not in refused.json()
    confirmed = client.post(path, json=body | {"confirm": True})
    assert confirmed.status_code in (200, 422)
    assert "confirm" not in confirmed.json()
    for value in (True, False, "true", None, [1], {}):
        answer = client.post(path, json=body | {"value": value})
        assert answer.status_code == 422, value
        assert "confirm" not in answer.json()


def test_implausible_rows_are_refused_unless_confirmed(begin, client):
    table = b"x,y,value\n2,2,0.5\n3,2,0.6\n4,2,70000000\n"
    mission = begin()["id"]
    path, headers = f"/api/missions/{mission}/survey", {"content-type": "text/csv"}
    told = client.post(path, content=table, headers=headers).json()
    assert (told["new"], [one["line"] for one in told["refused"]]) == (2, [4])
    told = client.post(f"{path}?confirm=true", content=table, headers=headers).json()
    assert told["known"] == 2
    reasons = [one["reason"] for one in told["refused"]]
    assert told["new"] == 1 or not any("confirm" in reason for reason in reasons)
