"""Sites in the console: limits on their size, and their facts for a map."""

from typing import Any

from dowsax.mission.plan import Plan
from dowsax.mission.site_policy import SitePolicy
from dowsax.mission.stop_statistics import FalseStops, StandardStops, find_false_stops, find_standard_stops
from dowsax.report.findings import TRACK_COLOURS
from dowsax.site import Site, parse_site
from dowsax.site.describe import describe_site
from dowsax.site.measured import unit_of_quantity

MAX_PARTICLES = 20_000
MAX_DIRECTIONS = 64
MAX_POINTS = 1000
MAX_SENSORS = 32
_MAX_NAME_LENGTH = 80


def read_limited(text: str) -> Site:
    """Parse a site file, or a ValueError in one line; also where it would need too much memory."""
    site = parse_site(text, "site.toml")
    limits = {
        "particles in [search]": (site.search.particles or 0, MAX_PARTICLES),
        "directions in [step]": (site.step.directions, MAX_DIRECTIONS),
        "points in [step]": (0 if site.step.points is None else len(site.step.points), MAX_POINTS),
        "names in [sensor]": (len(site.sensor.names), MAX_SENSORS),
        "letters in name": (len(site.name), _MAX_NAME_LENGTH),
    }
    for what, (number, most) in limits.items():
        if number > most:
            raise ValueError(f"site.toml: {number} {what}; {most} is the most.")
    return site


def check_site(text: str) -> dict[str, Any]:
    """Return what a site file says, in numbers and as text; or a ValueError in one line."""
    site = read_limited(text)
    sections = [{"heading": heading, "text": sentence} for heading, sentence in describe_site(site)]
    return {"name": site.name, "kind": site.kind} | _outline(site) | {"description": sections}


def facts_of(site: Site, plan: Plan, policy: SitePolicy) -> dict[str, Any]:
    """Return what a map and its legend need of a site, as JSON; stored in the record of a mission."""
    statistics = {
        "false_stops": find_false_stops(plan, policy.name),
        "standard_stops": find_standard_stops(plan, policy.name),
    }
    return _outline(site) | {
        "start": list(plan.start or plan.middle),
        "searchers": _searchers(plan),
        "heights": [level.height for level in plan.reach.levels],
        "ground": plan.stations.sensor.ground,
        "measures": list(plan.stations.names),
        "holds_wind": plan.stations.hold_wind,
        "range_limit": None if site.sensor.range_directions is None else site.sensor.range_limit,
        "policy": policy.name,
        "particles": plan.preset.config.num_particles,
        "filter": plan.filter_name,
        "quantities": [
            {"name": name, "unit": unit_of_quantity(name, plan.unit).replace("deg", "°")}
            for name in plan.stations.quantities
        ],
        "parameters": [
            {"name": item.name, "label": item.meaning or item.name, "unit": item.unit}
            for item in plan.model.prior.parameters
        ],
        **{name: None if stops is None else _numbers_of(stops) for name, stops in statistics.items()},
    }


def _numbers_of(stops: FalseStops | StandardStops) -> dict[str, Any]:
    numbers = {name: getattr(stops, name) for name in ("rate", "low", "high", "stops")}
    return numbers | {"sentence": stops.sentence()}


def _searchers(plan: Plan) -> list[dict[str, Any]]:
    """Return name, start and colour of each of several searchers."""
    plans = {name: plan.for_searcher(name) for name in plan.searchers}
    return [
        {
            "name": name,
            "start": list(own.start or own.middle),
            "heights": [level.height for level in own.reach.levels],
            "colour": TRACK_COLOURS[number % len(TRACK_COLOURS)],
        }
        for number, (name, own) in enumerate(plans.items())
    ]


def _outline(site: Site) -> dict[str, Any]:
    """Return what the site file itself says."""
    return {
        "site_name": site.name,
        "field": site.kind,
        "unit": site.unit,
        "gas": site.gas,
        "area": [list(site.low), list(site.high)],
        "source_area": [list(corner) for corner in site.source_area],
        "geofence": [polygon.tolist() for polygon in site.geofence],
        "no_go": [polygon.tolist() for polygon in site.no_go],
        "obstacles": [obstacle.corners.tolist() for obstacle in site.obstacles],
        "paths": [{"name": path.name, "ends": [list(end) for end in path.ends]} for path in site.paths],
        "geographic": site.coordinates.is_geographic,
        "origin": None if site.coordinates.origin is None else list(site.coordinates.origin),
        "start": None if site.start is None else list(site.start),
        "radius": site.found_radius,
        "probability": site.search.probability,
        "budget": {
            "distance": site.budget.distance,
            "readings": site.budget.readings,
            "time": site.budget.time,
        },
    }
