"""A yard with a pond in its middle, and a flight over it: geometry alone, without a filter."""

import numpy as np

from dowsax.geo.local import LocalCoordinates
from dowsax.mission.flight.airspace import Airspace, Waypoint
from dowsax.mission.flight.commands import MOVING, GoTo
from dowsax.mission.flight.events import Advised, Heartbeat, Home, Pose
from dowsax.mission.flight.machine import Flight
from dowsax.mission.flight.state import Rules, State
from dowsax.site.flight import FlightSetting
from dowsax.site.obstacles import Obstacle
from dowsax.site.site import Site

FENCE = np.array([[0.0, 0.0], [60.0, 0.0], [60.0, 40.0], [0.0, 40.0]])
POND = np.array([[25.0, 15.0], [35.0, 15.0], [35.0, 25.0], [25.0, 25.0]])
TOWER = np.array([[48.0, 28.0], [52.0, 28.0], [52.0, 32.0], [48.0, 32.0]])
"""15 m high."""
HOME = (5.0, 5.0)
HEIGHT = 12.0
STEP_S = 0.25


def yard(**changes) -> Site:
    """The site; `changes` are fields of `Site`."""
    fields = {
        "name": "yard",
        "coordinates": LocalCoordinates((52.1, 5.1)),
        "area": ((0.0, 0.0), (60.0, 40.0)),
        "kind": "level",
        "unit": "dB",
        "geofence": (FENCE,),
        "no_go": (POND,),
        "obstacles": (Obstacle(TOWER, "tower", height=15.0),),
        "flight": FlightSetting(height=HEIGHT, range=70.0),
    }
    return Site(**(fields | changes))


def made_flight(*, is_dry=False, **rules) -> Flight:
    site = yard()
    return Flight(Airspace.of(site), Rules(**({"speed": 5.0, "is_dry": is_dry} | rules)))


def feed(flight, state, *events):
    """The state after these events, and all commands."""
    done = []
    for event in events:
        state, commands = flight.step(state, event)
        done += commands
    return state, done


def advice(time, place, status="searching", answers=None):
    return Advised(time, status, place, None, "why", answers)


def in_the_air(flight, place=(10.0, 10.0), to=(50.0, 10.0), time=0.0) -> State:
    """The state of a flight on its way, from a place to another."""
    state, _ = feed(
        flight,
        State(fence="up"),
        Home(time, HOME),
        Heartbeat(time, "guided", True),
        Pose(time, Waypoint(place, HEIGHT)),
        advice(time, to),
    )
    return state


def waypoints_of(commands):
    return [one.to for one in commands if isinstance(one, GoTo)]


def moving(commands):
    return [one for one in commands if isinstance(one, MOVING)]
