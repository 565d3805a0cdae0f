"""The live feed of a mission: readings from an MQTT broker, through the same queue as all others."""

import time
from typing import TYPE_CHECKING

from dowsax.console.scheduler import Full

if TYPE_CHECKING:
    from dowsax.console.hosted import Hosted
    from dowsax.console.service import Console
    from dowsax.mission.advice import Advice
    from dowsax.mission.advisor import Advisor
    from dowsax.mission.plan import Plan
    from dowsax.mission.reading import Reading

_PAUSE = 0.2
"""[s], until a full queue is tried again: the broker keeps what is not acknowledged."""


class Relay:
    """What `mission.links` takes for an advisor: it waits in the mission's queue like everybody else."""

    def __init__(self, console: "Console", hosted: "Hosted", advisor: "Advisor") -> None:
        self._console, self._hosted = console, hosted
        self._plan, self._latest = advisor.plan, advisor.latest

    @property
    def plan(self) -> "Plan":
        return self._plan

    @property
    def latest(self) -> "Advice | None":
        return self._latest

    def take(self, reading: "Reading", given: str = "") -> "Advice":
        advice, _ = self._done(lambda generation: self._hosted.do_take(generation, reading, given))
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
                return self._console.submit(self._hosted, work).result()
            except Full:
                time.sleep(_PAUSE)


async def listen(console: "Console", hosted: "Hosted") -> None:
    """Take readings from the broker for as long as the console runs."""
    from dowsax.mission.links import serve_mqtt

    feed = hosted.record.feed
    assert feed is not None
    try:
        advisor = await console.do(hosted, hosted.do_prepare, limited=False)
        relay = Relay(console, hosted, advisor)
        channels = (feed.readings, feed.advice)
        await serve_mqtt(
            relay, feed.url, lambda words: hosted.note("feed", words), channels, f"dowsax-{hosted.id}"
        )
    except (ValueError, OSError) as error:
        hosted.note("feed", f"The feed has ended: {error}")
