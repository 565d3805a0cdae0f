"""The way to an autopilot: its address, and bytes from it and to it."""

import select
import time
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from dowsax.extras import require_extra
from dowsax.mission.flight.datagrams import Datagrams

_DEFAULT_PORT = 14550
_BAUD = 57_600
_FORMS = "udpin:0.0.0.0:14550, udpout:192.168.1.5:14550, tcp:127.0.0.1:5760 or serial:/dev/ttyUSB0:57600"
_NETWORK = ("udpin", "udpout", "udp", "tcp", "tcpin")


class NoAutopilot(ConnectionError):
    """Nothing at an address speaks MAVLink."""


@runtime_checkable
class Port(Protocol):
    """Bytes from an autopilot and to it; never waits."""

    def recv(self, n: int | None = None) -> bytes | str: ...
    def write(self, buf: Any) -> Any: ...


def require_mavlink():
    """Return pymavlink's dialect of ArduPilot, which has all common messages; or raise `MissingExtra`."""
    require_extra("mavlink", "MAVLink")
    from pymavlink.dialects.v20 import ardupilotmega

    return ardupilotmega


def parse_address(text: str) -> tuple[str, int]:
    """Return an address as pymavlink writes it, and the baud rate of a serial line.

    `udpin:host:port` and `udpin://host:port` are the same; `udp` listens as `udpin` does.
    """
    scheme, _, rest = text.partition(":")
    rest = rest.removeprefix("//")
    try:
        if scheme == "serial":
            return parse_serial(rest, _BAUD)
        if scheme not in _NETWORK:
            raise ValueError("no such kind of connection")
        parts = urlsplit(f"//{rest}")
        host, port = parts.hostname or "0.0.0.0", parts.port or _DEFAULT_PORT
    except ValueError as error:
        raise ValueError(
            f"Not an address of an autopilot: {text!r} ({error}); give one such as {_FORMS}."
        ) from None
    return f"{'udpin' if scheme == 'udp' else scheme}:{host}:{port}", _BAUD


def parse_serial(text: str, baud: int) -> tuple[str, int]:
    """Return device and baud rate of `/dev/ttyUSB0:57600`; a ValueError where it is none.

    A device by its path has colons of its own, and ends as `-usb-0:1:1.0` does.
    """
    device, colon, given = text.rpartition(":")
    if not colon or "." in given:
        device, given = text, ""
    if not device:
        raise ValueError("no device")
    return device, int(given or baud)


def require_serial():
    """Return the module of pyserial; raise `MissingExtra` where it is not installed."""
    require_extra("serial", "A serial line")
    import serial

    return serial


def connect(address: str) -> Any:
    """Open the way to an autopilot; a ConnectionError in one line where that fails."""
    require_mavlink()
    is_serial = address.startswith("serial:")
    if is_serial:
        require_serial()
    from pymavlink import mavutil

    name, baud = parse_address(address)
    try:
        # Once and at once: what is lost is tried again at each step.
        if is_serial:
            # By its name alone, one with a colon would be taken for a network address.
            return mavutil.mavserial(name, baud, autoreconnect=True)
        scheme, _, rest = name.partition(":")
        if scheme.startswith("udp"):
            host, _, number = rest.rpartition(":")
            return Datagrams(host, int(number), listens=scheme == "udpin")
        return mavutil.mavlink_connection(name, autoreconnect=True, retries=1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoAutopilot(
            f"Cannot open {address} ({reason}): check it, and whether another program has it."
        ) from None


def wait_for_bytes(port: Any, seconds: float) -> None:
    """Wait until a port has something to read, for a time [s] at most."""
    try:
        select.select([port.fd], [], [], seconds)
    except (OSError, TypeError, ValueError):
        # It has no descriptor, or is closed until the connection is back.
        time.sleep(seconds)
