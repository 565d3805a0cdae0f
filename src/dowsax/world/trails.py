"""Trails: the stations before each reading, for sensors that lag."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.types import OpenPath, Scalar, Station, Target, Trail, Waypoint


def with_trail(stations: Station, length: int = 8) -> Station:
    """Return the stations of one survey (k, …), each with the `length` stations before it of the same sensor.

    Those of different searchers are different sensors. Times of each sensor must not decrease. A trail should
    reach a few time constants of the lag back.
    """
    if stations.time is None:
        raise ValueError("A trail needs the time of each reading: give the stations a `time`.")
    if length < 1:
        raise ValueError(f"`length` of a trail must be at least 1; got {length}.")
    times = np.asarray(stations.time, np.float64)
    owners = [part for part in (stations.sensor, stations.searcher) if part is not None]
    sensors = np.zeros(times.shape, int)
    if owners:
        _, sensors = np.unique(np.stack([np.asarray(part) for part in owners]), axis=1, return_inverse=True)
        sensors = sensors.reshape(-1)
    before = np.empty((*times.shape, length), int)
    for sensor in np.unique(sensors):
        own = np.flatnonzero(sensors == sensor)
        steps = np.arange(own.size)[:, None] - 1 - np.arange(length)[None, :]
        before[own] = own[np.maximum(steps, 0)]
    ages = times[:, None] - times[before]
    if (ages < 0).any():
        at = int(np.argwhere(ages < 0)[0, 0])
        raise ValueError(f"Time runs backwards at reading {at} (counted from 0): sort the readings by time.")
    past = jax.tree.map(lambda leaf: leaf[before], replace(stations, trail=None))
    return replace(stations, trail=Trail(past, jnp.asarray(ages, jnp.float32)))


def advance(station: Station, target: Target, seconds: Scalar) -> Station:
    """Return the station of the next reading, at a place or path, some seconds after the one before."""
    time = None if station.time is None else station.time + seconds
    there = replace(station, **_measurements(station, target), time=time)
    if station.trail is None:
        return there
    before = replace(station, trail=None)
    stations = jax.tree.map(
        lambda new, old: jnp.concatenate([jnp.asarray(new)[None], old[:-1]]), before, station.trail.stations
    )
    ages = jnp.concatenate([jnp.zeros(1), station.trail.ages[:-1]]) + seconds
    return replace(there, trail=Trail(stations, ages))


def move_station(station: Station, target: Target) -> Station:
    """Return the station at another place or path; a lagging sensor has settled there."""
    for name, value in _measurements(station, target).items():
        station = set_measurement(station, name, value)
    return station


def way_to(station: Station, target: Target) -> Scalar:
    """Return how far [m] one goes from a station to the next reading: not at all to that along a path.

    A change of height is flown straight up or down, beside the way over ground.
    """
    if isinstance(target, OpenPath):
        return jnp.zeros(())
    if isinstance(target, Waypoint):
        climb = jnp.abs(target.altitude - height_of(station))
        return jnp.linalg.norm(target.position - station.position) + climb
    return jnp.linalg.norm(target - station.position)


def height_of(station: Station) -> Scalar:
    """Return the height [m] of a station above ground, which it must have."""
    if station.altitude is None:
        raise ValueError("Readings at several heights need the altitude of each: give the stations one.")
    return station.altitude


def _measurements(station: Station, target: Target) -> dict[str, Any]:
    """Return what a station at the target has instead; a place is a path of no length, where it needs one."""
    if isinstance(target, Waypoint):
        return _measurements(station, target.position) | {"altitude": target.altitude}
    if not isinstance(target, OpenPath):
        return {"position": target} | ({} if station.far_end is None else {"far_end": target})
    altitude = None if station.altitude is None else target.altitude
    found = {"position": target.start, "far_end": target.end}
    return found if altitude is None else found | {"altitude": altitude}


def set_measurement(station: Station, name: str, value: Float[Array, "..."]) -> Station:
    """Return the station with another value of one of its fields, also in its trail."""
    there, trail = replace(station, **{name: value}), station.trail
    if trail is None:
        return there
    values = jnp.broadcast_to(value, getattr(trail.stations, name).shape)
    return replace(there, trail=replace(trail, stations=replace(trail.stations, **{name: values})))
