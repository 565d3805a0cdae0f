"""The live feed of a mission: readings from an MQTT broker, through the same queue as all others."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, runtime_checkable

from dowsax.console.hosted import Hosted
from dowsax.console.scheduler import Full
from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.mqtt import serve_mqtt
from dowsax.mission.plan import Plan
from dowsax.mission.requests import Request

_PAUSE_S = 0.2
"""Until a full queue is tried again: the broker keeps what is not acknowledged."""
_RESTART_S = (1.0, 60.0)
"""The first wait before a feed that has ended begins again and the longest; each is twice the one before."""


@runtime_checkable
class Queue(Protocol):
    """The work of a console, done mission by mission."""

    def submit(self, hosted: Hosted, work: Callable[[int], Any]) -> Future: ...
    async def do(self, hosted: Hosted, work: Callable[[int], Any], *, limited: bool = True) -> Any: ...


class Relay:
    """What `mission.answers` takes for an advisor: it waits in the mission's queue like everybody else."""

    def __init__(self, queue: Queue, hosted: Hosted, advisor: Advisor) -> None:
        self._queue, self._hosted = queue, hosted
        self._plan, self._latest = advisor.plan, advisor.latest

    @property
    def plan(self) -> Plan:
        return self._plan

    @property
    def latest(self) -> Advice | None:
        return self._latest

    def answer(self, request: Request, given: str) -> Advice:
        advice, _ = self._done(lambda generation: self._hosted.do_answer(generation, request, given))
        self._latest = advice
        return advice

    def note_refusal(self, given: str, reason: str) -> None:
        def work(generation: int) -> None:
            self._hosted.do_prepare(generation).note_refusal(given, reason)
            self._hosted.note("refused", reason)

        self._done(work)

    def _done(self, work):
        """Wait for a place in the queue, and then for the work; on a thread of the feed."""
        while True:
            try:
                return self._queue.submit(self._hosted, work).result()
            except Full:
                time.sleep(_PAUSE_S)


async def listen(queue: Queue, hosted: Hosted) -> None:
    """Take readings from the broker for as long as the console runs; whatever ends it, it begins again."""
    feed, wait = hosted.record.feed, _RESTART_S[0]
    assert feed is not None
    while not hosted.gone:
        try:
            advisor = await queue.do(hosted, hosted.do_prepare, limited=False)
            relay, channels = Relay(queue, hosted, advisor), (feed.readings, feed.advice)
            await serve_mqtt(relay, feed.url, hosted.feed_changed, channels, f"dowsax-{hosted.id}")
        except Exception as error:
            if not hosted.gone:
                hosted.feed_changed(f"The feed has ended ({error}): it is begun again in {wait:g} s.", False)
        await asyncio.sleep(wait)
        wait = min(2 * wait, _RESTART_S[1])
