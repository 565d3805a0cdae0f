"""Readings that are withdrawn, corrected or asked about by the addresses of the console."""

import pytest

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


def latest(client, mission):
    return client.get(f"/api/missions/{mission}").json()


def test_a_withdrawn_reading_was_never_there(read, client):
    """Belief, advice and counts are those of the mission without it; frames and events show what happened."""
    slip = {"position": [5.0, 4.0], "value": 90.0}
    mission, without = read([BODIES[0], slip, *BODIES[2:]]), read([BODIES[0], *BODIES[2:]])
    answer = client.delete(f"/api/missions/{mission}/readings/2", params={"reason": "hose open"})
    assert answer.status_code == 200
    frame, expected = answer.json()["frame"], latest(client, without)["latest"]
    assert (frame["number"], frame["corrects"], frame["reading"]) == (5, 2, None)
    assert frame["estimate"] == expected["estimate"]
    assert frame["next"] == expected["next"]
    now = latest(client, mission)
    assert (now["readings"], now["frames"]) == (3, 5)
    assert now["latest"]["particles"] == expected["particles"]
    assert now["events"][-1]["text"] == "Reading 2 was withdrawn: hose open"
    frames = client.get(f"/api/missions/{mission}/frames").json()
    assert [one["number"] for one in frames] == [1, 2, 3, 4, 5]
    assert frames[1]["reading"]["value"] == 90.0
    table = client.get(f"/api/missions/{mission}/export?to=csv").text
    assert "90.0" not in table
    assert len(table.strip().splitlines()) == 4
    assert client.get(f"/api/missions/{mission}/field?number=5").status_code == 200


def test_a_corrected_reading_was_right_all_along(read, client):
    """Only what was wrong is given; released and made again from its log it is the same."""
    mission, right = read([BODIES[0], BODIES[1] | {"value": 40.0}, BODIES[2]]), read(BODIES[:3])
    answer = client.patch(f"/api/missions/{mission}/readings/2", json={"value": BODIES[1]["value"]})
    assert answer.status_code == 200, answer.text
    expected = latest(client, right)["latest"]
    assert answer.json()["frame"]["estimate"] == expected["estimate"]
    assert answer.json()["frame"]["reading"]["position"] == BODIES[1]["position"]
    client.app.state.console.missions[mission].release()
    more = [client.post(f"/api/missions/{id}/readings", json=BODIES[3]).json() for id in (mission, right)]
    assert more[0]["frame"]["estimate"] == more[1]["frame"]["estimate"]
    assert [one["advice"]["number"] for one in more] == [5, 4]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("DELETE", "9", None, 422, "Reading 9 was never taken in"),
        ("DELETE", "0", None, 422, "1 or more"),
        ("PATCH", "1", {}, 422, "what is right instead"),
        ("PATCH", "1", {"value": True}, 422, "must be a number, not true or false"),
        ("PATCH", "1", {"position": [500, 3]}, 422, "outside the area"),
        ("PATCH", "1", {"value": 1e14}, 422, "times the largest|check"),
        ("PATCH", "1", {"value": 1, "id": "x"}, 422, "not known here"),
    ],
)
def test_what_cannot_be_corrected_is_said(read, client, method, path, body, status, words):
    import re

    mission = read(BODIES[:2])
    answer = client.request(method, f"/api/missions/{mission}/readings/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert re.search(words, answer.json()["error"])
    assert latest(client, mission)["readings"] == 2


def test_a_doubted_value_says_that_it_can_be_confirmed(read, client):
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


def test_rows_that_are_doubted_are_refused_unless_confirmed(begin, client):
    table = b"x,y,value\n2,2,0.5\n3,2,0.6\n4,2,70000000\n"
    mission = begin()["id"]
    path, headers = f"/api/missions/{mission}/survey", {"content-type": "text/csv"}
    told = client.post(path, content=table, headers=headers).json()
    assert (told["taken"], [one["line"] for one in told["refused"]]) == (2, [4])
    told = client.post(f"{path}?confirm=true", content=table, headers=headers).json()
    assert told["known"] == 2
    reasons = [one["reason"] for one in told["refused"]]
    assert told["taken"] == 1 or not any("confirm" in reason for reason in reasons)
