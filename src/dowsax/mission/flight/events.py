"""What happens in a flight, each with its time on a clock that never goes back [s]."""

from dataclasses import dataclass
from enum import StrEnum

from dowsax.mission.flight.airspace import Place, Waypoint
from dowsax.mission.flight.commands import Command
from dowsax.survey.reading import Reading

GUIDED, HOME, TAKE_OFF, LAND = "guided", "rtl", "takeoff", "land"
"""The modes of an autopilot in which it goes where it is sent, returns home, takes off, and lands."""


class Word(StrEnum):
    """What a person says."""

    PAUSE = "pause"
    RESUME = "resume"
    HOME = "home"


@dataclass(frozen=True)
class Heartbeat:
    """The autopilot is there."""

    time: float
    mode: str
    """`guided`, `rtl`, `takeoff`, `land`, or the autopilot's name of another mode."""
    is_armed: bool


@dataclass(frozen=True)
class Pose:
    """Where the vehicle is."""

    time: float
    at: Waypoint


@dataclass(frozen=True)
class Home:
    """Where the vehicle returns to."""

    time: float
    place: Place


@dataclass(frozen=True)
class Battery:
    """The charge that is left."""

    time: float
    percent: float


@dataclass(frozen=True)
class Sample:
    """What the sensor read, at the place where the vehicle was then."""

    time: float
    reading: Reading


@dataclass(frozen=True)
class Advised:
    """The advisor has answered, or is ready: where to read next."""

    time: float
    status: str
    place: Place | None
    height: float | None
    """[m]; `None` for the usual height."""
    why: str
    answers: str | None = None
    """`STAY` or `ON_WAY`, for which reading; `None` for another request, or at the start."""


STAY, ON_WAY = "stay", "on the way"
"""Readings at a place, and between two."""


@dataclass(frozen=True)
class NotRead:
    """The advisor has refused a reading."""

    time: float
    reason: str
    answers: str | None


@dataclass(frozen=True)
class Said:
    """A person has said something."""

    time: float
    word: Word


@dataclass(frozen=True)
class Done:
    """The autopilot has carried out a command."""

    time: float
    command: Command


@dataclass(frozen=True)
class Failed:
    """The autopilot has refused a command, or not answered."""

    time: float
    command: Command
    reason: str


@dataclass(frozen=True)
class Tick:
    """Time has passed."""

    time: float


Event = Heartbeat | Pose | Home | Battery | Sample | Advised | NotRead | Said | Done | Failed | Tick
