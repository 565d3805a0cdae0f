"""What a flight asks for: of the autopilot, of the advisor, and of the log."""

from dataclasses import dataclass, field
from typing import Any

from dowsax.geo.polygons import Polygon
from dowsax.mission.flight.airspace import Waypoint
from dowsax.survey.reading import Reading


@dataclass(frozen=True, eq=False)
class UploadFence:
    """Give the autopilot the polygon in which it stays, and those that it stays out of [m]."""

    inside: Polygon
    outside: tuple[Polygon, ...]

    def __str__(self) -> str:
        return f"upload a geofence of {len(self.inside)} corners with {len(self.outside)} exclusions"


@dataclass(frozen=True)
class SetMode:
    """Change the mode of the autopilot."""

    mode: str

    def __str__(self) -> str:
        return f"change to mode {self.mode}"


@dataclass(frozen=True)
class Arm:
    """Arm the motors."""

    def __str__(self) -> str:
        return "arm"


@dataclass(frozen=True)
class TakeOff:
    """Take off, straight up."""

    height: float
    """[m]"""

    def __str__(self) -> str:
        return f"take off to {self.height:g} m"


@dataclass(frozen=True)
class SetSpeed:
    """Fly at this speed."""

    speed: float
    """[m/s]"""

    def __str__(self) -> str:
        return f"fly at {self.speed:g} m/s"


@dataclass(frozen=True)
class GoTo:
    """Go straight to a waypoint, and stay there."""

    to: Waypoint

    def __str__(self) -> str:
        x, y = self.to.place
        return f"go to ({x:.1f}, {y:.1f}) m, {self.to.height:.1f} m up"


@dataclass(frozen=True)
class Cancel:
    """Send nothing that was not sent yet, and repeat nothing."""


@dataclass(frozen=True)
class Observe:
    """Give these samples to the advisor, as one reading of each sensor."""

    samples: tuple[Reading, ...]
    is_moving: bool = False

    def __str__(self) -> str:
        return f"read {len(self.samples)} samples"


@dataclass(frozen=True)
class Note:
    """Write an event to the log."""

    text: str
    is_alarm: bool = False
    data: dict[str, Any] = field(default_factory=dict, hash=False)
    """The phase, from which a flight goes on after a crash."""

    def __str__(self) -> str:
        return self.text


ToAutopilot = UploadFence | SetMode | Arm | TakeOff | SetSpeed | GoTo | Cancel
MOVING = SetMode, Arm, TakeOff, GoTo
"""Commands that move a vehicle; none of these is sent while a pilot flies."""
Command = ToAutopilot | Observe | Note
