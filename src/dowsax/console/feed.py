"""The MQTT feed of a mission: its readings go through the same queue as all others."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, runtime_checkable

from dowsax.console.mission_host import MissionHost
from dowsax.console.scheduler import QueueFull
from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.messages import Request
from dowsax.mission.mqtt import serve_mqtt
from dowsax.mission.plan import Plan

_RETRY_S = 0.2
"""The wait before a full queue is tried again; the broker stores unacknowledged readings."""
_RESTART_S = (1.0, 60.0)
"""The first and the longest wait before a feed is restarted; the wait doubles each time."""


@runtime_checkable
class Queue(Protocol):
    """The queues of a console."""

    def submit(self, host: MissionHost, work: Callable[[int], Any]) -> Future: ...
    async def do(self, host: MissionHost, work: Callable[[int], Any], *, limited: bool = True) -> Any: ...


class Relay:
    """An `AdvisorLike` that passes requests through the queue of the mission."""

    def __init__(self, queue: Queue, host: MissionHost, advisor: Advisor) -> None:
        self._queue, self._host = queue, host
        self._plan, self._latest = advisor.plan, advisor.latest

    @property
    def plan(self) -> Plan:
        return self._plan

    @property
    def latest(self) -> Advice | None:
        return self._latest

    def answer(self, request: Request, given: str) -> Advice:
        advice, _ = self._do(lambda generation: self._host.do_answer(generation, request, given))
        self._latest = advice
        return advice

    def note_refusal(self, given: str, reason: str) -> None:
        def work(generation: int) -> None:
            self._host.do_prepare(generation).note_refusal(given, reason)
            self._host.note("refused", reason)

        self._do(work)

    def _do(self, work):
        """Wait for a place in the queue, then for the result; on a thread of the feed."""
        while True:
            try:
                return self._queue.submit(self._host, work).result()
            except QueueFull:
                time.sleep(_RETRY_S)


async def listen(queue: Queue, host: MissionHost) -> None:
    """Read from the broker while the console runs; restart after any failure."""
    feed, wait = host.record.feed, _RESTART_S[0]
    assert feed is not None
    while not host.is_deleted:
        try:
            advisor = await queue.do(host, host.do_prepare, limited=False)
            relay, channels = Relay(queue, host, advisor), (feed.readings, feed.advice)
            await serve_mqtt(relay, feed.url, host.set_feed_state, channels, f"dowsax-{host.id}")
        except Exception as error:
            if not host.is_deleted:
                host.set_feed_state(f"The feed has ended ({error}): it is restarted in {wait:g} s.", False)
        await asyncio.sleep(wait)
        wait = min(2 * wait, _RESTART_S[1])
