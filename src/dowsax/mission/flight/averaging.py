"""From samples to readings: where the vehicle was at a time, and what a sensor read there on average."""

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from dowsax.mission.flight.airspace import SAME_HEIGHT_M, Place, Waypoint
from dowsax.survey.reading import Reading

MAX_GAP_S = 2.0
"""[s], between a sample and the nearest position, beyond which its place is not known."""
_MEMORY_S = 120.0
_UNCERTAINTY, _HEADING = "uncertainty", "heading"


class Track:
    """Where the vehicle was during the last two minutes."""

    def __init__(self) -> None:
        self._poses: deque[tuple[float, Waypoint]] = deque()

    def add(self, time: float, at: Waypoint) -> None:
        """Add a position; one that is older than the newest is left out."""
        if self._poses and time <= self._poses[-1][0]:
            return
        self._poses.append((time, at))
        while self._poses[0][0] < time - _MEMORY_S:
            self._poses.popleft()

    @property
    def newest(self) -> float:
        """[s], when the newest position was taken."""
        return self._poses[-1][0] if self._poses else -math.inf

    def at(self, time: float) -> Waypoint | None:
        """Return the position at a time, between two known ones on the straight line; `None` far from any."""
        times = [known for known, _ in self._poses]
        index = bisect_left(times, time)
        around = [self._poses[i] for i in (index - 1, index) if 0 <= i < len(times)]
        near = [pair for pair in around if abs(pair[0] - time) <= MAX_GAP_S]
        if len(near) < 2:
            return near[0][1] if near else None
        (first, start), (second, end) = near
        share = (time - first) / (second - first)
        x, y = (a + share * (b - a) for a, b in zip(start.place, end.place, strict=True))
        return Waypoint((x, y), start.height + share * (end.height - start.height))


def average(samples: Sequence[Reading], *, unit: str = "", kind: str = "value") -> list[Reading]:
    """Return one reading of each sensor, in the middle of the places and times of its samples.

    A value is the mean, and a standard deviation that of the mean. A hit is one in any sample. Counts are
    those of the whole time, which is the time that the samples cover: they may overlap.

    Parameters
    ----------
    samples
        At least one.
    unit
        Of the values.
    kind
        What a reading is: `value`, `binary` or `rank`.
    """
    groups: dict[str | None, list[Reading]] = {}
    for sample in samples:
        groups.setdefault(sample.sensor, []).append(sample)
    return [_mean(group, unit, kind) for group in groups.values()]


def _mean(samples: list[Reading], unit: str, kind: str) -> Reading:
    first, dwell = samples[0], _covered(samples)
    value = max(one.value for one in samples) if kind == "binary" else _mean_of(one.value for one in samples)
    if unit == "counts" and dwell is not None:
        counted = math.fsum(one.dwell or 0.0 for one in samples)
        value = math.fsum(one.value for one in samples) * (dwell / counted)
    winds = [one.wind for one in samples if one.wind is not None]
    times = [one.time for one in samples if one.time is not None]
    heights = [one.altitude for one in samples if one.altitude is not None]
    return replace(
        first,
        id=samples[-1].id,
        position=_mean_place([one.position for one in samples]),
        value=value,
        wind=_mean_place(winds) if winds else None,
        time=round(_mean_of(times), 3) if times else None,
        altitude=_mean_of(heights) if heights else None,
        dwell=dwell,
        quantities={name: _mean_quantity(name, samples) for name in first.quantities},
    )


def _covered(samples: Sequence[Reading]) -> float | None:
    """Return the time [s] that the samples cover; `None` where they do not say how long they count.

    A sample counts until its time.
    """
    lengths = [one.dwell for one in samples if one.dwell is not None]
    if len(lengths) < len(samples):
        return None
    times = [one.time for one in samples if one.time is not None]
    if len(times) < len(samples):
        return math.fsum(lengths)
    # From the first one on: a small number of seconds, in which no digits are lost.
    first, covered, reached = min(times), 0.0, -math.inf
    ends = [time - first for time in times]
    for begin, end in sorted((end - length, end) for end, length in zip(ends, lengths, strict=True)):
        covered += max(end - max(begin, reached), 0.0)
        reached = max(reached, end)
    return covered


def _mean_quantity(name: str, samples: Sequence[Reading]) -> float:
    known = [one.quantities[name] for one in samples if name in one.quantities]
    if name == _UNCERTAINTY:
        return math.hypot(*known) / len(known)
    if name == _HEADING:
        east, north = (_mean_of(turn(math.radians(one)) for one in known) for turn in (math.sin, math.cos))
        return math.degrees(math.atan2(east, north)) % 360.0
    return _mean_of(known)


def _mean_place(places: Sequence[Place]) -> Place:
    return _mean_of(x for x, _ in places), _mean_of(y for _, y in places)


def _mean_of(numbers) -> float:
    known = list(numbers)
    return math.fsum(known) / len(known)


def level_of(height: float, levels: Sequence[float]) -> float:
    """Return the listed height [m] at which a vehicle flies, else its own."""
    nearest = min(levels, key=lambda level: abs(level - height), default=height)
    return nearest if abs(nearest - height) <= SAME_HEIGHT_M else height
