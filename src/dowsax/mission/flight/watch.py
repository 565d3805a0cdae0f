"""What is watched at every step of a flight: the link, the budget, and whether things go on."""

import math

from dowsax.mission.flight.commands import Observe
from dowsax.mission.flight.events import HOME, LAND
from dowsax.mission.flight.state import ON_TASK, Phase
from dowsax.mission.flight.turn import Turn

_REPEAT_S = 10.0
"""Between two requests to return."""
TAKE_OFF_S = 90.0
"""Within which a vehicle is at its height."""
_SLOW_S, _SLOW_FACTOR = 30.0, 3.0
"""A leg may take 30 s, and three times as long as it should."""
_SILENT_S = 60.0
"""Without a sample, after which a person is told."""
MUTE_S = 300.0
"""Without an answer of the advisor, after which a flight returns."""


def watch(turn: Turn) -> None:
    """Do what the time asks for."""
    _watch_link(turn)
    if turn.state.phase in ON_TASK and turn.is_time_over:
        turn.end_search()
    phase = turn.state.phase
    if phase is Phase.READING:
        _finish_reading(turn)
    elif phase is Phase.THINKING and turn.now - turn.state.since > MUTE_S:
        turn.go_home(f"the advisor has not answered for {MUTE_S:g} s")
    elif phase is Phase.TAKING_OFF and turn.now - turn.state.since > TAKE_OFF_S:
        turn.go_home(f"the vehicle was not at its height after {TAKE_OFF_S:g} s", is_urgent=True)
    elif phase in (Phase.GOING, Phase.RETURNING):
        _watch_way(turn)


def _watch_link(turn: Turn) -> None:
    state = turn.state
    if state.heard is None or state.has_lost_link or turn.now - state.heard <= turn.rules.link_timeout:
        return
    turn.change(has_lost_link=True)
    turn.note(f"No heartbeat for {turn.rules.link_timeout:g} s: the link is lost.", is_alarm=True)
    if turn.is_in_command and turn.is_up and not turn.rules.is_dry:
        turn.go_home("the link was lost", is_urgent=True)


def _finish_reading(turn: Turn) -> None:
    state = turn.state
    waited = turn.now - state.since
    if state.samples and waited >= turn.rules.stay:
        turn.commands.append(Observe(tuple(one.reading for one in state.samples)))
        turn.change(samples=())
        turn.enter(Phase.THINKING)
    elif not state.samples and not state.is_silent and waited > turn.rules.stay + _SILENT_S:
        turn.change(is_silent=True)
        turn.note("No reading comes: check the sensor. The vehicle waits here.", is_alarm=True)


def _watch_way(turn: Turn) -> None:
    """Send again what is not followed, and ask again for the way home."""
    state = turn.state
    if state.phase is Phase.RETURNING and state.wanted == HOME:
        # One that lands, by its failsafe or its pilot, is not made to climb again.
        is_coming = state.mode in (HOME, LAND)
        if not is_coming and not state.has_lost_link and turn.now - state.sent >= _REPEAT_S:
            turn.ask_mode(HOME)
        return
    if not state.way or state.here is None or turn.rules.is_dry:
        return
    seconds = math.dist(state.here.place, state.way[0].place) / turn.rules.speed
    seconds += abs(state.here.height - state.way[0].height)
    if turn.now - state.sent > _SLOW_S + _SLOW_FACTOR * seconds:
        turn.try_again()
