"""What a watcher is told: the newest state once, never a backlog."""

import asyncio

import pytest


def test_what_came_in_between_is_told_once():
    from dowsax.console.hub import Hub

    async def watch():
        hub = Hub()
        watcher = hub.join("m")
        for number in range(1000):
            hub.publish("m", "frame")
            hub.publish("m", "event", {"text": str(number)})
        news, events = await watcher.news()
        assert news == {"frame", "event"}
        # The oldest events are let go, so that a watcher that never asks costs little.
        assert [event["text"] for event in events] == [str(number) for number in range(900, 1000)]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await watcher.news()

    asyncio.run(watch())


def test_only_its_own_mission_and_the_list_are_told():
    from dowsax.console.hub import ALL, Hub

    async def watch():
        hub = Hub()
        own, other, all_ = hub.join("m"), hub.join("n"), hub.join(ALL)
        hub.publish("m", "frame")
        assert await own.news() == ({"frame"}, [])
        assert await all_.news() == ({"mission"}, [])
        hub.leave("m", own)
        hub.publish("m", "frame")
        hub.publish("n", "mission")
        assert await other.news() == ({"mission"}, [])
        assert len(hub) == 2

    asyncio.run(watch())
