"""Who is watching, and what each has not been told yet.

A watcher is told the newest state when it can take it, never what lies between: so one that is slow costs
the others nothing, and one that is dead is let go.
"""

import asyncio
from collections import deque
from typing import Any

MOST_WATCHERS = 200
_EVENTS = 100
"""That wait for one watcher at most; the oldest are let go."""
ALL = ""
"""The topic of the list of missions; the others are ids of missions."""


class Watcher:
    """What one client is to be told next."""

    def __init__(self) -> None:
        self._news: set[str] = set()
        self._events: deque[dict[str, str]] = deque(maxlen=_EVENTS)
        self._wake = asyncio.Event()

    def tell(self, what: str, event: dict[str, str] | None = None) -> None:
        """`mission` or `frame` has changed, or an event has happened."""
        if event is not None:
            self._events.append(event)
        self._news.add(what)
        self._wake.set()

    async def news(self) -> tuple[set[str], list[dict[str, Any]]]:
        """Wait until there is something; what has changed, and the events, since this was last asked."""
        await self._wake.wait()
        self._wake.clear()
        news, events = self._news, list(self._events)
        self._news = set()
        self._events.clear()
        return news, events


class Hub:
    """The watchers by topic. For the thread of the event loop alone."""

    def __init__(self) -> None:
        self._watchers: dict[str, set[Watcher]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._watchers.values()))

    def join(self, topic: str) -> Watcher:
        watcher = Watcher()
        self._watchers.setdefault(topic, set()).add(watcher)
        return watcher

    def leave(self, topic: str, watcher: Watcher) -> None:
        self._watchers[topic].discard(watcher)
        if not self._watchers[topic]:
            del self._watchers[topic]

    def publish(self, topic: str, what: str, event: dict[str, str] | None = None) -> None:
        """Something has changed in a mission, and so in the list of them."""
        for watcher in self._watchers.get(topic, ()):
            watcher.tell(what, event)
        for watcher in self._watchers.get(ALL, ()):
            watcher.tell("mission")
