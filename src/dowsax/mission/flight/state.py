"""The state of a flight, its phases, and the rules by which it goes from one to another."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from dowsax.mission.flight.airspace import Place, Waypoint
from dowsax.mission.flight.events import Advised, Sample
from dowsax.site.site import Site

FLYING_M = 1.0
"""[m] above take-off; a vehicle that is armed and higher flies."""


class Phase(StrEnum):
    """What a flight is doing."""

    WAITING = "waiting"
    """For the autopilot, its position, the advisor, the fence, or take-off."""
    TAKING_OFF = "taking off"
    GOING = "going"
    READING = "reading"
    THINKING = "thinking"
    """A reading is with the advisor."""
    HOLDING = "holding"
    """Until a person says resume or home."""
    TAKEN_OVER = "taken over"
    """The pilot flies; nothing is commanded until a person says resume."""
    RETURNING = "returning"
    ENDED = "ended"


COMMANDING = (
    Phase.TAKING_OFF,
    Phase.GOING,
    Phase.READING,
    Phase.THINKING,
    Phase.HOLDING,
    Phase.RETURNING,
)
"""Phases in which a change of mode that was not asked for is a take-over."""
ON_TASK = (Phase.TAKING_OFF, Phase.GOING, Phase.READING, Phase.THINKING)
"""Phases of the search itself."""


@dataclass(frozen=True)
class Rules:
    """What a flight follows besides the airspace."""

    speed: float
    """[m/s]"""
    stay: float = 0.0
    """[s], at each place."""
    dwell: float = 0.0
    """[s], that one sample counts: one that ends sooner after arrival was begun on the way."""
    interval: float | None = None
    """[s], between two readings on the way; `None` where there are none."""
    reserve: float = 30.0
    """[%], at which a flight returns."""
    time: float | None = None
    """[s], of the budget."""
    returns: bool = False
    """Whether that must suffice for the way home."""
    is_dry: bool = True
    """Whether nothing is sent that moves the vehicle, and no change of mode is a take-over."""
    link_timeout: float = 5.0
    """[s] without a heartbeat, after which the link is lost."""

    @classmethod
    def of(cls, site: Site, *, is_dry: bool) -> "Rules":
        """Return the rules of a site."""
        stay = site.reading_time if site.flight.hold is None else site.flight.hold
        return cls(
            speed=site.flight.speed,
            stay=stay,
            dwell=site.sensor.dwell or 0.0,
            interval=site.step.reading_interval,
            reserve=site.flight.reserve,
            time=site.budget.time,
            returns=site.budget.return_,
            is_dry=is_dry,
        )


class State(NamedTuple):
    """All that the next step of a flight needs."""

    phase: Phase = Phase.WAITING
    why: str = ""
    """Why it holds, returns or has ended."""
    since: float = 0.0
    """[s], when the phase began."""
    heard: float | None = None
    """[s], when the last heartbeat came."""
    mode: str = ""
    is_armed: bool = False
    here: Waypoint | None = None
    home: Place | None = None
    advice: Advised | None = None
    fence: str = ""
    """Whether the autopilot has the geofence: empty, `asked` or `up`."""
    asked: str = ""
    """The step of the start that was asked for: `arm`, or empty."""
    wanted: str | None = None
    """The mode that was asked for."""
    before: tuple[str, ...] = ()
    """Modes on the way to the wanted one, which are no take-over: the one the autopilot has, then those that
    were asked before and may still come."""
    rises_to: float = 0.0
    """[m], the height of the take-off that was asked for."""
    is_granted: bool = False
    """Whether a person has said resume: then a vehicle that flies in another mode may be commanded."""
    has_flown: bool = False
    returning: str = ""
    """Why a flight returned before a crash."""
    way: tuple[Waypoint, ...] = ()
    """The waypoints that are left, the next one first."""
    sent: float = 0.0
    """[s], when the last waypoint or mode was sent."""
    tries: int = 0
    """How often the present waypoint has failed."""
    samples: tuple[Sample, ...] = ()
    read: float = 0.0
    """[s], when the last reading on the way was complete."""
    refusals: int = 0
    """Readings at this place that were refused."""
    begun: float | None = None
    """[s], when the search began."""
    is_low: bool = False
    is_battery_known: bool = False
    """Whether the autopilot has said how full it is."""
    has_lost_link: bool = False
    is_astray: bool = False
    """Whether it was last seen where it may not be."""
    is_silent: bool = False
    """Whether no sample came for long."""

    @property
    def is_flying(self) -> bool:
        return self.is_armed and self.here is not None and self.here.height > FLYING_M
