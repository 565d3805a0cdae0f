"""The flight as a pure state machine: a state and an event in, the next state and commands out.

Whatever happens, these hold: no waypoint is sent that the airspace refuses; after a change of mode that was
not asked for nothing is sent until a person says resume; when the link is lost, the battery low or the budget
spent, the vehicle returns home.
"""

import math
from dataclasses import dataclass

from dowsax.mission.advice import SEARCHING
from dowsax.mission.flight.airspace import SAME_HEIGHT_M, Airspace
from dowsax.mission.flight.commands import (
    Arm,
    Command,
    GoTo,
    Observe,
    SetMode,
    TakeOff,
    UploadFence,
)
from dowsax.mission.flight.events import (
    GUIDED,
    HOME,
    LAND,
    ON_WAY,
    STAY,
    TAKE_OFF,
    Advised,
    Battery,
    Done,
    Event,
    Failed,
    Heartbeat,
    Home,
    NotRead,
    Pose,
    Said,
    Sample,
    Word,
)
from dowsax.mission.flight.startup import prepare
from dowsax.mission.flight.state import COMMANDING, FLYING_M, ON_TASK, Phase, Rules, State
from dowsax.mission.flight.turn import MAX_TRIES, Turn
from dowsax.mission.flight.watch import watch

ARRIVED_M = 1.5
"""[m], within which a vehicle is at a place."""
_AT_CORNER_M = 0.3
"""[m], to which it goes at a corner that may not be cut."""
_ASTRAY_S = 5.0
"""Between two attempts to come back inside."""
_CHARGED = 5.0
"""[%] above the reserve, at which a new battery counts as charged."""


@dataclass(frozen=True)
class Flight:
    """The machine: `step` is a pure function."""

    airspace: Airspace
    rules: Rules

    def step(self, state: State, event: Event) -> tuple[State, tuple[Command, ...]]:
        """Return the state after an event, and what is to be done."""
        turn = Turn(self.airspace, self.rules, state, event.time)
        _handle(turn, event)
        watch(turn)
        if turn.state.phase is Phase.WAITING:
            prepare(turn)
        return turn.state, tuple(turn.commands)


def _handle(turn: Turn, event: Event) -> None:
    match event:
        case Heartbeat():
            _hear(turn, event)
        case Pose():
            _move(turn, event)
        case Home():
            turn.change(home=event.place)
        case Battery():
            _weigh_battery(turn, event.percent)
        case Sample():
            _sample(turn, event)
        case Advised():
            _advise(turn, event)
        case NotRead():
            _refuse_reading(turn, event)
        case Said():
            _obey(turn, event.word)
        case Done() | Failed():
            _acknowledge(turn, event)
        case _:
            pass


def _hear(turn: Turn, heartbeat: Heartbeat) -> None:
    before = turn.state
    turn.change(heard=turn.now, mode=heartbeat.mode, is_armed=heartbeat.is_armed)
    if before.has_lost_link:
        turn.change(has_lost_link=False)
        turn.note(f"The link is back; the autopilot is in mode {heartbeat.mode}.")
    has_landed = before.is_armed and not heartbeat.is_armed
    if turn.rules.is_dry:
        return
    if has_landed:
        _land(turn)
    elif turn.is_in_command:
        if heartbeat.mode == turn.state.wanted:
            turn.change(before=())
        elif heartbeat.mode in before.before:
            # Those before it are over: a return to one is the pilot's.
            turn.change(before=before.before[before.before.index(heartbeat.mode) :])
        elif not _is_ours(turn, before.mode, heartbeat.mode):
            turn.hand_over(f"the autopilot changed to mode {heartbeat.mode}")
    elif turn.state.phase is Phase.HOLDING and heartbeat.is_armed:
        # After a crash, or armed by another: the one who chose the mode has the vehicle.
        if heartbeat.mode == GUIDED:
            turn.change(wanted=GUIDED)
        else:
            turn.hand_over(f"the vehicle is armed in mode {heartbeat.mode}")


