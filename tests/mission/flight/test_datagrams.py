"""UDP: the sender of a packet, and its receivers."""

import socket
from contextlib import closing, contextmanager

import pytest
from pymavlink.dialects.v20 import ardupilotmega as dialect

from dowsax.geo.local import LocalCoordinates
from dowsax.mission.flight.connection import NoAutopilot, connect, wait_for_bytes
from dowsax.mission.flight.datagrams import FORGET_S, Datagrams
from dowsax.mission.flight.events import Heartbeat, Pose
from dowsax.mission.flight.link import Link, Measured

VEHICLE, STRANGER = "127.0.0.1", "127.0.0.2"


@contextmanager
def hosts(*names):
    """A socket of each host, which does not wait."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in names]
    try:
        for one, name in zip(sockets, names, strict=True):
            one.setblocking(False)
            try:
                one.bind((name, 0))
            except OSError:
                pytest.skip(f"{name} is no address of this computer")
        yield sockets
    finally:
        for one in sockets:
            one.close()


def number_of(port):
    return port._socket.getsockname()[1]


class Vehicle:
    """Sends as system 1 from a socket."""

    def __init__(self, end, number):
        self.end, self._to = end, ("127.0.0.1", number)
        self.codec = dialect.MAVLink(self, 1, 1)

    def write(self, data):
        self.end.sendto(data, self._to)

    def say(self, place=0.0, value=1.0):
        """A heartbeat, a position and a reading."""
        self.codec.heartbeat_send(2, 3, 1, 4, 4)
        self.codec.global_position_int_send(0, round(1e7 * (52.1 + place)), 51_000_000, 0, 0, 0, 0, 0, 0)
        self.codec.named_value_float_send(0, b"value", value)


def heard(link, port, now):
    wait_for_bytes(port, 5.0)
    return [*link.receive(now)]


def test_another_host_neither_steers_nor_reads():
    """It has the number of the vehicle, and is reported once. After a long silence it may be the vehicle."""
    with hosts(VEHICLE, STRANGER) as ends, closing(Datagrams("127.0.0.1", 0, listens=True)) as port:
        vehicle, stranger = (Vehicle(end, number_of(port)) for end in ends)
        link = Link(port, LocalCoordinates((52.1, 5.1)), "value")
        vehicle.say()
        assert list(map(type, heard(link, port, 0.0))) == [Heartbeat, Pose, Measured]
        stranger.say(place=0.1, value=9.0)
        (alarm,) = heard(link, port, 1.0)
        assert alarm.is_alarm
        assert alarm.text == (
            "127.0.0.2 sends with the number of this vehicle, which is at 127.0.0.1: that does not count."
        )
        stranger.say()
        assert heard(link, port, FORGET_S - 1.0) == []
        vehicle.say()
        assert list(map(type, heard(link, port, FORGET_S))) == [Heartbeat, Pose, Measured]
        stranger.codec.named_value_float_send(0, b"value", 9.0)
        assert heard(link, port, 2 * FORGET_S) == []
        stranger.say()
        moved, *events = heard(link, port, 2 * FORGET_S)
        assert moved.text == "The autopilot is heard from 127.0.0.2 now."
        assert list(map(type, events)) == [Heartbeat, Pose, Measured]


def test_who_listens_answers_all_until_one_is_its_peer():
    with (
        hosts(VEHICLE, STRANGER) as (vehicle, stranger),
        closing(Datagrams("127.0.0.1", 0, listens=True)) as port,
    ):
        for end, data in ((stranger, b"hello"), (vehicle, b"")):
            end.sendto(data, ("127.0.0.1", number_of(port)))
            wait_for_bytes(port, 5.0)
            # An empty packet is no end of those that wait.
            assert port.recv() == (data or b"\0")
        assert port.sender == VEHICLE
        assert port.recv() == b""
        port.write(b"to all")
        assert [vehicle.recv(9), stranger.recv(9)] == [b"to all", b"to all"]
        port.peer = VEHICLE
        port.write(b"to one")
        assert vehicle.recv(9) == b"to one"
        with pytest.raises(BlockingIOError):
            stranger.recv(9)


def test_who_calls_sends_to_that_address():
    with hosts(VEHICLE) as (vehicle,):
        port = connect(f"udpout:localhost:{vehicle.getsockname()[1]}")
        assert isinstance(port, Datagrams)
        with closing(port):
            port.write(b"hello")
            vehicle.settimeout(5.0)
            data, address = vehicle.recvfrom(9)
            vehicle.sendto(b"here", address)
            wait_for_bytes(port, 5.0)
            assert (data, port.recv(), port.sender) == (b"hello", b"here", VEHICLE)


def test_a_host_without_an_address_is_one_line():
    with pytest.raises(NoAutopilot, match=r"Cannot open udpout:no\.invalid:14550 \(.*\): check it"):
        connect("udpout:no.invalid:14550")
