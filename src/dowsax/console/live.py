"""The websockets: the newest state of a mission, or of the list, as soon as a client can take it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from dowsax.console import views
from dowsax.console.broadcast import MAX_SUBSCRIBERS, MISSION_LIST, Subscriber
from dowsax.console.records import DAMAGED, FAILED
from dowsax.console.service import Console

_SEND_TIMEOUT_S = 10.0
_MIN_SNAPSHOT_INTERVAL_S, _MIN_LIST_INTERVAL_S = 0.1, 0.5
_TOO_MANY, _NOT_FOUND = 1013, 4404
"""Codes with which a socket is closed."""

Send = Callable[[set[str], list[dict[str, str]]], Awaitable[None]]
"""Sends changes and events to a client."""


def router(console: Console) -> APIRouter:
    routes = APIRouter()

    @routes.websocket("/api/live")
    async def list_live(socket: WebSocket) -> None:
        async def send(changes: set[str], events: list[dict[str, str]]) -> None:
            await _send(socket, {"type": "missions", "missions": views.mission_list(console)})
            await asyncio.sleep(_MIN_LIST_INTERVAL_S)

        await _serve(console, socket, MISSION_LIST, send)

    @routes.websocket("/api/missions/{id}/live")
    async def mission_live(socket: WebSocket, id: str) -> None:
        host = console.missions.get(id)
        if host is None or host.status == DAMAGED:
            await socket.accept()
            await socket.close(_NOT_FOUND, "There is no such mission, or it is damaged.")
            return
        sent = 0

        async def send(changes: set[str], events: list[dict[str, str]]) -> None:
            nonlocal sent
            if host.is_deleted:
                await socket.close(_NOT_FOUND, "The mission was deleted.")
                raise WebSocketDisconnect(_NOT_FOUND)
            if "mission" in changes:
                body = await views.mission_details(console, host)
                await _send(socket, {"type": "mission", "mission": body})
                sent = body["latest"]["number"] if body["latest"] else sent
            latest = host.latest
            if latest is not None and latest["number"] != sent:
                snapshot = await views.latest_snapshot(console, host)
                await _send(socket, {"type": "snapshot", "snapshot": snapshot})
                sent = latest["number"]
            for event in events:
                await _send(socket, {"type": "event", "event": event})
            await asyncio.sleep(_MIN_SNAPSHOT_INTERVAL_S)

        if not host.in_memory and host.status != FAILED:
            # Somebody looks at it, and will probably continue it.
            console.prepare(host)
        await _serve(console, socket, id, send)

    return routes


async def _serve(console: Console, socket: WebSocket, topic: str, send: Send) -> None:
    """Send changes to a client until it leaves or times out."""
    await socket.accept()
    if len(console.broadcaster) >= MAX_SUBSCRIBERS:
        await socket.close(_TOO_MANY, "Too many clients are watching.")
        return
    subscriber = console.broadcaster.subscribe(topic)
    subscriber.notify("mission")
    try:
        await _until_one_ends(_send_changes(subscriber, send), _until_disconnect(socket))
    finally:
        console.broadcaster.unsubscribe(topic, subscriber)
        with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(1.0):
                await socket.close()


async def _send_changes(subscriber: Subscriber, send: Send) -> None:
    with suppress(WebSocketDisconnect, TimeoutError, RuntimeError):
        while True:
            await send(*await subscriber.next_changes())


async def _until_disconnect(socket: WebSocket) -> None:
    """Wait until the client leaves; ignore what it sends."""
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
    async with asyncio.timeout(_SEND_TIMEOUT_S):
        await socket.send_text(text)
