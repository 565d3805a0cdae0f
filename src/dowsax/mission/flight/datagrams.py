"""A port of UDP: packets and their senders."""

import socket
import time
from contextlib import suppress
from typing import Any

FORGET_S = 60.0
"""A sender that has been silent for so long gets no more answers."""
_MAX_SENDERS = 32
_MAX_PACKET = 65_535


class Datagrams:
    """A port of UDP, of which each packet has a sender.

    One that listens answers those who have sent something of late; once `peer` is set, that host alone.
    """

    def __init__(self, host: str, number: int, *, listens: bool) -> None:
        self.peer: str | None = None
        """The host of the autopilot."""
        self.sender = ""
        """The host from which the newest packet came."""
        self._senders: dict[tuple[str, int], float] = {}
        """When each was last heard [s], the newest last."""
        self._to = None if listens else (socket.gethostbyname(host), number)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            if listens:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, number) if listens else ("", 0))
        except OSError:
            self._socket.close()
            raise
        self.fd = self._socket.fileno()

    @property
    def is_from_peer(self) -> bool:
        """Whether the newest packet may be of the autopilot."""
        return self.peer in (None, self.sender)

    def recv(self, n: int | None = None) -> bytes:
        """Return the next packet; nothing where none has come."""
        try:
            data, address = self._socket.recvfrom(_MAX_PACKET if n is None else n)
        except (BlockingIOError, ConnectionRefusedError):
            return b""
        self.sender = address[0]
        if self._to is None and self.is_from_peer:
            self._senders.pop(address, None)
            self._senders[address] = time.monotonic()
            if len(self._senders) > _MAX_SENDERS:
                del self._senders[next(iter(self._senders))]
        # An empty packet is no end of those that wait.
        return data or b"\0"

    def write(self, buf: Any) -> None:
        """Send a packet, which may be lost."""
        for address in self._receivers() if self._to is None else [self._to]:
            with suppress(OSError):
                self._socket.sendto(buf, address)

    def close(self) -> None:
        self._socket.close()

    def _receivers(self) -> list[tuple[str, int]]:
        """Return those that were heard of late, or at least the newest one."""
        known = [address for address in self._senders if self.peer in (None, address[0])]
        begin = time.monotonic() - FORGET_S
        return [address for address in known if self._senders[address] >= begin] or known[-1:]
