"""What one step does: it asks for modes, goes, holds and returns."""

import math

import pytest
from made_flights import HEIGHT, advice, feed, in_the_air, made_flight, moving, waypoints_of

from dowsax.mission.flight.airspace import Waypoint
from dowsax.mission.flight.commands import Cancel, Note, Observe, SetMode
from dowsax.mission.flight.events import Heartbeat, Pose, Said, Sample, Word
from dowsax.mission.flight.state import Phase
from dowsax.survey.reading import Reading


def test_a_mode_that_nobody_asked_for_is_the_pilots_also_while_one_is_asked():
    """The way home too; and what was asked in turn is shown in turn, none of it twice."""
    flight = made_flight()
    state, _ = feed(flight, in_the_air(flight), Heartbeat(1.0, "loiter", True), Said(2.0, Word.RESUME))
    assert state.wanted == "guided"
    taken, commands = feed(flight, state, Heartbeat(2.5, "loiter", True), Heartbeat(3.0, "rtl", True))
    assert taken.phase is Phase.TAKEN_OVER
    assert Cancel() in commands
    state, commands = feed(flight, state, Said(2.5, Word.HOME), Heartbeat(3.0, "loiter", True))
    assert moving(commands) == [SetMode("rtl")]
    state, commands = feed(flight, state, Heartbeat(4.0, "guided", True))
    assert state.phase is Phase.RETURNING
    back, _ = feed(flight, state, Heartbeat(5.0, "loiter", True))
    assert back.phase is Phase.TAKEN_OVER
    state, _ = feed(flight, state, Heartbeat(5.0, "rtl", True), Heartbeat(6.0, "guided", True))
    assert state.phase is Phase.TAKEN_OVER


def test_pause_holds_here_and_resume_goes_on():
    flight = made_flight()
    state, commands = feed(flight, in_the_air(flight), Said(1.0, Word.PAUSE))
    # What waits for an answer, such as the speed, would hold it up.
    assert commands[0] == Cancel()
    assert waypoints_of(commands) == [Waypoint((10.0, 10.0), HEIGHT)]
    state, commands = feed(flight, state, advice(2.0, (20.0, 10.0)), Heartbeat(3.0, "guided", True))
    assert not moving(commands)
    state, commands = feed(flight, state, Said(4.0, Word.RESUME))
    assert waypoints_of(commands) == [Waypoint((20.0, 10.0), HEIGHT)]


def test_a_forbidden_place_is_an_alarm_and_the_vehicle_holds():
    flight = made_flight()
    for place in ((30.0, 20.0), (70.0, 10.0), (math.nan, 1.0), (50.0, 30.0)):
        state, commands = feed(flight, in_the_air(flight, to=(10.0, 30.0)), advice(1.0, place))
        assert state.phase is Phase.HOLDING
        assert waypoints_of(commands) == [Waypoint((10.0, 10.0), HEIGHT)]
        assert any(isinstance(one, Note) and one.is_alarm and "Refused" in one.text for one in commands)


def fly_beside(flight, seconds, advised):
    """The commands of a leg on which the vehicle samples every second, and a sensor elsewhere every two."""
    state, done = in_the_air(flight), []
    for second in range(1, seconds):
        here = (10.0 + 0.2 * second, 10.0)
        sample = Sample(float(second), Reading(here, 1.0, time=float(second)))
        events = [
            Heartbeat(float(second), "guided", True),
            Pose(float(second), Waypoint(here, HEIGHT)),
            sample,
        ]
        if second % 2 == 0:
            events.append(advice(float(second), advised(second)))
        state, commands = feed(flight, state, *events)
        done += commands
    return state, done


@pytest.mark.parametrize("far", [0.0, 0.3, 3.0])
def test_advice_after_another_reading_loses_no_samples_on_the_way(far):
    """A new place is a new waypoint; the same one, or one as near as the vehicle gets, is none."""
    flight = made_flight(interval=5.0)
    state, commands = fly_beside(flight, 30, lambda second: (50.0, 10.0 + far * (second % 4)))
    assert state.phase is Phase.GOING
    observed = [one for one in commands if isinstance(one, Observe)]
    assert [one.samples[-1].time for one in observed] == [5.0, 10.0, 15.0, 20.0, 25.0]
    assert {len(one.samples) for one in observed} == {5}
    assert len(waypoints_of(commands)) == (14 if far > 1.0 else 0)


def test_a_vehicle_that_does_not_move_returns_whatever_another_sensor_reads():
    flight = made_flight()
    state, time = in_the_air(flight), 0.0
    while state.phase is Phase.GOING:
        time += 2.0
        assert time < 1000.0
        state, _ = feed(flight, state, Heartbeat(time, "guided", True), advice(time, (50.0, 10.0)))
    assert state.phase is Phase.RETURNING
    assert state.why == "the vehicle does not follow its waypoints"
