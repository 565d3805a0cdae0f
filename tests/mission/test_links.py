"""Readings as lines of JSON and over MQTT: every one is answered, and none stops the stream."""

import asyncio
import json
from dataclasses import replace

import pytest
from made_brokers import free_port, mosquitto
from made_missions import MODEL, hill_site, read

from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.frame import Frame
from dowsax.mission.links import (
    Broker,
    NoBroker,
    _Unsent,
    answer,
    require_broker,
    serve_lines,
    serve_mqtt,
    topics,
)
from dowsax.mission.log import MissionLog
from dowsax.mission.reading import Reading, Refused
from dowsax.mission.reading_keys import KEYS, decoded, from_object

ORIGIN = (52.1, 5.1)


@pytest.fixture
def advisor(tmp_path):
    one = Advisor(hill_site(frame=Frame(ORIGIN)), seed=4, log=tmp_path / "mission.db", model=MODEL)
    yield one
    one.close()


def lines_of(advisor, *lines):
    said = []
    serve_lines(advisor, lines, said.append)
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in said)
    return [json.loads(line) for line in said]


def test_every_line_is_answered_in_order(advisor):
    """Advice for readings, an error with its line for the rest; empty lines are nothing."""
    good = b'{"id": 1, "x": 2, "y": 2, "value": 0.1}\n'
    said = lines_of(
        advisor,
        good,
        b"\n",
        b"{oops\n",
        b"\xff\xfe\n",
        b"[1, 2]\n",
        b'{"id": "z", "x": 2}\n',
        good,
        b'{"x": 4, "y": 2, "value": "0.2"}',
    )
    assert [body.get("line") for body in said] == [None, 3, 4, 5, 6, None, None]
    assert said[0]["status"] == "searching"
    assert "Not JSON" in said[1]["error"]
    assert "JSON object" in said[3]["error"]
    assert said[4]["error"] == "`y` is missing: give it with `x`."
    assert said[4]["id"] == "z"
    assert said[5] == said[0]
    assert said[6]["number"] == 2
    with MissionLog.open(advisor._log.path) as log:
        assert len(log) == 2
        assert len(list(log.refusals())) == 4


def test_places_in_degrees_come_back_in_degrees(advisor):
    """In and out of the site's frame, to centimetres: 1 cm is about 1e-7 degrees."""
    latitude, longitude = Frame(ORIGIN).to_degrees([(4.0, 6.0)])[0]
    (said,) = lines_of(advisor, json.dumps({"lat": latitude, "lon": longitude, "value": 0.3}))
    assert advisor.readings[0].position == pytest.approx((4.0, 6.0), abs=1e-2)
    there = said["degrees"]["next"]
    back = Frame(ORIGIN).to_metres(there["latitude"], there["longitude"])[0]
    assert back == pytest.approx(said["next_position"], abs=1e-2)


def test_numbers_are_told_in_the_digits_that_mean_something(advisor):
    """Told in millimetres and hundredths of a degree; what is logged and computed with has all its digits."""
    (said,) = lines_of(advisor, '{"x": 4, "y": 2, "value": 0.3}')
    exact = advisor.latest
    for told, meant, digits in (
        *zip(said["next_position"], exact.next_position, (3, 3), strict=True),
        *zip(said["region"]["centre"], exact.region.centre, (3, 3), strict=True),
        (said["distance"], exact.distance, 3),
        (said["bearing"], exact.bearing, 2),
        (said["region"]["radius"], exact.region.radius, 3),
    ):
        assert told == round(meant, digits)
    (entry,) = advisor._log.entries()
    assert Advice.from_json(entry.advice) == exact
    north = replace(exact, bearing=359.9999).message(Frame())
    assert north["bearing"] == 0.0


def test_a_place_that_was_told_may_be_read_at(advisor):
    """Rounding does not lead out of the area: at its very border the reading is taken in."""
    body = '{"x": 20.0005, "y": -0.0005, "value": 0.1}'
    (said,) = lines_of(advisor, body)
    assert said["status"] == "searching"
    (x, y) = said["next_position"]
    assert 0 <= x <= 20
    assert 0 <= y <= 20
    (refused,) = lines_of(advisor, body.replace("20.0005", "20.01"))
    assert "outside the area" in refused["error"]


