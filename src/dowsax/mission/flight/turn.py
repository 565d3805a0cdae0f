"""One step of a flight: what it can do to its state, and the commands that follow."""

import math
from typing import Any

from dowsax.mission.flight.airspace import Airspace, Forbidden, Waypoint
from dowsax.mission.flight.commands import Cancel, Command, GoTo, Note, SetMode, SetSpeed
from dowsax.mission.flight.events import GUIDED, HOME, Advised
from dowsax.mission.flight.state import Phase, Rules, State

MAX_TRIES = 3
"""Failures of a waypoint after which a flight returns; refused readings after which it holds."""


class Turn:
    """The state that becomes the next one, and the commands so far."""

    def __init__(self, airspace: Airspace, rules: Rules, state: State, now: float) -> None:
        self.airspace, self.rules, self.state, self.now = airspace, rules, state, now
        self.commands: list[Command] = []

    @property
    def is_in_command(self) -> bool:
        """Whether the vehicle does what it was asked to do here."""
        return self.state.wanted is not None and self.state.phase not in (Phase.TAKEN_OVER, Phase.ENDED)

    @property
    def is_up(self) -> bool:
        """Whether it is in the air, or on its way there."""
        return self.state.is_flying or self.state.phase is Phase.TAKING_OFF

    @property
    def is_time_over(self) -> bool:
        """Whether the time of the budget is spent, but for the way home where that counts."""
        state, rules = self.state, self.rules
        if rules.time is None or state.begun is None:
            return False
        back = 0.0
        if rules.returns and state.here is not None and state.home is not None:
            back = math.dist(state.here.place, state.home) / rules.speed
        return self.now - state.begun + back >= rules.time

    @property
    def advised_height(self) -> float:
        """[m], at which to read next."""
        return self.height_of(self.state.advice)

    def height_of(self, advice: Advised | None) -> float:
        """Return the height [m] of an advice, or the usual one."""
        return self.airspace.height if advice is None or advice.height is None else advice.height

    def change(self, **fields: Any) -> None:
        """Change fields of the state."""
        self.state = self.state._replace(**fields)

    def note(self, text: str, *, is_alarm: bool = False) -> None:
        """Write an event to the log."""
        self.commands.append(Note(text, is_alarm))

    def enter(self, phase: Phase, why: str = "", *, is_alarm: bool = False) -> None:
        """Begin a phase, which is written to the log."""
        self.change(phase=phase, why=why, since=self.now)
        text = f"{str(phase).capitalize()}{f': {why}' if why else ''}".rstrip(".") + "."
        self.commands.append(Note(text, is_alarm, {"phase": str(phase), "why": why}))

    def hand_over(self, why: str) -> None:
        """Leave the vehicle to its pilot: nothing is sent any more."""
        self.commands = [one for one in self.commands if isinstance(one, Note)]
        self.commands.append(Cancel())
        self.change(wanted=None, before=(), is_granted=False, way=(), samples=(), asked="")
        self.enter(Phase.TAKEN_OVER, why, is_alarm=True)

    def search(self) -> None:
        """Begin the search, or go on with it."""
        self.commands.append(SetSpeed(self.rules.speed))
        self.change(begun=self.now if self.state.begun is None else self.state.begun)
        self.go()

    def go(self) -> None:
        """Go where the advice says."""
        state = self.state
        assert state.advice is not None
        assert state.here is not None
        assert state.home is not None
        if state.advice.place is None:
            self.hold("the advice has no place to go to", is_alarm=True)
            return
        there = Waypoint(state.advice.place, self.advised_height)
        way = self.airspace.way(state.here, there, state.home)
        if isinstance(way, Forbidden):
            self.refuse_waypoint(there, way)
            return
        self.change(way=way, tries=0, refusals=0)
        if state.phase is not Phase.GOING:
            # What was sampled on the way counts, wherever that leads.
            self.change(samples=())
            self.enter(Phase.GOING)
        self.send_next()

    def send_next(self) -> None:
        """Send the next waypoint, after one more look at it."""
        first = self.state.way[0]
        forbidden = self.check(first)
        if forbidden is not None:
            self.refuse_waypoint(first, forbidden)
        else:
            # In a dry run a person goes to the last of them.
            sent = self.state.way if self.rules.is_dry else (first,)
            self.commands += [GoTo(one) for one in sent]
            self.change(sent=self.now)

    def try_again(self) -> None:
        """Send the waypoint again; after a few times return."""
        self.change(tries=self.state.tries + 1)
        if self.state.tries < MAX_TRIES:
            self.send_next()
        elif self.state.phase is Phase.RETURNING:
            self.change(way=())
            self.ask_mode(HOME)
        else:
            self.go_home("the vehicle does not follow its waypoints", is_urgent=True)

    def check(self, there: Waypoint) -> Forbidden | None:
        """Return why the airspace refuses a waypoint from here."""
        assert self.state.here is not None
        return self.airspace.refuse(there, self.state.here, self.state.home or self.state.here.place)

    def refuse_waypoint(self, there: Waypoint, forbidden: Forbidden) -> None:
        """Report a waypoint that is not sent, and hold."""
        self.note(f"Refused to {GoTo(there)}: {forbidden.reason}.", is_alarm=True)
        if self.state.phase is Phase.RETURNING:
            self.change(way=())
            self.ask_mode(HOME)
        else:
            self.hold(f"a waypoint was refused: {forbidden.reason}")

    def hold(self, why: str, *, is_alarm: bool = False) -> None:
        """Stay here until a person says how to go on; on the ground nothing is sent that could lift it."""
        self.change(way=(), samples=(), asked="")
        if not self.state.is_flying or self.state.mode == GUIDED:
            # It neither arms nor takes off after this, and where it is to stay waits for nothing else.
            self.commands.append(Cancel())
        self.enter(Phase.HOLDING, why, is_alarm=is_alarm)
        if self.state.is_flying and self.is_in_command:
            if GUIDED not in (self.state.mode, self.state.wanted):
                self.ask_mode(GUIDED)
            self.stay_here()

    def stay_here(self) -> None:
        """Send the vehicle to where it is, or back inside."""
        if self.state.here is None:
            return
        to = self.airspace.stop(self.state.here)
        forbidden = self.check(to)
        if forbidden is None:
            self.commands.append(GoTo(to))
        self.change(sent=self.now)

    def end_search(self) -> None:
        """Return, as the time of the budget is spent."""
        self.go_home(f"the {self.rules.time:g} s of the budget are over")

    def go_home(self, why: str, *, is_urgent: bool = False) -> None:
        """Return: where there is time around what is in the way, then in the autopilot's own mode."""
        if self.state.phase is Phase.RETURNING and self.state.wanted == HOME:
            return
        is_up = self.is_up
        self.change(way=(), samples=(), asked="", tries=0)
        if not is_up or self.rules.is_dry:
            self.enter(Phase.ENDED, why)
            if is_up:
                self.commands.append(SetMode(HOME))
            return
        self.enter(Phase.RETURNING, why, is_alarm=is_urgent)
        corners = () if is_urgent or self.state.mode != GUIDED else self._corners_home()
        if corners:
            self.change(way=corners, wanted=GUIDED)
            self.send_next()
        else:
            self.ask_mode(HOME)

    def _corners_home(self) -> tuple[Waypoint, ...]:
        """Return the waypoints after which the straight way home is free."""
        here, home = self.state.here, self.state.home
        if here is None or home is None:
            return ()
        way = self.airspace.way(here, Waypoint(home, self.airspace.height), home)
        return () if isinstance(way, Forbidden) else way[:-1]

    def ask_mode(self, mode: str) -> None:
        """Ask the autopilot for a mode; until it changes, the present one is no take-over."""
        state = self.state
        earlier = (*state.before, state.wanted) if state.before and state.wanted else (state.mode,)
        before = tuple(one for one in dict.fromkeys(earlier) if one != mode)
        self.change(wanted=mode, before=before, sent=self.now)
        self.commands.append(SetMode(mode))
