"""The server of the console: its socket, its connections, and the address to open.

Uvicorn waits for ever for the rest of a request's head, and each such connection takes one of the files that
the system allows a process. So connections that wait for a request are limited in time and number.
"""

import asyncio
import errno
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowsax.console.access_control import AccessSettings, is_loopback
from dowsax.console.app import build
from dowsax.console.links import FILE, OPERATOR, READER, Links
from dowsax.console.pictures import site_picture
from dowsax.console.service import Console
from dowsax.console.sites import read_limited

_ALL_ADDRESSES = ("0.0.0.0", "::")
_SHUTDOWN_TIMEOUT_S = 5
_MAX_CONNECTIONS = 400
"""More are answered with 503. Many systems allow a process 1,024 files and connections."""
_SWITCH_INTERVAL_S = 5e-4
"""How long a thread may keep Python's interpreter while another waits for it.

Threads need it each time they return from compiled code or the disk, a dozen times a reading. With Python's
default of 5 ms, 50 missions waited for it longer than for all the work.
"""


def access_settings(host: str, port: int, token: str | None) -> AccessSettings:
    """Return the settings for an address; without a token, one is made where the address needs it."""
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    return AccessSettings(host, port, token)


def address_of(access: AccessSettings, port: int, token: str | None = None) -> str:
    """Return the URL to open in a browser, with the token of a link (default: that of the owner)."""
    host = "127.0.0.1" if access.host in _ALL_ADDRESSES else access.host
    shown = f"[{host}]" if ":" in host else host
    token = access.token if token is None else token
    return f"http://{shown}:{port}/" + ("" if token is None else f"?token={token}")


def server_config(application: Callable[..., Awaitable[None]]) -> uvicorn.Config:
    """Return the settings of uvicorn: HTTP and websockets, with limits on connections."""
    return uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        server_header=False,
        http=LimitedProtocol,
        ws="websockets-sansio",
        ws_max_size=4096,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT_S,
    )


def serve(
    access: AccessSettings,
    folder: Path,
    say: Callable[[str], None],
    site: str | None = None,
    file: Path | None = None,
) -> None:
    """Serve the missions of a folder until the program is ended.

    `site` is the text of a site file for which a mission is created, and `file` its path.
    """
    listener = listen(access.host, access.port)
    try:
        if site is not None:
            site_picture(read_limited(site), None if file is None else str(file))
        console = Console(folder, site=site, file=None if file is None else str(file))
        links = Links(folder / FILE)
    except (ValueError, OSError):
        listener.close()
        raise
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    address = address_of(access, listener.getsockname()[1])
    say(f"The console is at {address} (missions in {folder}; Ctrl-C ends it).")
    if access.host in _ALL_ADDRESSES:
        say("From another machine, open it by this machine's own address instead of 127.0.0.1.")
    if access.token is not None:
        links.create_first()
    for line in describe_links(links, access, listener.getsockname()[1]):
        say(line)
    uvicorn.Server(server_config(build(console, access, links))).run([listener])


def describe_links(links: Links, access: AccessSettings, port: int) -> list[str]:
    """Return a line for each link in force: for whom it is, and its address."""
    may = {OPERATOR: "runs missions", READER: "read-only"}
    return [
        f"{link.name or 'A link'} ({may[link.role]}): {address_of(access, port, link.token)}"
        for link in links.all
    ]


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address or a name of this machine.

    A ValueError in one line says whether the address or the port is wrong, and what to give instead.
    """
    family, address = _address(host, port)
    listener = None
    try:
        # With the protocol's name asyncio turns Nagle's algorithm off, which would delay answers by 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Clients that connect before the application is ready wait.
        listener.listen()
    except OSError as error:
        if listener is not None:
            listener.close()
        raise ValueError(_describe_fault(host, port, family, error)) from None
    return listener


def _address(host: str, port: int) -> tuple[socket.AddressFamily, tuple]:
    """Return the family and the address of a host; IPv4 where a name has both."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise ValueError(
            f"{host!r} has no address: give one of this machine as --host, such as 127.0.0.1, and the "
            "port as --port."
        ) from None
    family, _, _, _, address = min(found, key=lambda item: item[0] != socket.AF_INET)
    return family, address


def _describe_fault(host: str, port: int, family: socket.AddressFamily, error: OSError) -> str:
    version = "IPv6" if family == socket.AF_INET6 else "IPv4"
    words = {
        errno.EADDRNOTAVAIL: f"{host} is not an address of this machine: give one of its own as --host, "
        "127.0.0.1 for this machine alone, or 0.0.0.0 for all of its addresses.",
        errno.EADDRINUSE: f"Port {port} is in use on {host}: give another --port, or 0 for any that is free.",
        errno.EACCES: f"Port {port} on {host} is not allowed for this user: give a --port from 1024 on.",
        errno.EAFNOSUPPORT: f"{host} cannot be used: this machine has no {version}; give another --host.",
    }
    other = f"Cannot listen on {host}, port {port} ({error.strerror}): try another --port."
    return words.get(error.errno or 0, other)


class LimitedProtocol(H11Protocol):
    """A connection that waits for a request for a limited time, and as one of a limited number.

    It waits from its start, or from its last answer, until the head of the next request is complete. Requests
    under way and websockets are not limited.
    """

    timeout_s = 15.0
    """[s], for the whole head of a request."""
    max_waiting = 128
    """Connections that may wait; one more closes the one that has waited longest."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._update()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def _update(self) -> None:
        """Start, continue or stop waiting, by the state of the connection."""
        # A websocket has a protocol of its own.
        is_over = self.transport.is_closing() or self.transport.get_protocol() is not self
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_over or is_answering:
            self._stop_waiting()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.timeout_s, self._close)
            self._make_room()

    def _make_room(self) -> None:
        waiting = {
            one: one._deadline.when()
            for one in self.connections
            if isinstance(one, LimitedProtocol) and one._deadline is not None
        }
        if len(waiting) > self.max_waiting:
            min(waiting, key=waiting.__getitem__)._close()

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        """Close the connection once its answers are sent."""
        self._stop_waiting()
        self.transport.close()