def test_wind_may_be_said_in_two_ways():
    """3 m/s from 270°, a west wind, goes east."""
    place = {"x": 1, "y": 2, "value": 3}
    by_angle = from_object(decoded(json.dumps(place | {"wind_speed": 3, "wind_from": 270})), Frame())
    assert by_angle.wind == pytest.approx((3.0, 0.0), abs=1e-12)
    assert from_object(decoded(json.dumps(place | {"wind_u": 3, "wind_v": 0})), Frame()).wind == (3.0, 0.0)


def test_all_keys_are_understood():
    text = (
        '{"id": 7, "x": 1, "y": 2, "value": 3, "unit": "ppb", "time": "2026-05-04T12:30:00Z", "altitude": 4,'
        '"dwell": 5, "sensor": "A", "wind_u": 1, "wind_v": -1, "battery": 0.7, "note": null}'
    )
    reading = from_object(decoded(text), Frame(), "ppm")
    moment = 1777897800.0
    assert reading == Reading((1.0, 2.0), 0.003, (1.0, -1.0), moment, "A", 4.0, 5.0, "7")
    assert Reading.from_json(json.loads(json.dumps(reading.to_json()))) == reading


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"x": 1, "y": 2}', "`value` is missing"),
        ('{"value": 1}', "position is missing"),
        ('{"x": 1, "y": 2, "latitude": 1, "longitude": 2, "value": 1}', "not both"),
        ('{"latitude": 95, "longitude": 5, "value": 1}', "between -90 and 90"),
        ('{"x": 1, "y": 2, "value": NaN}', "`value` is nan"),
        ('{"x": 1, "y": 2, "value": 1e400}', "`value` is inf"),
        ('{"x": 1, "y": 2, "value": [1]}', "not a number"),
        ('{"x": 1, "y": 2, "value": "n/a"}', "`value` says nothing, 'n/a': leave the reading out"),
        ('{"latitude": 52.1, "longitude": 354.9, "value": 1}', "take off 360, -5.1"),
        ('{"x": 1, "y": 2, "value": 1, "wind_sped": 3}', "is 'wind_speed' meant"),
        ('{"x": 1, "y": 2, "value": 1, "wind_speed": -3, "wind_from": 1}', "not below 0"),
        ('{"x": 1, "y": 2, "value": 1, "unit": "m/s"}', "no multiple"),
        ('{"x": 1, "X": 1, "y": 2, "value": 1}', "given twice"),
        ("[" * 100_000, "nested too deep|Not JSON"),
        ("", "Not JSON"),
    ],
)
def test_what_is_wrong_with_a_reading_is_said(text, reason):
    with pytest.raises(Refused, match=reason):
        from_object(decoded(text), Frame((52.1, 5.1)), "ppm")


def test_keys_are_explained():
    assert {"x", "y", "value", "time", "wind_from"} <= KEYS.keys()


@pytest.mark.parametrize("text", ["nonsense", '{"id": 7, "x": 1e6, "y": 2, "value": 0.1}'])
def test_what_is_refused_is_logged_as_refused_and_not_recorded_as_a_reading(advisor, text):
    """Whether it cannot be understood or cannot be."""
    said = answer(advisor, text)
    assert (said["recorded"], said["refused"]) == (False, True)
    assert advisor.readings == ()
    [refusal] = advisor._log.refusals()
    assert refusal.reason == said["error"]


def test_what_is_not_recorded_says_so(advisor):
    connection = advisor._log._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}")
    body = json.dumps({"id": 1, "x": 2, "y": 2, "value": 0.1, "note": "x" * 9000})
    said = answer(advisor, body)
    assert (said["recorded"], said["refused"]) == (False, False)
    assert said["id"] == "1"
    assert "disk is full" in said["error"]
    connection.execute("PRAGMA max_page_count=1000000")
    assert answer(advisor, body)["number"] == 1


def test_addresses_of_brokers():
    assert Broker.of("mqtt://broker") == Broker("broker", 1883)
    assert Broker.of("mqtt://broker:99") == Broker("broker", 99)
    assert Broker.of("mqtts://me:p%40ss@broker") == Broker("broker", 8883, "me", "p@ss", True)
    for wrong in ("http://broker", "mqtt://", "mqtt://broker:port", "broker", "broker:99"):
        with pytest.raises(ValueError, match="Not an address"):
            Broker.of(wrong)


def test_topics_hold_no_wildcards():
    assert topics("My site/+#") == ("dowsax/My-site---/readings", "dowsax/My-site---/advice")
    assert topics("  ") == ("dowsax/mission/readings", "dowsax/mission/advice")
    assert topics("hill", "0a") == ("dowsax/hill/0a/readings", "dowsax/hill/0a/advice")


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def broker(port):
    with mosquitto(port):
        yield port


