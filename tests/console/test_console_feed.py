"""A live feed: readings of a broker are taken in like all others, and its password is nobody's business."""

import asyncio
import json
import shutil
import socket
import subprocess
import time

import pytest


@pytest.fixture(scope="module")
def broker():
    """A mosquitto of our own, at a port that was free."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("mosquitto is not installed")
    pytest.importorskip("aiomqtt", reason="aiomqtt is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [program, "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield port
    process.terminate()
    process.wait()


async def exchanged(port, sent):
    """Publish so many readings, one after another, and collect the answers."""
    import aiomqtt

    answers = []
    async with asyncio.timeout(60), aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe("yard/out", qos=1)
        for body in sent:
            await client.publish("yard/in", json.dumps(body), qos=1)
            async for message in client.messages:
                answers.append(json.loads(message.payload))
                break
    return answers


def test_readings_of_a_broker_are_taken_in(broker, begin, client, wait_until):
    """Answered on its topic with the advice that the frames tell of; what is refused is answered too."""
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
    frames = client.get(f"/api/missions/{mission}/frames").json()
    assert [frame["next"] for frame in frames] == [answer["next_position"] for answer in answers[:3]]
    told = client.get(f"/api/missions/{mission}").text + client.get("/api/missions").text
    assert "secret" not in told
    assert "refused" in told


def test_a_broker_that_is_not_there_is_told_of_and_readings_still_come_by_hand(begin, client, wait_until):
    pytest.importorskip("aiomqtt", reason="aiomqtt is not installed")
    mission = begin(mqtt={"url": "mqtt://user:secret@127.0.0.1:1"})["id"]
    told = wait_until(mission, lambda now: any(event["kind"] == "feed" for event in now["events"]))
    assert "trying again" in told["events"][-1]["text"]
    assert "secret" not in json.dumps(told)
    body = {"position": [2, 2], "value": 0.5}
    assert client.post(f"/api/missions/{mission}/readings", json=body).status_code == 200
