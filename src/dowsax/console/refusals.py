"""Refusals for a page: told in the answer, as a browser notes every status from 400 on as a fault.

Whoever asks with `Dowsax-Refusals: told` gets what the console refuses as an answer of 200, with its status
in `Dowsax-Status`; the body is the same. Everybody else gets the status itself. What is not the console's own
answer to a fair question (no token, too large, a fault of the server) has its status for all.
"""

from collections.abc import Awaitable, Callable
from typing import Any

ASKS, SAYS = b"dowsax-refusals", b"dowsax-status"
"""Names of headers, of the request and of the answer."""
_TOLD = (404, 409, 422, 429)

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Told:
    """An ASGI application that tells the refusals of another to those who ask for that."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["type"] == "http" and (ASKS, b"told") in scope["headers"]
        await self._app(scope, receive, _telling(send) if asked else send)


def _telling(send: Send) -> Send:
    async def sending(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start" and message["status"] in _TOLD:
            said = (SAYS, str(message["status"]).encode())
            message = message | {"status": 200, "headers": [*message.get("headers", ()), said]}
        await send(message)

    return sending