async def exchange(advisor, port, number):
    """Send so many readings, one after another, and collect the answers."""
    import aiomqtt

    readings, advice = topics("hill")
    answers, listening = [], asyncio.Event()
    server = asyncio.create_task(
        serve_mqtt(
            advisor, f"mqtt://127.0.0.1:{port}", lambda said: listening.set() if "Listening" in said else None
        )
    )
    await asyncio.wait_for(listening.wait(), 20)
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe(advice, qos=1)
        position = (2.0, 2.0)
        for count in range(number):
            body = {"id": count, "x": position[0], "y": position[1], "value": read(count, position)}
            await client.publish(readings, json.dumps(body), qos=1)
            while not answers or answers[-1].get("id") != str(count):
                message = await asyncio.wait_for(anext(aiter(client.messages)), 20)
                answers.append(json.loads(message.payload))
            position = answers[-1]["next_position"] or position
        await client.publish(readings, "nonsense", qos=1)
        message = await asyncio.wait_for(anext(aiter(client.messages)), 20)
        answers.append(json.loads(message.payload))
    server.cancel()
    return answers


def test_a_mission_over_mqtt(advisor, broker):
    """Each reading gets its advice, and nonsense an error."""
    answers = asyncio.run(exchange(advisor, broker, 4))
    assert [body.get("number") for body in answers] == [1, 2, 3, 4, None]
    assert "Not JSON" in answers[-1]["error"]
    assert len(advisor.readings) == 4


def test_a_broker_that_is_not_there_is_said_at_once(port):
    address = f"mqtt://127.0.0.1:{port}"
    with pytest.raises(NoBroker, match=f"No broker answers at 127.0.0.1:{port} within 5 s"):
        asyncio.run(require_broker(address))
    with mosquitto(port):
        asyncio.run(require_broker(address))


async def until(condition):
    for _ in range(400):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("It did not come to that within 20 s.")


async def with_an_outage(advisor, port):
    """A reading, no broker for longer than the first waits, and another reading."""
    said = []
    server = asyncio.create_task(serve_mqtt(advisor, f"mqtt://127.0.0.1:{port}", said.append))
    with mosquitto(port):
        await until(lambda: len(said) == 1)
        await left_with_the_broker(port, 7)
        await until(lambda: len(advisor.readings) == 1)
    await until(lambda: len(said) == 2)
    await asyncio.sleep(2)
    with mosquitto(port):
        await until(lambda: len(said) == 3)
        await left_with_the_broker(port, 8)
        await until(lambda: len(advisor.readings) == 2)
        server.cancel()
    return said


def test_a_broker_that_is_lost_is_waited_for(advisor, port):
    """Said once, however often it is tried; then the mission goes on."""
    before, during, after = asyncio.run(with_an_outage(advisor, port))
    assert before.startswith("Listening")
    assert during.startswith(f"No connection to 127.0.0.1:{port}")
    assert after == before
    assert [reading.id for reading in advisor.readings] == ["7", "8"]


def test_a_reading_answered_when_the_broker_was_lost_counts_once(advisor):
    """It has neither id nor time; when it comes again after that, it is another one."""
    unsent, payload = _Unsent(), b'{"x": 4, "y": 2, "value": 0.1}'
    first = unsent.answer(advisor, payload)
    assert unsent.answer(advisor, payload) == first
    unsent.sent()
    assert unsent.answer(advisor, payload)["number"] == 2


async def left_with_the_broker(port, *ids):
    import aiomqtt

    readings, _ = topics("hill")
    async with aiomqtt.Client("127.0.0.1", port) as client:
        for count in ids:
            await client.publish(readings, json.dumps({"id": count, "x": 4, "y": 2, "value": 0.1}), qos=1)


async def listen_until(advisor, port, number):
    server = asyncio.create_task(serve_mqtt(advisor, f"mqtt://127.0.0.1:{port}"))
    for _ in range(200):
        if len(advisor.readings) >= number:
            break
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.2)
    server.cancel()


def test_the_broker_keeps_readings_while_no_advisor_runs(advisor, broker):
    """Those sent in between are there when the advisor comes back, and are not sent a third time."""
    asyncio.run(listen_until(advisor, broker, 0))
    asyncio.run(left_with_the_broker(broker, 7, 8))
    assert len(advisor.readings) == 0
    asyncio.run(listen_until(advisor, broker, 2))
    assert [reading.id for reading in advisor.readings] == ["7", "8"]
