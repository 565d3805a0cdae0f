"""On the ground and at take-off: what is waited for, and what is never asked again."""

import pytest
from made_flights import HEIGHT, HOME, advice, feed, made_flight, moving, yard

from dowsax.mission.flight.airspace import Airspace, Waypoint
from dowsax.mission.flight.commands import Arm, Cancel, GoTo, Note, SetMode, TakeOff
from dowsax.mission.flight.events import Advised, Failed, Heartbeat, Home, Pose, Said, Tick, Word
from dowsax.mission.flight.machine import Flight
from dowsax.mission.flight.state import Phase, Rules, State
from dowsax.site.flight import FlightSetting


def waiting_to_arm(flight, **fields):
    """On the ground in guided mode, with the request to arm on its way."""
    begin = Home(0.0, HOME), Pose(0.0, Waypoint(HOME, 0.0)), advice(0.0, (20.0, 10.0))
    modes = Heartbeat(0.0, "loiter", False), Heartbeat(1.0, "guided", False)
    return feed(flight, State(fence="up", **fields), *begin, *modes)


def test_pause_on_the_ground_repeats_nothing():
    """Neither arming nor take-off may follow from what was asked before."""
    flight = made_flight()
    state, commands = waiting_to_arm(flight)
    assert commands[-1] == Arm()
    paused, commands = feed(flight, state, Said(1.5, Word.PAUSE))
    assert commands[0] == Cancel()
    assert not moving(commands)
    going_up, commands = feed(flight, state, Heartbeat(2.0, "guided", True))
    assert moving(commands) == [TakeOff(HEIGHT)]
    _, commands = feed(flight, going_up, Said(2.5, Word.PAUSE))
    assert commands[0] == Cancel()
    assert not [one for one in commands if isinstance(one, TakeOff)]
    _, commands = feed(flight, paused, Said(3.0, Word.RESUME))
    assert commands[-1] == SetMode("guided") or commands[-1] == Arm()


@pytest.mark.parametrize("why", [Said(2.5, Word.PAUSE), Failed(2.5, TakeOff(HEIGHT), "denied")])
def test_a_vehicle_that_has_not_left_the_ground_is_sent_nowhere(why):
    """A waypoint 2 m up could lift it."""
    flight = made_flight()
    state, _ = waiting_to_arm(flight)
    state, commands = feed(flight, state, Heartbeat(2.0, "guided", True))
    assert moving(commands) == [TakeOff(HEIGHT)]
    state, commands = feed(flight, state, why)
    assert state.phase is Phase.HOLDING
    assert Cancel() in commands
    assert not moving(commands)
    going_up = Heartbeat(2.0, "guided", True), Pose(2.4, Waypoint(HOME, 6.0)), Said(2.5, Word.PAUSE)
    _, commands = feed(flight, waiting_to_arm(flight)[0], *going_up)
    assert moving(commands)[-1] == GoTo(Waypoint(HOME, 6.0))


@pytest.mark.parametrize("height", [5.0, 40.0])
def test_a_take_off_ends_at_the_height_that_was_asked_for(height):
    """Advice that comes on the way up, after the reading of another sensor, is the next waypoint."""
    flight = made_flight()
    state, _ = feed(flight, waiting_to_arm(flight)[0], Heartbeat(2.0, "guided", True))
    higher = Advised(3.0, "searching", (20.0, 10.0), height, "why")
    state, commands = feed(flight, state, higher, Pose(4.0, Waypoint(HOME, 6.0)))
    assert state.phase is Phase.TAKING_OFF
    assert not moving(commands)
    state, commands = feed(flight, state, Pose(5.0, Waypoint(HOME, HEIGHT - 0.5)))
    assert state.phase is Phase.GOING
    assert state.way[-1] == Waypoint((20.0, 10.0), height)


def test_a_link_lost_on_the_ground_is_waited_for():
    flight = made_flight()
    state, _ = waiting_to_arm(flight)
    state, commands = feed(flight, state, Tick(7.0))
    assert state.phase is Phase.WAITING
    assert state.has_lost_link
    assert not moving(commands)
    state, commands = feed(flight, state, Heartbeat(60.0, "guided", True))
    assert moving(commands) == [TakeOff(HEIGHT)]


def test_it_takes_off_only_where_it_may_be():
    """Where the vehicle stands, not only where its autopilot returns to: it may have been carried."""
    flight = made_flight()
    begin = Home(0.0, HOME), Heartbeat(0.0, "guided", False), advice(0.0, (20.0, 10.0))
    for place in ((-8.0, 5.0), (30.0, 20.0)):
        state, commands = feed(flight, State(fence="up"), *begin, Pose(0.0, Waypoint(place, 0.0)))
        assert state.phase is Phase.HOLDING
        assert "place of take-off" in state.why
        assert not moving(commands)


@pytest.mark.parametrize("is_dry", [True, False])
@pytest.mark.parametrize(("limit", "is_far"), [(62.0, True), (62.7, False), (None, False)])
def test_it_takes_off_only_where_each_place_of_the_search_is_within_range(limit, is_far, is_dry):
    """Advice beyond it would be refused in the air; the farthest clear place is (58, 38) m."""
    site = yard(flight=FlightSetting(height=HEIGHT, range=limit))
    flight = Flight(Airspace.of(site), Rules(speed=5.0, is_dry=is_dry))
    state, commands = waiting_to_arm(flight)
    assert (state.phase is Phase.HOLDING) == is_far
    if is_far:
        assert not moving(commands)
        assert state.why == (
            "places of the search are up to 62.4 m from the place of take-off, beyond the range of 62 m in "
            "[flight]: raise it, make the geofence smaller, or take off from nearer"
        )


def test_it_does_not_take_off_without_time():
    """The time goes on from the beginning of the search, also while a battery is changed."""
    flight = made_flight(time=100.0)
    for begun, expected in ((-99.5, Phase.ENDED), (-90.0, Phase.WAITING)):
        state, commands = waiting_to_arm(flight, begun=begun)
        assert state.phase is expected
        assert (Arm() in commands) == (expected is Phase.WAITING)
    assert waiting_to_arm(flight, begun=-200.0)[0].why == "the 100 s of the budget are over"


def test_a_battery_that_is_not_known_is_an_alarm_before_take_off():
    flight = made_flight()
    for fields, expected in (({}, 1), ({"is_battery_known": True}, 0)):
        _, commands = waiting_to_arm(flight, **fields)
        alarms = [one for one in commands if isinstance(one, Note) and "how full the battery is" in one.text]
        assert len(alarms) == expected
        assert all(one.is_alarm for one in alarms)
