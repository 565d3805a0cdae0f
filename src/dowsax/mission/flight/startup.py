"""Before the search: the fence, guided mode, arming and take-off."""

from dowsax.mission.advice import SEARCHING
from dowsax.mission.flight.airspace import Place, Waypoint
from dowsax.mission.flight.commands import Arm, TakeOff, UploadFence
from dowsax.mission.flight.events import GUIDED, HOME
from dowsax.mission.flight.state import Phase
from dowsax.mission.flight.turn import Turn


def prepare(turn: Turn) -> None:
    """Go through what is needed before the search: the fence, guided mode, arming, take-off."""
    state = turn.state
    if state.heard is None or state.here is None or state.home is None or state.has_lost_link:
        return
    if state.returning and state.is_flying and state.mode in (GUIDED, HOME):
        turn.go_home(state.returning)
        return
    if state.advice is None:
        return
    if not state.is_flying and turn.is_time_over:
        # It would take off to land at once.
        turn.end_search()
    elif not state.is_flying and state.has_flown and not turn.rules.is_dry:
        turn.hold("the vehicle is on the ground again")
    elif state.advice.status != SEARCHING:
        turn.go_home(f"{state.advice.status}: {state.advice.why}")
    elif any(turn.airspace.is_outside(Waypoint(place, turn.airspace.height)) for place in _bases(turn)):
        turn.hold("the place of take-off is outside the geofence, or where nothing may fly", is_alarm=True)
    elif (beyond := turn.airspace.refuse_home(state.home)) is not None:
        turn.hold(beyond.reason, is_alarm=True)
    elif not state.fence:
        turn.commands.append(UploadFence(*turn.airspace.polygons(state.home)))
        turn.change(fence="up" if turn.rules.is_dry else "asked")
    if turn.state.phase is Phase.WAITING and turn.state.fence == "up":
        _start(turn)


def _bases(turn: Turn) -> list[Place]:
    """Return where the vehicle would take off and where it would land: it may have been carried."""
    state = turn.state
    assert state.here is not None
    assert state.home is not None
    return [state.home] if state.is_flying or turn.rules.is_dry else [state.home, state.here.place]


def _start(turn: Turn) -> None:
    state = turn.state
    if turn.rules.is_dry:
        turn.search()
    elif state.mode != GUIDED:
        if state.is_flying and not state.is_granted:
            turn.hand_over(f"the vehicle flies in mode {state.mode}")
        elif state.wanted != GUIDED:
            turn.ask_mode(GUIDED)
    else:
        turn.change(wanted=GUIDED, before=())
        _leave_ground(turn)


def _leave_ground(turn: Turn) -> None:
    state = turn.state
    if state.is_flying:
        turn.search()
    elif state.is_low:
        turn.hold("the battery is low", is_alarm=True)
    elif not state.is_armed:
        if state.asked != "arm":
            if not state.is_battery_known:
                turn.note("The autopilot does not say how full the battery is: watch it.", is_alarm=True)
            turn.commands.append(Arm())
            turn.change(asked="arm")
    else:
        turn.change(rises_to=turn.advised_height)
        turn.commands.append(TakeOff(turn.state.rises_to))
        turn.enter(Phase.TAKING_OFF)
