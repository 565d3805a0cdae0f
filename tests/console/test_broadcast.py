"""Subscribers get the newest state once, never a backlog."""

import asyncio

import pytest


def test_changes_in_between_are_sent_once():
    from dowsax.console.broadcast import Broadcaster

    async def watch():
        broadcaster = Broadcaster()
        subscriber = broadcaster.subscribe("m")
        for number in range(1000):
            broadcaster.publish("m", "snapshot")
            broadcaster.publish("m", "event", {"text": str(number)})
        news, events = await subscriber.next_changes()
        assert news == {"snapshot", "event"}
        # The oldest events are let go, so that a watcher that never asks costs little.
        assert [event["text"] for event in events] == [str(number) for number in range(900, 1000)]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await subscriber.next_changes()

    asyncio.run(watch())


def test_only_subscribers_of_the_mission_and_of_the_list_are_notified():
    from dowsax.console.broadcast import MISSION_LIST, Broadcaster

    async def watch():
        broadcaster = Broadcaster()
        own, other, all_ = map(broadcaster.subscribe, ("m", "n", MISSION_LIST))
        broadcaster.publish("m", "snapshot")
        assert await own.next_changes() == ({"snapshot"}, [])
        assert await all_.next_changes() == ({"mission"}, [])
        broadcaster.unsubscribe("m", own)
        broadcaster.publish("m", "snapshot")
        broadcaster.publish("n", "mission")
        assert await other.next_changes() == ({"mission"}, [])
        assert len(broadcaster) == 2

    asyncio.run(watch())
