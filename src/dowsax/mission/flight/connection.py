"""The way to an autopilot: its address, and bytes from it and to it."""

from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from dowsax.extras import require_extra

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
            device, _, baud = rest.partition(":")
            if not device:
                raise ValueError("no device")
            return device, int(baud or _BAUD)
        if scheme not in _NETWORK:
            raise ValueError("no such kind of connection")
        parts = urlsplit(f"//{rest}")
        host, port = parts.hostname or "0.0.0.0", parts.port or _DEFAULT_PORT
    except ValueError as error:
        raise ValueError(
            f"Not an address of an autopilot: {text!r} ({error}); give one such as {_FORMS}."
        ) from None
    return f"{'udpin' if scheme == 'udp' else scheme}:{host}:{port}", _BAUD


def connect(address: str) -> Any:
    """Open the way to an autopilot; a ConnectionError in one line where that fails."""
    require_mavlink()
    from pymavlink import mavutil

    name, baud = parse_address(address)
    try:
        return mavutil.mavlink_connection(name, baud=baud, autoreconnect=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoAutopilot(
            f"Cannot open {address} ({reason}): check it, and whether another program has it."
        ) from None
