"""While a filter is compiled or a belief made anew, the mission says so; then it says so no longer."""

import threading
from dataclasses import replace

import pytest

BODY = {"position": [2.0, 3.0], "value": 0.5}


@pytest.fixture
def held(client, monkeypatch):
    """Advisors are made only after this is set."""
    workshop, gate = client.app.state.console.workshop, threading.Event()
    make = workshop.advisor

    def advisor(*given):
        assert gate.wait(60)
        return make(*given)

    monkeypatch.setattr(workshop, "advisor", advisor)
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


def test_a_mission_of_earlier_says_that_it_is_made_ready(begin, client, wait_until, held):
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
    words = "Preparing: the filter is being compiled, and what was read is taken in again (3)."
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


def test_what_cannot_be_made_ready_does_not_say_so_for_ever(client, site_text, wait_until, monkeypatch):
    def broken(*_):
        raise OSError("The disk is gone.")

    monkeypatch.setattr(client.app.state.console.workshop, "advisor", broken)
    body = {"type": "real", "policy": "greedy", "seed": 3, "site": site_text()}
    mission = client.post("/api/missions", json=body).json()["id"]
    after = wait_until(mission, lambda now: now["status"] == "failed")
    assert after["preparing"] is False
    assert "The disk is gone." in after["message"]


def test_a_filter_that_has_to_grow_says_so(begin, client):
    """Its history is full: the next reading waits for one of twice the length."""
    hosted = client.app.state.console.missions[begin()["id"]]
    generation = hosted._compiled
    assert hosted.waits_for(generation) == ""
    room = hosted._advisor.belief.history.readings.shape[0]
    reading = hosted._advisor.plan.reading_of({"x": 2.0, "y": 3.0, "value": 0.5})
    hosted._advisor._course = replace(hosted._advisor._course, readings=(reading,) * room)
    assert hosted.waits_for(generation) == "Preparing: the filter is being compiled for more readings."


def test_the_console_says_whether_it_is_ready(client, begin, tmp_path):
    """Not before all is imported that a mission needs."""
    from dowsax.console.service import Console

    early = Console(tmp_path)
    assert not early.is_ready
    early.scheduler.close()
    early.store.close()
    begin()
    assert client.get("/api/health").json()["ready"] is True
