"""A live feed: readings of a broker are taken in like all others, and its password is nobody's business."""

import asyncio
import json

import pytest
from made_brokers import broker_at, free_port


@pytest.fixture(scope="module")
def broker():
    """A broker of our own, at a port that was free."""
    port = free_port()
    with broker_at(port):
        yield port


async def exchanged(port, sent, yard="yard"):
    """Publish so many readings, one after another, and collect the answers."""
    import aiomqtt

    answers = []
    async with asyncio.timeout(60), aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe(f"{yard}/out", qos=1)
        for body in sent:
            await client.publish(f"{yard}/in", json.dumps(body), qos=1)
            async for message in client.messages:
                answers.append(json.loads(message.payload))
                break
    return answers


def test_readings_of_a_broker_are_added(broker, begin, client, wait_until):
    """Answered on its topic with the advice that the snapshots tell of; what is refused is answered too."""
    feed = {
        "url": f"mqtt://user:secret@127.0.0.1:{broker}",
        "readings": "yard/in",
        "advice": "yard/out",
    }
    mission = begin(mqtt=feed)["id"]
    heard = wait_until(mission, lambda now: any("Listening" in event["text"] for event in now["events"]))
    assert heard["mqtt"] == {"readings": "yard/in", "advice": "yard/out"}
    sent = [{"id": number, "x": 2 + number, "y": 3, "value": 0.5} for number in range(3)]
    answers = asyncio.run(exchanged(broker, [*sent, {"x": 99, "y": 3, "value": 0.5}]))
    assert [answer.get("number") for answer in answers] == [1, 2, 3, None]
    assert "outside the area" in answers[3]["error"]
    assert (answers[3]["recorded"], answers[3]["refused"]) == (False, True)
    snapshots = client.get(f"/api/missions/{mission}/snapshots").json()
    assert [snapshot["next"] for snapshot in snapshots] == [answer["next_position"] for answer in answers[:3]]
    told = client.get(f"/api/missions/{mission}").text + client.get("/api/missions").text
    assert "secret" not in told
    assert "refused" in told


def test_a_missing_broker_is_reported_and_readings_can_still_be_typed(begin, client, wait_until):
    mission = begin(mqtt={"url": "mqtt://user:secret@127.0.0.1:1"})["id"]
    told = wait_until(mission, lambda now: any(event["kind"] == "alarm" for event in now["events"]))
    assert "trying again" in told["events"][-1]["text"]
    assert "secret" not in json.dumps(told)
    body = {"position": [2, 2], "value": 0.5}
    assert client.post(f"/api/missions/{mission}/readings", json=body).status_code == 200


def test_missions_of_one_name_do_not_share_topics(begin, client):
    """Each has its id in them; who names topics may share readings, and never a topic that advice is on."""
    url = {"url": "mqtt://127.0.0.1:1"}
    one, other = (begin(name="hill", mqtt=url) for _ in range(2))
    for mission in (one, other):
        path = f"dowsax/hill/{mission['id']}"
        assert mission["mqtt"] == {"readings": f"{path}/readings", "advice": f"{path}/advice"}
    begin(mqtt=url | {"readings": "a/in", "advice": "a/out"})
    begin(mqtt=url | {"readings": "a/in", "advice": "b/out"})
    begin(mqtt={"url": "mqtt://127.0.0.1:2", "readings": "a/in", "advice": "a/out"})
    refused = {
        ("c/in", "a/out"): "'a/out' is that of the advice of another mission",
        ("c/in", "a/in"): "'a/in' is that of the readings of another mission",
        ("a/out", "c/out"): "On 'a/out' goes the advice of another mission",
        ("c/in", "c/in"): "cannot both be on 'c/in'",
    }
    count = len(client.get("/api/missions").json())
    for (readings, advice), words in refused.items():
        feed = url | {"readings": readings, "advice": advice}
        site = client.app.state.console.missions[one["id"]].record.site
        answer = client.post("/api/missions", json={"type": "real", "site": site, "mqtt": feed})
        assert answer.status_code == 422
        assert words in answer.json()["error"]
    assert len(client.get("/api/missions").json()) == count


def test_a_feed_that_ends_is_an_alarm_and_begins_again(broker, begin, client, wait_until, monkeypatch):
    """Whatever ended it: told in status, events and log until it is up again, and readings come then."""
    from dowsax.console import feed as feeds
    from dowsax.mission import mqtt
    from dowsax.mission.log import MissionLog

    monkeypatch.setattr(feeds, "_RESTART_S", (0.05, 0.1))
    usual, failures = mqtt.serve_mqtt, [ValueError("no more memory"), RuntimeError("odd")]

    async def failing(*arguments):
        if failures:
            raise failures.pop(0)
        await usual(*arguments)

    monkeypatch.setattr(feeds, "serve_mqtt", failing)
    url = f"mqtt://127.0.0.1:{broker}"
    mission = begin(mqtt={"url": url, "readings": "shed/in", "advice": "shed/out"})["id"]
    told = wait_until(mission, lambda now: any("Listening" in event["text"] for event in now["events"]))
    alarms = [event["text"] for event in told["events"] if event["kind"] == "alarm"]
    assert [text.split(":")[0] for text in alarms] == [
        "The feed has ended (no more memory)",
        "The feed has ended (odd)",
    ]
    assert told["alarm"] == ""
    console = client.app.state.console
    notes = list(MissionLog.open(console.store.log_path(mission)).records())
    assert [note.text for note in notes if note.what == "alarm"] == alarms
    (answer,) = asyncio.run(exchanged(broker, [{"id": 1, "x": 2, "y": 3, "value": 0.5}], "shed"))
    assert answer["number"] == 1


def test_a_feed_that_is_down_is_an_alarm_in_the_list(begin, client, wait_until):
    mission = begin(mqtt={"url": "mqtt://127.0.0.1:1"})["id"]
    told = wait_until(mission, lambda now: now["alarm"])
    assert "No connection to 127.0.0.1:1" in told["alarm"]
    listed = {item["id"]: item for item in client.get("/api/missions").json()}
    assert listed[mission]["alarm"] == told["alarm"]
