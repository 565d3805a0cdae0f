"""HTTP connections whose client does not send a whole request: closed after a while, and few at a time.

Uvicorn waits for ever for the rest of a request line or of headers, and each such connection takes one of the
files that the system lets a program have. A request under way is not limited here, nor is a websocket.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class LimitedProtocol(H11Protocol):
    """A connection that waits for a request for a limited time, and as one of a limited number.

    It waits from the time it is made, or has answered a request, until the head of the next one is complete.
    """

    timeout_s = 15.0
    """[s], for the whole head of a request, however it comes."""
    max_waiting = 128
    """Connections that wait at a time; the one that has waited longest makes room for another."""

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
        """Begin to wait, go on, or stop, by what the connection does now."""
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
        """Close the connection once all that was answered is sent."""
        self._stop_waiting()
        self.transport.close()
