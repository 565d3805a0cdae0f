"""Events to subscribers, each at its own pace.

A subscriber gets the newest state when it can take it, and skips what lies between. So a slow one costs the
others nothing.
"""

import asyncio
from collections import deque
from typing import Any

MAX_SUBSCRIBERS = 200
_MAX_WAITING_EVENTS = 100
"""For one subscriber; the oldest are dropped."""
MISSION_LIST = ""
"""The topic of the list of missions; the other topics are ids of missions."""


class Subscriber:
    """The changes that one client has not received yet."""

    def __init__(self) -> None:
        self._changes: set[str] = set()
        self._events: deque[dict[str, str]] = deque(maxlen=_MAX_WAITING_EVENTS)
        self._wake = asyncio.Event()

    def notify(self, what: str, event: dict[str, str] | None = None) -> None:
        """Add a change of the `mission` or its `snapshot`, or an `event`."""
        if event is not None:
            self._events.append(event)
        self._changes.add(what)
        self._wake.set()

    async def next_changes(self) -> tuple[set[str], list[dict[str, Any]]]:
        """Wait for changes; return them and the events since the last call."""
        await self._wake.wait()
        self._wake.clear()
        changes, events = self._changes, list(self._events)
        self._changes = set()
        self._events.clear()
        return changes, events


class Broadcaster:
    """Subscribers by topic. Only for the thread of the event loop."""

    def __init__(self) -> None:
        self._subscribers: dict[str, set[Subscriber]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._subscribers.values()))

    def subscribe(self, topic: str) -> Subscriber:
        subscriber = Subscriber()
        self._subscribers.setdefault(topic, set()).add(subscriber)
        return subscriber

    def unsubscribe(self, topic: str, subscriber: Subscriber) -> None:
        self._subscribers[topic].discard(subscriber)
        if not self._subscribers[topic]:
            del self._subscribers[topic]

    def publish(self, topic: str, what: str, event: dict[str, str] | None = None) -> None:
        """Notify the subscribers of a mission, and of the list of missions."""
        for subscriber in self._subscribers.get(topic, ()):
            subscriber.notify(what, event)
        for subscriber in self._subscribers.get(MISSION_LIST, ()):
            subscriber.notify("mission")
