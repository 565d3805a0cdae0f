"""The sockets: the newest state of a mission, or of the list of missions, as soon as a client can take it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from dowsax.console import views
from dowsax.console.hub import ALL, MOST_WATCHERS, Watcher
from dowsax.console.records import DAMAGED, FAILED
from dowsax.console.service import Console

_PATIENCE = 10.0
"""[s], in which a client has to take what it is sent."""
_FRAMES_APART, _LISTS_APART = 0.1, 0.5
"""[s], at least, between two of them."""
_TOO_MANY, _NONE = 1013, 4404
"""Codes with which a socket is closed."""


def router(console: Console) -> APIRouter:
    routes = APIRouter()

    @routes.websocket("/api/live")
    async def list_live(socket: WebSocket) -> None:
        async def tell(news: set[str], events: list[dict[str, str]]) -> None:
            await _send(socket, {"type": "missions", "missions": views.listed(console)})
            await asyncio.sleep(_LISTS_APART)

        await _watch(console, socket, ALL, tell)

    @routes.websocket("/api/missions/{id}/live")
    async def mission_live(socket: WebSocket, id: str) -> None:
        hosted = console.missions.get(id)
        if hosted is None or hosted.status == DAMAGED:
            await socket.accept()
            await socket.close(_NONE, "There is no such mission, or it is damaged.")
            return
        sent = 0

        async def tell(news: set[str], events: list[dict[str, str]]) -> None:
            nonlocal sent
            if hosted.gone:
                await socket.close(_NONE, "The mission was deleted.")
                raise WebSocketDisconnect(_NONE)
            if "mission" in news:
                body = await views.whole(console, hosted)
                await _send(socket, {"type": "mission", "mission": body})
                sent = body["latest"]["number"] if body["latest"] else sent
            newest = hosted.latest
            if newest is not None and newest["number"] != sent:
                frame = await views.newest(console, hosted)
                await _send(socket, {"type": "frame", "frame": frame})
                sent = newest["number"]
            for event in events:
                await _send(socket, {"type": "event", "event": event})
            await asyncio.sleep(_FRAMES_APART)

        if not hosted.in_memory and hosted.status != FAILED:
            # Somebody looks at it, and will want to go on.
            console.prepare(hosted)
        await _watch(console, socket, id, tell)

    return routes


async def _watch(
    console: Console,
    socket: WebSocket,
    topic: str,
    tell: Callable[[set[str], list[dict[str, str]]], Awaitable[None]],
) -> None:
    """Tell a client what is new until it goes, or does not take it."""
    await socket.accept()
    if len(console.hub) >= MOST_WATCHERS:
        await socket.close(_TOO_MANY, "Too many are watching.")
        return
    watcher = console.hub.join(topic)
    watcher.tell("mission")
    try:
        await _until_one_ends(_telling(watcher, tell), _listening(socket))
    finally:
        console.hub.leave(topic, watcher)
        with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(1.0):
                await socket.close()


async def _telling(
    watcher: Watcher, tell: Callable[[set[str], list[dict[str, str]]], Awaitable[None]]
) -> None:
    with suppress(WebSocketDisconnect, TimeoutError, RuntimeError):
        while True:
            await tell(*await watcher.news())


async def _listening(socket: WebSocket) -> None:
    """Until the client goes. What it says is not asked for."""
    with suppress(WebSocketDisconnect, RuntimeError):
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass


async def _until_one_ends(*works: Any) -> None:
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _send(socket: WebSocket, body: dict[str, Any]) -> None:
    text = json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    async with asyncio.timeout(_PATIENCE):
        await socket.send_text(text)
