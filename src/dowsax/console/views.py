"""Missions as clients see them."""

import asyncio
from typing import Any

from dowsax.console.display_units import display_units
from dowsax.console.mission_host import MissionHost
from dowsax.console.records import PREPARING
from dowsax.console.service import Console
from dowsax.console.stop_statistics import stop_statistics
from dowsax.geo.local import LocalCoordinates

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
_LATER_FACTS = ("heights", "ground", "holds_wind")
"""Logs of earlier versions have none."""
MAX_WIND_AGE_S = 600.0
"""After which a person should confirm the wind of an earlier reading: it turns and freshens in minutes."""


def list_item(host: MissionHost) -> dict[str, Any]:
    """Return a mission as an item of the list."""
    record = host.record
    return {
        "id": record.id,
        "name": record.name,
        "type": record.type,
        "field": record.facts["field"],
        "unit": record.facts["unit"],
        "status": host.status,
        "message": host.message,
        "alarm": host.alarm,
        "preparing": host.preparing or host.status == PREPARING,
        "readings": host.readings,
        "snapshots": host.steps,
        "has_feed": record.feed is not None,
        "created": record.created,
        "updated": host.updated,
        "running": host.running,
    }


def mission_list(console: Console) -> list[dict[str, Any]]:
    """Return all missions, the newest first."""
    return [list_item(host) for host in reversed(console.missions.values())]


async def mission_details(console: Console, host: MissionHost) -> dict[str, Any]:
    """Return everything about a mission; the truth only after it was revealed."""
    record = host.record
    latest, stops = await asyncio.gather(
        latest_snapshot(console, host),
        asyncio.to_thread(stop_statistics, record, console.store.site_path(record)),
    )
    feed = record.feed
    body = list_item(host) | {name: record.facts[name] for name in _FACTS}
    # Logs of earlier versions have none.
    body |= {name: record.facts.get(name, []) for name in ("quantities", "paths", "obstacles", "searchers")}
    body |= {name: record.facts[name] for name in _LATER_FACTS if name in record.facts}
    body |= {
        "measures": record.facts.get("measures"),
        "max_wind_age": MAX_WIND_AGE_S,
        "units": display_units(record.facts["unit"], record.facts.get("gas")),
        "range_limit": record.facts.get("range_limit"),
        "picture": record.facts.get("picture"),
        "policy": record.policy,
        "scenario": record.scenario,
        "seed": record.seed,
        "speed": host.speed,
        "latest": latest,
        "false_stops": stops,
        "source_area": source_area(host),
        "events": list(host.events),
        "mqtt": None if feed is None else {"readings": feed.readings, "advice": feed.advice},
    }
    if host.is_revealed:
        body["truth"] = await asyncio.to_thread(host.truth)
    return body


async def latest_snapshot(console: Console, host: MissionHost) -> dict[str, Any] | None:
    """Return the newest snapshot with particles and regions."""
    latest = host.latest
    return None if latest is None else await snapshot(console, host, latest["number"])


async def snapshot(console: Console, host: MissionHost, number: int) -> dict[str, Any] | None:
    """Return the snapshot of a step with particles and regions."""
    origin = host.record.facts.get("origin")
    coordinates = LocalCoordinates(None if origin is None else tuple(origin))
    get = console.snapshot_cache.get
    return await asyncio.to_thread(get, host.id, number, source_area(host), coordinates)


def source_area(host: MissionHost) -> list[list[float]]:
    """Return the box in which the source lies [m]; records of earlier versions have only the area."""
    facts = host.record.facts
    return facts.get("source_area", facts["area"])