def _is_ours(turn: Turn, last: str, mode: str) -> bool:
    """Whether a mode other than the wanted one follows from what was asked; `last` is the one before it."""
    # It may last until the first waypoint arrives.
    is_going_up = mode == TAKE_OFF and (turn.state.phase is Phase.TAKING_OFF or last == TAKE_OFF)
    is_coming_down = turn.state.wanted == HOME and mode == LAND
    return is_going_up or is_coming_down


def _land(turn: Turn) -> None:
    if turn.state.phase is Phase.RETURNING:
        turn.enter(Phase.ENDED, f"landed: {turn.state.why}")
    elif turn.state.phase is Phase.TAKEN_OVER:
        turn.note("The vehicle has landed; the pilot has it until you say resume.")
    elif turn.state.phase is not Phase.ENDED:
        turn.enter(Phase.HOLDING, "the motors were disarmed", is_alarm=True)


def _move(turn: Turn, pose: Pose) -> None:
    is_astray = turn.airspace.is_outside(pose.at)
    turn.change(here=pose.at)
    if turn.state.home is None and pose.at.height < FLYING_M:
        turn.change(home=pose.at.place)
    state = turn.state
    if state.phase is Phase.TAKING_OFF:
        if pose.at.height >= state.rises_to - SAME_HEIGHT_M:
            turn.search()
    elif is_astray and state.phase in COMMANDING and state.is_flying and state.wanted == GUIDED:
        _come_back(turn)
    elif state.way and state.phase in (Phase.GOING, Phase.RETURNING):
        _follow(turn)
    turn.change(is_astray=is_astray and turn.state.phase in COMMANDING)


def _come_back(turn: Turn) -> None:
    """Go back inside, by the nearest place."""
    state = turn.state
    if not state.is_astray:
        turn.note("The vehicle is outside the geofence, or where it may not be: it goes back.", is_alarm=True)
    elif turn.now - state.sent < _ASTRAY_S:
        return
    if state.phase is Phase.GOING:
        turn.go()
    elif state.phase is Phase.RETURNING:
        turn.go_home(state.why, is_urgent=True)
    else:
        turn.stay_here()


def _follow(turn: Turn) -> None:
    """Go to the waypoint after the next one when that is reached."""
    # A person who carries the vehicle in a dry run goes another way, and lower.
    first, *rest = turn.state.way[-1:] if turn.rules.is_dry else turn.state.way
    assert turn.state.here is not None
    distance = math.dist(turn.state.here.place, first.place)
    is_off = abs(turn.state.here.height - first.height) > SAME_HEIGHT_M and not turn.rules.is_dry
    if distance > ARRIVED_M or is_off:
        return
    if rest and distance > _AT_CORNER_M and turn.check(rest[0]) is not None:
        return
    turn.change(way=tuple(rest), tries=0)
    if rest:
        turn.send_next()
    elif turn.state.phase is Phase.RETURNING:
        turn.ask_mode(HOME)
    else:
        turn.change(samples=(), is_silent=False)
        turn.enter(Phase.READING)


def _weigh_battery(turn: Turn, percent: float) -> None:
    turn.change(is_battery_known=True)
    if percent > turn.rules.reserve + _CHARGED:
        turn.change(is_low=False)
    if percent > turn.rules.reserve or (turn.state.is_low and turn.state.phase not in ON_TASK):
        return
    is_new = not turn.state.is_low
    turn.change(is_low=True)
    why = f"the battery has {percent:.0f} %, and {turn.rules.reserve:g} % is the reserve"
    if turn.is_in_command:
        turn.go_home(why, is_urgent=True)
    elif is_new:
        turn.note(f"Low battery: {why}.", is_alarm=True)


def _sample(turn: Turn, sample: Sample) -> None:
    state = turn.state
    if state.phase is Phase.READING and sample.time >= state.since + turn.rules.dwell:
        turn.change(samples=(*state.samples, sample))
    elif state.phase is Phase.GOING and turn.rules.interval is not None:
        samples = (*state.samples, sample)
        if sample.time - max(state.read, state.since) >= turn.rules.interval:
            turn.commands.append(Observe(tuple(one.reading for one in samples), is_moving=True))
            turn.change(read=sample.time)
            samples = ()
        turn.change(samples=samples)


