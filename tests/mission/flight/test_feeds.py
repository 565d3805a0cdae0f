"""Readings from a serial line and from a broker."""

import os
import re
import time

import pytest
from made_brokers import broker_at, free_port

from dowsax.mission.flight.commands import Note
from dowsax.mission.flight.feeds import MqttFeed, SerialFeed, open_feed, parse_line, require_feed
from dowsax.mission.flight.readings_file import ReadingsFile
from dowsax.mission.mqtt import NoBroker
from dowsax.survey.reading import Refused

TIMEOUT_S = 20.0


def wait_for(feed, is_there):
    """All rows and notes until one is what is waited for."""
    found, begun = [], time.monotonic()
    while not any(map(is_there, found)):
        assert time.monotonic() - begun < TIMEOUT_S, found
        found += feed.poll()
        time.sleep(0.02)
    return found


def rows_of(found):
    return [item[1] for item in found if not isinstance(item, Note)]


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        (b"12.5\r\n", {"value": "12.5"}),
        (b" -3e-4 ", {"value": "-3e-4"}),
        (b'{"ppm": 2, "time": 5}', {"ppm": 2, "time": 5}),
        (b"nan", {"value": "nan"}),
    ],
)
def test_a_line_is_a_number_or_an_object(line, keys):
    assert parse_line(line) == keys


@pytest.mark.parametrize("line", [b"", b"12.5 ppm", b"\xff\xfe", b'{"value": 1', b"[1, 2]", b"1" * 70_000])
def test_other_lines_are_refused(line):
    assert isinstance(parse_line(line), Refused)


@pytest.fixture
def wire():
    """A sensor's end of a line, and the name of ours."""
    pytest.importorskip("serial")
    sensor, ours = os.openpty()
    yield sensor, os.ttyname(ours)
    for end in (sensor, ours):
        try:
            os.close(end)
        except OSError:
            continue


def test_whole_lines_of_a_sensor_arrive(wire):
    """The first may have lost its beginning: 3.5 could be the rest of 13.5."""
    sensor, name = wire
    feed = open_feed(f"serial:{name}:115200", "topic", None)
    assert isinstance(feed, SerialFeed)
    try:
        os.write(sensor, b"3.5\n4.5\n\n5.")
        found = wait_for(feed, lambda item: item == (None, {"value": "4.5"}))
        assert rows_of(found) == [{"value": "4.5"}]
        os.write(sensor, b'5\n{"value": 6}\nppm\n')
        found = wait_for(feed, lambda item: item == (None, {"value": 6}))
        first, second, third = rows_of(found)
        assert (first, second) == ({"value": "5.5"}, {"value": 6})
        assert isinstance(third, Refused)
    finally:
        feed.close()


def test_a_sensor_that_is_gone_is_reported_once_and_tried_again(wire, tmp_path):
    sensor, name = wire
    now, link = [0.0], tmp_path / "ttyUSB0"
    link.symlink_to(name)
    feed = SerialFeed(f"serial:{link}", lambda: now[0])
    try:
        link.unlink()
        os.close(sensor)
        (lost,) = wait_for(feed, lambda item: isinstance(item, Note))
        assert lost.is_alarm
        assert lost.text.startswith(f"The sensor at serial:{link} is gone (")
        for _ in range(3):
            now[0] += 3.0
            assert [*feed.poll()] == []
        again, ours = os.openpty()
        link.symlink_to(os.ttyname(ours))
        now[0] += 3.0
        (back,) = feed.poll()
        assert (back.text, back.is_alarm) == (f"The sensor at serial:{link} is back.", False)
        os.write(again, b"1\n2\n")
        assert rows_of(wait_for(feed, lambda item: not isinstance(item, Note))) == [{"value": "2"}]
        os.close(again)
        os.close(ours)
    finally:
        feed.close()


def test_a_line_that_is_not_there_is_one_line():
    pytest.importorskip("serial")
    with pytest.raises(ValueError, match=r"Cannot open serial:/dev/none \(.*\): check it"):
        SerialFeed("serial:/dev/none")


def test_messages_of_a_topic_arrive():
    """Not what was retained before: its place would be taken for that of the vehicle now."""
    publish = pytest.importorskip("paho.mqtt.publish")
    number = free_port()
    address = f"mqtt://127.0.0.1:{number}"
    with broker_at(number):
        require_feed(address)
        to = {"hostname": "127.0.0.1", "port": number, "qos": 1}
        publish.single("gas/ppm", "1", retain=True, **to)
        feed = open_feed(f"{address}/gas/ppm", "dowsax/yard/readings", None)
        assert isinstance(feed, MqttFeed)
        try:
            (up,) = wait_for(feed, lambda item: isinstance(item, Note))
            assert (up.text, up.is_alarm) == ("Listening to gas/ppm.", False)
            publish.single("gas/ppm", "2.5", **to)
            publish.single("gas/ppm", '{"ppm": 3}', **to)
            found = wait_for(feed, lambda item: item == (None, {"ppm": 3}))
            assert rows_of(found) == [{"value": "2.5"}, {"ppm": 3}]
        finally:
            feed.close()
    assert not feed._thread.is_alive()


@pytest.mark.parametrize(
    "address", ["/dev/ttyUSB0", "tcp://host:5", "serail:///dev/ttyUSB0", "no/such/folder/readings.csv", "."]
)
def test_what_can_be_no_file_is_refused(address):
    """Instead of being waited for."""
    expected = f"Not a source of readings: '{address}': give a file, serial:/dev/ttyUSB0:9600 or mqtt://"
    with pytest.raises(ValueError, match=re.escape(expected)):
        require_feed(address)


def test_addresses_of_readings(tmp_path):
    assert isinstance(open_feed(str(tmp_path / "readings.csv"), "topic", None), ReadingsFile)
    require_feed(str(tmp_path / "readings.csv"))
    with pytest.raises(ValueError, match="Not an address of a broker"):
        require_feed("mqtt://host:port")
    with pytest.raises(ValueError, match=r"Not an address of a sensor: 'serial:' \(no device\)"):
        require_feed("serial:")
    with pytest.raises(ValueError, match=r"Not a topic: .* Write # as %23 in a topic, and \? as %3F"):
        require_feed("mqtt://host/gas/#")
    with pytest.raises(NoBroker, match="No broker answers"):
        require_feed(f"mqtt://127.0.0.1:{free_port()}")
