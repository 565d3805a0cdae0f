"""Sites as the console shows them: their facts, limits on what may be asked for, and texts to start from."""

from typing import Any

from dowsax.mission.false_stops import FalseStops, measured
from dowsax.mission.plan import Plan
from dowsax.mission.policy_adapter import Guide
from dowsax.mission.standard_stops import StandardStops, standard
from dowsax.site import Site, parse_site

MOST_PARTICLES = 20_000
MOST_DIRECTIONS = 64
MAX_POINTS = 1000
MOST_SENSORS = 32
_LONGEST_NAME = 80


def read_limited(text: str) -> Site:
    """The site that a text describes, or a ValueError in one line: also for what would take too much."""
    site = parse_site(text, "site.toml")
    limits = {
        "particles in [search]": (site.search.particles or 0, MOST_PARTICLES),
        "directions in [step]": (site.step.directions, MOST_DIRECTIONS),
        "points in [step]": (0 if site.step.points is None else len(site.step.points), MAX_POINTS),
        "names in [sensor]": (len(site.sensor.names), MOST_SENSORS),
        "letters in name": (len(site.name), _LONGEST_NAME),
    }
    for what, (number, most) in limits.items():
        if number > most:
            raise ValueError(f"site.toml: {number} {what}; {most} is the most.")
    return site


def facts_of(site: Site, plan: "Plan", guide: "Guide") -> dict[str, Any]:
    """What a map and its legend need of a site, in plain numbers."""
    known = {
        "false_stops": measured(plan, guide.name),
        "standard_stops": standard(plan, guide.name),
    }
    return outline(site) | {
        "start": list(plan.start or plan.middle),
        "policy": guide.name,
        "particles": plan.preset.config.num_particles,
        "filter": plan.filter_name,
        "parameters": [
            {"name": item.name, "label": item.meaning or item.name, "unit": item.unit}
            for item in plan.model.prior.parameters
        ],
        **{name: None if stops is None else _in_numbers(stops) for name, stops in known.items()},
    }


def _in_numbers(stops: "FalseStops | StandardStops") -> dict[str, Any]:
    numbers = {name: getattr(stops, name) for name in ("rate", "low", "high", "stops")}
    return numbers | {"sentence": stops.sentence()}


def outline(site: Site) -> dict[str, Any]:
    """What a site says itself."""
    return {
        "site_name": site.name,
        "field": site.kind,
        "unit": site.unit,
        "area": [list(site.low), list(site.high)],
        "source_area": [list(corner) for corner in site.source_area],
        "geofence": [polygon.tolist() for polygon in site.geofence],
        "no_go": [polygon.tolist() for polygon in site.no_go],
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