def _advise(turn: Turn, advised: Advised) -> None:
    is_over = advised.status != SEARCHING
    if not is_over and turn.state.phase is Phase.GOING and _is_same_place(turn, advised):
        return
    if advised.answers != ON_WAY or is_over or turn.state.advice is None:
        turn.change(advice=advised)
    phase = turn.state.phase
    if is_over and phase in ON_TASK:
        turn.go_home(f"{advised.status}: {advised.why}")
    elif (phase is Phase.THINKING and advised.answers == STAY) or (
        phase is Phase.GOING and advised.answers is None
    ):
        turn.go()


def _is_same_place(turn: Turn, advised: Advised) -> bool:
    """Whether the vehicle is on its way to the place of an advice already, or as near as it gets."""
    now = turn.state.advice
    if now is None or now.place is None or advised.place is None:
        return False
    climb = turn.height_of(advised) - turn.advised_height
    return math.dist(now.place, advised.place) <= ARRIVED_M and abs(climb) <= SAME_HEIGHT_M


def _refuse_reading(turn: Turn, refused: NotRead) -> None:
    turn.note(f"A reading does not count: {refused.reason}", is_alarm=True)
    if turn.state.phase is not Phase.THINKING or refused.answers != STAY:
        return
    turn.change(refusals=turn.state.refusals + 1, samples=())
    if turn.state.refusals < MAX_TRIES:
        turn.enter(Phase.READING)
    else:
        turn.hold(f"{MAX_TRIES} readings in a row were refused", is_alarm=True)


def _obey(turn: Turn, word: Word) -> None:
    state = turn.state
    if state.phase is Phase.ENDED:
        turn.note("The flight has ended.")
    elif word is Word.RESUME:
        _resume(turn)
    elif state.phase is Phase.TAKEN_OVER:
        turn.note(f"The pilot has the vehicle: say resume before {word}.")
    elif word is Word.PAUSE:
        turn.hold("a person said pause")
    else:
        turn.go_home("a person said home")


def _resume(turn: Turn) -> None:
    if turn.state.phase not in (Phase.HOLDING, Phase.TAKEN_OVER, Phase.RETURNING):
        turn.note("There is nothing to resume.")
    elif turn.state.is_low:
        turn.note("The battery is low: the search is not resumed.", is_alarm=True)
    else:
        fence = turn.state.fence if turn.state.fence == "up" else ""
        cleared = {"way": (), "samples": (), "tries": 0, "refusals": 0, "returning": "", "asked": ""}
        turn.change(is_granted=True, fence=fence, wanted=None, before=(), has_flown=False, **cleared)
        turn.enter(Phase.WAITING)


def _acknowledge(turn: Turn, answer: Done | Failed) -> None:
    command = answer.command
    if isinstance(answer, Done):
        if isinstance(command, UploadFence):
            turn.change(fence="up")
            turn.note("The autopilot has the geofence.")
        return
    turn.note(f"The autopilot did not {command}: {answer.reason}.", is_alarm=True)
    match command:
        case UploadFence() | Arm():
            turn.change(fence="" if isinstance(command, UploadFence) else turn.state.fence)
            if turn.state.phase is Phase.WAITING:
                turn.hold(f"the autopilot did not {command}")
        case SetMode(mode=mode):
            _miss_mode(turn, mode, answer.reason)
        case TakeOff():
            if turn.state.phase is Phase.TAKING_OFF and not turn.state.is_flying:
                turn.hold(f"the autopilot did not {command}")
        case GoTo(to=to):
            if turn.state.way and turn.state.way[0] == to:
                turn.try_again()


def _miss_mode(turn: Turn, mode: str, reason: str) -> None:
    if turn.state.phase is not Phase.WAITING or mode != GUIDED:
        return
    if turn.state.is_flying:
        turn.hand_over(f"the autopilot does not change to mode {GUIDED} ({reason})")
    else:
        turn.hold(f"the autopilot does not change to mode {GUIDED} ({reason})")
