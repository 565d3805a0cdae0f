"""Addresses of autopilots, and connections that are lost."""

import os
import socket

import pytest
from pymavlink.dialects.v20 import ardupilotmega as dialect

from dowsax.extras import MissingExtra
from dowsax.geo.local import LocalCoordinates
from dowsax.mission.flight.connection import NoAutopilot, connect, parse_address, wait_for_bytes
from dowsax.mission.flight.link import Link

BY_PATH = "/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("udpin:0.0.0.0:14550", ("udpin:0.0.0.0:14550", 57_600)),
        ("udpin://0.0.0.0:14551", ("udpin:0.0.0.0:14551", 57_600)),
        ("udp://:14540", ("udpin:0.0.0.0:14540", 57_600)),
        ("udpout:10.0.0.7", ("udpout:10.0.0.7:14550", 57_600)),
        ("tcp://127.0.0.1:5760", ("tcp:127.0.0.1:5760", 57_600)),
        ("serial:///dev/ttyUSB0:115200", ("/dev/ttyUSB0", 115_200)),
        ("serial:/dev/ttyACM0", ("/dev/ttyACM0", 57_600)),
        (f"serial:{BY_PATH}:115200", (BY_PATH, 115_200)),
        (f"serial:{BY_PATH}", (BY_PATH, 57_600)),
    ],
)
def test_spellings_of_an_address(text, address):
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "14550",
        "http://x",
        "udpin:host:port",
        "serial:",
        "serial:/dev/a:b",
        "serial::9600",
        "udpin:h:99999",
    ],
)
def test_other_texts_are_refused_in_one_line(text):
    with pytest.raises(ValueError, match=r"Not an address of an autopilot: .*; give one such as udpin:"):
        parse_address(text)


def test_an_address_that_is_of_no_interface_here_is_one_line():
    with pytest.raises(NoAutopilot, match=r"Cannot open udpin:203\.0\.113\.1:14550 \(.*\): check it"):
        connect("udpin:203.0.113.1:14550")


def test_a_tcp_connection_that_ends_is_made_again():
    """Neither the end nor a refused attempt is an error, and nothing waits for long."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        port = connect(f"tcp:127.0.0.1:{number}")
        link = Link(port, LocalCoordinates((52.1, 5.1)), "value")
        peer, _ = server.accept()
        peer.close()
    try:
        for step in range(5):
            assert [*link.receive(float(step)), *link.tick(float(step))] == []
            wait_for_bytes(port, 0.01)
        with socket.create_server(("127.0.0.1", number)) as server:
            server.settimeout(10.0)
            assert [*link.receive(9.0)] == []
            peer, _ = server.accept()
            with peer:
                dialect.MAVLink(peer.makefile("wb", buffering=0), 1, 1).heartbeat_send(2, 3, 1, 4, 4)
                wait_for_bytes(port, 5.0)
                assert [one.mode for one in link.receive(10.0)] == ["guided"]
    finally:
        port.close()


def test_a_serial_line_may_have_colons_in_its_name(tmp_path):
    pytest.importorskip("serial")
    vehicle, ours = os.openpty()
    link = tmp_path / "pci-0000:00:14.0-usb-0:1:1.0-port0"
    link.symlink_to(os.ttyname(ours))
    port = connect(f"serial:{link}:115200")
    try:
        os.write(vehicle, b"value")
        wait_for_bytes(port, 5.0)
        assert port.recv(5) == b"value"
    finally:
        port.close()
        os.close(vehicle)
        os.close(ours)


def test_a_serial_line_without_its_module_is_one_line(monkeypatch):
    monkeypatch.setattr("dowsax.extras._is_installed", lambda module: module != "serial")
    with pytest.raises(MissingExtra, match=r"A serial line needs the extra `serial`: pip install"):
        connect("serial:/dev/ttyUSB0:57600")
