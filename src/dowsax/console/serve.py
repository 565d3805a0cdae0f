"""Start the console, and say where it is."""

import secrets
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvicorn

from dowsax.console.app import build
from dowsax.console.guard import Door, is_loopback
from dowsax.console.listener import listen
from dowsax.console.service import Console
from dowsax.console.sites import read_limited
from dowsax.console.slow_clients import LimitedProtocol

_EVERYWHERE = ("0.0.0.0", "::")
_GRACE = 5
"""[s], for requests under way when the console is closed."""
_MAX_CONNECTIONS = 400
"""Beyond it a request is answered with 503. Many systems let a program have 1,024 files and connections."""
_HANDOVER = 5e-4
"""[s], how long a thread may keep the interpreter while another waits for it.

Threads ask for it each time they come back from compiled code or the disk, a dozen times a reading. With
Python's own 5 ms, 50 missions waited for that longer than for all the work, seconds behind on a slow machine.
"""


def door_of(host: str, port: int, token: str | None) -> Door:
    """The door for an address: one that is not loopback gets a token where none is given."""
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    return Door(host, port, token)


def address_of(door: Door, port: int) -> str:
    """What to open in a browser."""
    host = "127.0.0.1" if door.host in _EVERYWHERE else door.host
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + ("" if door.token is None else f"?token={door.token}")


def server_config(application: Callable[..., Awaitable[None]]) -> uvicorn.Config:
    """How an application is served: by HTTP and websockets, with a limit on what a client may hold."""
    return uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        server_header=False,
        http=LimitedProtocol,
        ws="websockets-sansio",
        ws_max_size=4096,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE,
    )


def serve(
    door: Door, folder: Path, say: Callable[[str], None], site: str | None = None, file: Path | None = None
) -> None:
    """Serve the missions of a folder until the program is ended.

    `site` is the text of a site file at which a mission is begun at once, and `file` where it was read.
    """
    listener = listen(door.host, door.port)
    try:
        if site is not None:
            read_limited(site)
        console = Console(folder, site=site, file=None if file is None else str(file))
    except (ValueError, OSError):
        listener.close()
        raise
    sys.setswitchinterval(_HANDOVER)
    address = address_of(door, listener.getsockname()[1])
    say(f"The console is at {address} (missions in {folder}; Ctrl-C ends it).")
    if door.host in _EVERYWHERE:
        say("From another machine, open it by this machine's own address instead of 127.0.0.1.")
    uvicorn.Server(server_config(build(console, door))).run([listener])
