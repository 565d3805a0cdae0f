"""A mission over MQTT: every reading is answered, kept by the broker until then, and counted once."""

import asyncio
import json
import socket
from contextlib import suppress

import pytest
from made_brokers import broker_at, free_port, keeps_readings
from made_missions import MODEL, hill_site, read
from made_teams import STARTS, team_advisor

from dowsax.mission.advisor import Advisor
from dowsax.mission.log import Refusal
from dowsax.mission.mqtt import (
    Broker,
    NoBroker,
    _Undelivered,
    require_broker,
    serve_mqtt,
    topic_of_searcher,
    topics,
)


@pytest.fixture
def advisor(tmp_path):
    one = Advisor(hill_site(), seed=4, log=tmp_path / "mission.log", model=MODEL)
    yield one
    one.close()


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
    with broker_at(port):
        yield port


async def exchange(advisor, port, number):
    """Send so many readings, one after another, and collect the answers."""
    import aiomqtt

    readings, advice = topics("hill")
    answers, listening = [], asyncio.Event()
    server = asyncio.create_task(
        serve_mqtt(
            advisor, f"mqtt://127.0.0.1:{port}", lambda text, is_up: listening.set() if is_up else None
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


async def exchange_in_team(advisor, port):
    """Send a reading of each of two searchers, and collect what is retained for each, and for all."""
    import aiomqtt

    readings, advice = topics("hill")
    listening, answers = asyncio.Event(), {}
    server = asyncio.create_task(
        serve_mqtt(
            advisor, f"mqtt://127.0.0.1:{port}", lambda text, is_up: listening.set() if is_up else None
        )
    )
    await asyncio.wait_for(listening.wait(), 20)
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe(f"{advice}/+", qos=1)
        for name, (x, y) in STARTS.items():
            body = {"id": "1", "x": x, "y": y, "value": 0.1, "searcher": name}
            await client.publish(readings, json.dumps(body), qos=1)
            message = await asyncio.wait_for(anext(aiter(client.messages)), 20)
            answers[str(message.topic)] = json.loads(message.payload)
    server.cancel()
    return answers


def test_the_advice_for_each_searcher_has_a_topic_of_its_own(broker):
    answers = asyncio.run(exchange_in_team(team_advisor(), broker))
    assert {topic: body["searcher"] for topic, body in answers.items()} == {
        topic_of_searcher("dowsax/hill/advice", name): name for name in STARTS
    }


def test_a_missing_broker_is_reported_at_once(port):
    address = f"mqtt://127.0.0.1:{port}"
    with pytest.raises(NoBroker, match=f"No broker answers at 127.0.0.1:{port} within 5 s"):
        asyncio.run(require_broker(address))
    with broker_at(port):
        asyncio.run(require_broker(address))


async def is_sent_at_once(port):
    import aiomqtt

    from dowsax.mission.mqtt import _client

    async with _client(aiomqtt, Broker("127.0.0.1", port), "probe", clean_session=True) as client:
        return client._client.socket().getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_answer_does_not_wait_for_the_acknowledgement_before_it(broker):
    """By default the system would hold it back for 40 ms."""
    assert asyncio.run(is_sent_at_once(broker))


async def until(condition):
    for _ in range(400):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("It did not come to that within 20 s.")


async def with_an_outage(advisor, port):
    """A reading, no broker for longer than the first waits, and another reading."""
    said = []
    server = asyncio.create_task(
        serve_mqtt(advisor, f"mqtt://127.0.0.1:{port}", lambda text, is_up: said.append(text))
    )
    with broker_at(port):
        await until(lambda: len(said) == 1)
        await left_with_the_broker(port, 7)
        await until(lambda: len(advisor.readings) == 1)
    await until(lambda: len(said) == 2)
    await asyncio.sleep(2)
    with broker_at(port):
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
    undelivered, payload = _Undelivered(), b'{"x": 4, "y": 2, "value": 0.1}'
    first = undelivered.answer(advisor, payload)
    assert undelivered.answer(advisor, payload) == first
    undelivered.clear()
    assert undelivered.answer(advisor, payload)["number"] == 2


async def left_with_the_broker(port, *ids):
    import aiomqtt

    readings, _ = topics("hill")
    async with aiomqtt.Client("127.0.0.1", port) as client:
        for count in ids:
            await client.publish(readings, json.dumps({"id": count, "x": 4, "y": 2, "value": 0.1}), qos=1)


async def listen_until(advisor, port, number):
    said = []
    address = f"mqtt://127.0.0.1:{port}"
    server = asyncio.create_task(serve_mqtt(advisor, address, lambda text, is_up: said.append(is_up)))
    await until(lambda: said and said[-1] and len(advisor.readings) >= number)
    await asyncio.sleep(0.2)
    server.cancel()
    with suppress(asyncio.CancelledError):
        await server


@keeps_readings
def test_the_broker_keeps_readings_while_no_advisor_runs(advisor, broker):
    """Those sent in between are there when the advisor comes back, and are not sent a third time."""
    asyncio.run(listen_until(advisor, broker, 0))
    asyncio.run(left_with_the_broker(broker, 7, 8))
    assert len(advisor.readings) == 0
    asyncio.run(listen_until(advisor, broker, 2))
    assert [reading.id for reading in advisor.readings] == ["7", "8"]


POISON = (
    b'{"id": "\\ud800", "x": 2, "y": 2, "value": 0.1}',
    b'{"\\udfff": 1, "x": 2, "y": 2, "value": 0.1}',
    b'{"x": 2, "y": 2, "value": ' + b"9" * 5000 + b"}",
    b'{"x": 2, "y": 2, "value": -' + b"9" * 5000 + b"e9999}",
    b"\xff\xfe\x00",
    b"",
    b"[" * 60_000,
    b"x" * 100_000,
)


async def poisoned(advisor, port):
    """Each poison, then a good reading; the answers, and what happened to the connection."""
    import aiomqtt

    readings, advice = topics("hill")
    answers, states = [], []
    address = f"mqtt://127.0.0.1:{port}"
    server = asyncio.create_task(serve_mqtt(advisor, address, lambda text, is_up: states.append(is_up)))
    await until(lambda: states)
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe(advice, qos=1)
        for payload in (*POISON, b'{"id": 1, "x": 2, "y": 2, "value": 0.1}'):
            await client.publish(readings, payload, qos=1)
            message = await asyncio.wait_for(anext(aiter(client.messages)), 20)
            answers.append(json.loads(message.payload))
    server.cancel()
    return answers, states


def test_a_bad_message_is_refused_and_recorded(advisor, broker):
    """Each gets its answer on the same connection, and is in the log as refused."""
    answers, states = asyncio.run(poisoned(advisor, broker))
    assert states == [True]
    assert [body.get("refused") for body in answers] == [True] * len(POISON) + [None]
    assert answers[-1]["number"] == 1
    assert [refusal.reason for refusal in refusals(advisor)] == [body["error"] for body in answers[:-1]]


@keeps_readings
def test_what_was_refused_is_not_sent_again(advisor, broker):
    """It was acknowledged: nothing is left with the broker for the next start."""
    asyncio.run(poisoned(advisor, broker))
    asyncio.run(listen_until(advisor, broker, 1))
    assert len(refusals(advisor)) == len(POISON)


def refusals(advisor):
    return [record for record in advisor._log.records() if isinstance(record, Refusal)]


class Broken:
    """An advisor whose first answer raises what nobody foresaw, on the way out of the filter."""

    def __init__(self, advisor):
        self._advisor, self.failures = advisor, 1

    def __getattr__(self, name):
        return getattr(self._advisor, name)

    @property
    def latest(self):
        if self.failures:
            self.failures -= 1
            raise ZeroDivisionError("unforeseen")
        return self._advisor.latest


async def restarted(advisor, port):
    states = []
    address = f"mqtt://127.0.0.1:{port}"
    server = asyncio.create_task(
        serve_mqtt(Broken(advisor), address, lambda text, is_up: states.append((is_up, text)))
    )
    await until(lambda: len(states) == 3)
    await left_with_the_broker(port, 7)
    await until(lambda: len(advisor.readings) == 1)
    server.cancel()
    return states


def test_a_feed_that_fails_for_any_reason_says_so_and_begins_again(advisor, broker):
    states = asyncio.run(restarted(advisor, broker))
    assert [is_up for is_up, _ in states] == [True, False, True]
    assert "failed (ZeroDivisionError): trying again" in states[1][1]
