"""Missions as clients see them."""

import asyncio
from typing import Any

from dowsax.console.hosted import Hosted
from dowsax.console.records import PREPARING
from dowsax.console.service import Console
from dowsax.console.stops import told_of_stops

_FACTS = (
    "area",
    "geofence",
    "no_go",
    "geographic",
    "origin",
    "start",
    "radius",
    "probability",
    "parameters",
    "budget",
    "particles",
)


def item(hosted: "Hosted") -> dict[str, Any]:
    """One line of the list of missions."""
    record = hosted.record
    return {
        "id": record.id,
        "name": record.name,
        "type": record.type,
        "field": record.facts["field"],
        "unit": record.facts["unit"],
        "status": hosted.status,
        "message": hosted.message,
        "alarm": hosted.alarm,
        "preparing": hosted.preparing or hosted.status == PREPARING,
        "readings": hosted.readings,
        "created": record.created,
        "updated": hosted.updated,
        "running": hosted.running,
    }


def listed(console: Console) -> list[dict[str, Any]]:
    """All missions, the newest first."""
    return [item(hosted) for hosted in reversed(console.missions.values())]


async def whole(console: Console, hosted: "Hosted") -> dict[str, Any]:
    """All there is to know of a mission, but not the truth before it is revealed."""
    record = hosted.record
    latest, stops = await asyncio.gather(
        newest(console, hosted),
        asyncio.to_thread(told_of_stops, record, console.store.site_path(record)),
    )
    body = item(hosted) | {name: record.facts[name] for name in _FACTS}
    body |= {
        "policy": record.policy,
        "scenario": record.scenario,
        "seed": record.seed,
        "speed": hosted.speed,
        "frames": hosted.steps,
        "latest": latest,
        "false_stops": stops,
        "source_area": source_area(hosted),
        "events": list(hosted.events),
        "mqtt": None
        if record.feed is None
        else {"readings": record.feed.readings, "advice": record.feed.advice},
    }
    if hosted.revealed:
        body["truth"] = await asyncio.to_thread(hosted.truth)
    return body


async def newest(console: Console, hosted: "Hosted") -> dict[str, Any] | None:
    """The newest frame with particles and regions."""
    latest = hosted.latest
    if latest is None:
        return None
    return await frame(console, hosted, latest["number"])


async def frame(console: Console, hosted: "Hosted", number: int) -> dict[str, Any] | None:
    """The frame of a reading with particles and regions."""
    return await asyncio.to_thread(console.places.frame, hosted.id, number, source_area(hosted))


def source_area(hosted: "Hosted") -> list[list[float]]:
    """The box that the source cannot leave [m]; missions of earlier versions have the area."""
    facts = hosted.record.facts
    return facts.get("source_area", facts["area"])
