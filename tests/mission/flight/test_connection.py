"""Addresses of autopilots."""

import pytest

from dowsax.mission.flight.connection import NoAutopilot, connect, parse_address


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
    ],
)
def test_spellings_of_an_address(text, address):
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "14550", "http://x", "udpin:host:port", "serial:", "udpin:h:99999"])
def test_other_texts_are_refused_in_one_line(text):
    with pytest.raises(ValueError, match=r"Not an address of an autopilot: .*; give one such as udpin:"):
        parse_address(text)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_address_that_is_of_no_interface_here_is_one_line():
    with pytest.raises(NoAutopilot, match=r"Cannot open udpin:203\.0\.113\.1:14550 \(.*\): check it"):
        connect("udpin:203.0.113.1:14550")
