"""The upload of a geofence by the mission protocol: a count, then each item when it is asked for.

https://mavlink.io/en/services/mission.html
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dowsax.mission.flight.commands import UploadFence

FENCE = 1
"""MAV_MISSION_TYPE_FENCE"""
_INSIDE, _OUTSIDE = 5001, 5002
"""MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION and _EXCLUSION"""
REPEAT_S = 1.0
MAX_REPEATS, MAX_STARTS = 8, 4
_OUT_OF_TURN = 13
"""MAV_MISSION_INVALID_SEQUENCE: the autopilot has finished, and its answer was lost."""
_REASONS = {
    1: "it refused",
    2: "it does not know this kind of coordinates",
    3: "it does not support geofences",
    4: "it has no room for all corners: simplify them",
    14: "it has another upload under way",
    15: "it cancelled",
}
"""Of MAV_MISSION_RESULT."""


@dataclass(frozen=True)
class Vertex:
    """A corner of a polygon."""

    command: int
    count: int
    """Of the corners of its polygon."""
    latitude: float
    longitude: float


def vertices(fence: UploadFence, to_degrees: Callable[[Any], Any]) -> list[Vertex]:
    """Return the corners of all polygons of a fence, in degrees."""
    polygons = [(_INSIDE, fence.inside), *((_OUTSIDE, polygon) for polygon in fence.outside)]
    return [
        Vertex(command, len(polygon), float(latitude), float(longitude))
        for command, polygon in polygons
        for latitude, longitude in to_degrees(polygon)
    ]


class FenceUpload:
    """One upload. `send` writes a message; the dialect builds it."""

    def __init__(
        self,
        corners: Sequence[Vertex],
        target: tuple[int, int],
        dialect: Any,
        send: Callable[[Any], None],
    ) -> None:
        self._corners, self._target, self._dialect, self._send = corners, target, dialect, send
        self._last: int | None = None
        """The newest item that was sent; `None` for the count."""
        self._sent: float | None = None
        self._repeats = 0
        self._starts = 1
        self.failure: str | None = None
        self.is_done = False

    def tick(self, now: float) -> None:
        """Send the count, or repeat the last message where no answer comes."""
        if self.is_done or self.failure is not None:
            return
        if self._sent is not None and now - self._sent < REPEAT_S:
            return
        if self._repeats >= MAX_REPEATS and not self._start_again():
            self.failure = "no answer to the upload"
            return
        self._repeats += 1
        self._write(now)

    def request(self, number: int, now: float) -> None:
        """Send the item that the autopilot asks for."""
        if 0 <= number < len(self._corners):
            if self._last is None or number > self._last:
                self._repeats = 0
            self._last = number
            self._write(now)

    def acknowledge(self, result: int) -> None:
        """Take in the end of the upload."""
        if result == 0:
            # One that comes before the last corner was sent is of an earlier upload.
            self.is_done = self._last == len(self._corners) - 1
        elif result == _OUT_OF_TURN and self._start_again():
            return
        else:
            self.failure = _REASONS.get(result, f"it refused with result {result}")

    def _start_again(self) -> bool:
        """Begin with the count again, where it was answered before; return whether it does."""
        if self._last is None or self._starts >= MAX_STARTS:
            return False
        self._last, self._repeats, self._starts = None, 0, self._starts + 1
        return True

    def _write(self, now: float) -> None:
        self._sent = now
        message = self._dialect
        if self._last is None:
            count = message.MAVLink_mission_count_message(*self._target, len(self._corners), FENCE)
            self._send(count)
            return
        corner = self._corners[self._last]
        place = round(corner.latitude * 1e7), round(corner.longitude * 1e7), 0.0
        head = *self._target, self._last, message.MAV_FRAME_GLOBAL, corner.command, 0, 1
        self._send(
            message.MAVLink_mission_item_int_message(*head, corner.count, 0.0, 0.0, 0.0, *place, FENCE)
        )
