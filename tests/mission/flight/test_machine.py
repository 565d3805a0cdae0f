"""The state machine: laws that hold whatever happens, and what it does in each case."""

import itertools
import math

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from made_flights import (
    FENCE,
    HEIGHT,
    HOME,
    POND,
    TOWER,
    advice,
    feed,
    in_the_air,
    made_flight,
    moving,
    waypoints_of,
)

from dowsax.mission.flight.airspace import Waypoint
from dowsax.mission.flight.commands import (
    Arm,
    Cancel,
    GoTo,
    Observe,
    SetMode,
    TakeOff,
    UploadFence,
)
from dowsax.mission.flight.events import (
    ON_WAY,
    STAY,
    Battery,
    Done,
    Failed,
    Heartbeat,
    Home,
    NotRead,
    Pose,
    Said,
    Sample,
    Tick,
    Word,
)
from dowsax.mission.flight.state import ON_TASK, Phase, State
from dowsax.survey.reading import Reading

ALLOWED = shapely.Polygon(FENCE).difference(shapely.Polygon(POND)).difference(shapely.Polygon(TOWER))
"""At 12 m; made without the geometry of the package."""
places = st.tuples(st.floats(-20, 80), st.floats(-20, 60))
heights = st.one_of(st.just(HEIGHT), st.floats(-5, 150))
modes = st.sampled_from(["guided", "rtl", "loiter", "land", "stabilize"])

KINDS = ["heartbeat", "pose", "advice", "battery", "sample", "word", "failed", "tick", "no"]


steps = st.tuples(
    st.sampled_from([0.0, 0.2, 1.0, 4.0, 20.0]),
    st.sampled_from(KINDS),
    places,
    heights,
    modes,
    st.sampled_from(["searching"] * 5 + ["found"]),
    st.sampled_from([STAY, ON_WAY, None]),
    st.sampled_from(list(Word)),
    st.floats(0, 100),
)
journeys = st.lists(steps, min_size=5, max_size=50)
"""Events of any kind in any order, at times that go on."""


def event_of(time, kind, place, height, mode, status, answers, word, percent):
    match kind:
        case "heartbeat":
            return Heartbeat(time, mode, percent < 70)
        case "pose":
            return Pose(time, Waypoint(place, height))
        case "advice":
            return advice(time, place, status, answers)
        case "battery":
            return Battery(time, percent)
        case "sample":
            return Sample(time, Reading((1.0, 1.0), 1.0, time=time))
        case "word":
            return Said(time, word)
        case "failed":
            commands = SetMode(mode), Arm(), TakeOff(HEIGHT), GoTo(Waypoint(place, height))
            return Failed(time, commands[int(percent) % 4], "denied")
        case "no":
            return NotRead(time, "no", answers)
        case _:
            return Tick(time)


def events_of(journey):
    """The events; they are no part of the strategy, as the checks of types draw random numbers."""
    times = itertools.accumulate(step[0] for step in journey)
    return [event_of(time, *step[1:]) for time, step in zip(times, journey, strict=True)]


def beginnings(flight):
    return [State(), State(fence="up"), in_the_air(flight)]


@settings(max_examples=60, derandomize=True)
@given(journey=journeys, first=st.integers(0, 2))
def test_no_waypoint_is_ever_where_nothing_may_fly(journey, first):
    """Inside the fence, within heights and range, on a straight way that is free, whatever happens."""
    flight = made_flight(interval=2.0)
    state = beginnings(flight)[first]
    for event in events_of(journey):
        state, commands = flight.step(state, event)
        for to in waypoints_of(commands):
            assert flight.airspace.limits.lowest <= to.height <= flight.airspace.limits.highest
            assert shapely.dwithin(ALLOWED, shapely.Point(to.place), 0.01) or to.height > 15.0
            assert not shapely.Polygon(POND).buffer(-0.01).contains(shapely.Point(to.place))
            assert math.dist(to.place, state.home or HOME) <= 70.01
            here = state.here
            if (
                here is not None
                and abs(here.height - HEIGHT) < 0.5
                and ALLOWED.contains(shapely.Point(here.place))
            ):
                way = shapely.LineString([here.place, to.place])
                assert way.length < 1e-6 or ALLOWED.buffer(0.01).covers(way)
        for one in commands:
            if isinstance(one, TakeOff):
                assert one.height == HEIGHT


@settings(max_examples=60, derandomize=True)
@given(journey=journeys, first=st.integers(0, 2))
def test_after_a_take_over_nothing_moves_until_resume(journey, first):
    flight = made_flight()
    state = beginnings(flight)[first]
    for event in events_of(journey):
        before = state.phase
        state, commands = flight.step(state, event)
        is_resumed = isinstance(event, Said) and event.word is Word.RESUME
        if before is Phase.TAKEN_OVER and not is_resumed:
            assert not moving(commands)
            assert state.phase is Phase.TAKEN_OVER
        if state.phase is Phase.TAKEN_OVER:
            assert not moving(commands)


@settings(max_examples=60, derandomize=True)
@given(journey=journeys)
def test_a_lost_link_means_home(journey):
    """After any history: if the vehicle is under command and falls silent, it is asked to return."""
    flight = made_flight()
    state = in_the_air(flight)
    for event in events_of(journey):
        state, _ = flight.step(state, event)
    is_under_command = state.wanted is not None and state.phase in ON_TASK and not state.has_lost_link
    last = max(state.heard or 0.0, sum(step[0] for step in journey))
    state, _ = feed(flight, state, Tick(last + 6.0))
    if is_under_command and (state.is_flying or state.phase is Phase.RETURNING):
        assert state.phase is Phase.RETURNING
        assert state.wanted == "rtl"


@settings(max_examples=20, derandomize=True)
@given(journey=journeys)
def test_the_machine_is_a_function(journey):
    flight = made_flight()
    first, second = (feed(flight, in_the_air(flight), *events_of(journey)) for _ in range(2))
    assert first[0] == second[0]
    assert list(map(str, first[1])) == list(map(str, second[1]))


def test_from_the_ground_to_the_first_place():
    """Fence, guided mode, arming and take-off, each after the one before is done."""
    flight, at = made_flight(), Waypoint(HOME, 0.0)
    ready = Home(0.0, HOME), Heartbeat(0.0, "stabilize", False), Pose(0.0, at)
    state, commands = feed(flight, State(), *ready)
    assert not commands
    state, (fence,) = feed(flight, state, advice(0.0, (20.0, 10.0)))
    assert isinstance(fence, UploadFence)
    np.testing.assert_allclose(shapely.Polygon(fence.inside).area, 60 * 40, rtol=0.05)
    assert [shapely.Polygon(one).area for one in fence.outside] == pytest.approx([100.0])
    state, commands = feed(flight, state, Done(1.0, fence))
    assert moving(commands) == [SetMode("guided")]
    state, commands = feed(flight, state, Heartbeat(2.0, "stabilize", False))
    assert state.phase is Phase.WAITING
    assert not commands
    state, commands = feed(flight, state, Heartbeat(2.0, "guided", False))
    assert moving(commands) == [Arm()]
    state, commands = feed(flight, state, Heartbeat(3.0, "guided", True))
    assert moving(commands) == [TakeOff(HEIGHT)]
    state, commands = feed(flight, state, Pose(4.0, Waypoint(HOME, 6.0)))
    assert not commands
    state, commands = feed(flight, state, Heartbeat(8.0, "guided", True), Pose(8.0, Waypoint(HOME, 11.5)))
    assert waypoints_of(commands) == [Waypoint((20.0, 10.0), HEIGHT)]
    assert state.begun == 8


def test_flies_around_the_pond_and_reads_there():
    """By the corners of what is in the way, two metres from it; samples count after arrival."""
    flight = made_flight(stay=2.0, dwell=1.0)
    state, commands = feed(
        flight,
        State(fence="up"),
        Home(0.0, HOME),
        Heartbeat(0.0, "guided", True),
        Pose(0.0, Waypoint((15.0, 20.0), HEIGHT)),
        advice(0.0, (45.0, 20.0)),
    )
    corners = [one.place for one in state.way]
    assert waypoints_of(commands)[0].place == corners[0]
    assert corners[-1] == (45.0, 20.0)
    assert len(corners) == 3
    assert {corner[1] for corner in corners[:2]} <= {13.0, 27.0}
    time = 0.0
    for corner in corners:
        time += 5.0
        early = Sample(time, Reading(corner, 99.0, time=time))
        state, _ = feed(
            flight, state, Heartbeat(time, "guided", True), early, Pose(time, Waypoint(corner, HEIGHT))
        )
    assert state.phase is Phase.READING
    times = [time + step for step in (0.5, 1.0, 1.5, 2.0)]
    samples = [Sample(one, Reading(corners[-1], 1.0, time=one)) for one in times]
    state, commands = feed(flight, state, *samples)
    (observed,) = [one for one in commands if isinstance(one, Observe)]
    assert [one.time for one in observed.samples] == times[1:]
    assert state.phase is Phase.THINKING


def test_found_and_budget_lead_home_around_the_pond():
    """In guided mode until the straight way home is free, then in the autopilot's own mode."""
    flight = made_flight()
    state = in_the_air(flight, place=(50.0, 38.0), to=(50.0, 37.9))
    state, commands = feed(flight, state, advice(1.0, None, "found", ON_WAY))
    assert state.phase is Phase.RETURNING
    assert waypoints_of(commands)
    (corner,) = state.way
    state, commands = feed(flight, state, Pose(3.0, corner))
    assert moving(commands) == [SetMode("rtl")]
    state, _ = feed(flight, state, Heartbeat(4.0, "rtl", True), Heartbeat(9.0, "rtl", False))
    assert state.phase is Phase.ENDED
    spent = made_flight(time=100.0, returns=True)
    state, commands = feed(
        spent, in_the_air(spent, to=(20.0, 10.0)), Heartbeat(98.0, "guided", True), Tick(99.5)
    )
    assert moving(commands)[-1] == SetMode("rtl")
    assert "budget" in state.why


def test_a_landing_on_the_way_home_is_not_ended():
    """By the autopilot's failsafe or the pilot: another request to return would make it climb again."""
    flight = made_flight()
    state, _ = feed(flight, in_the_air(flight), Battery(1.0, 20.0), Heartbeat(2.0, "rtl", True))
    later = (Heartbeat(float(time), "land", True) for time in range(3, 40))
    state, commands = feed(flight, state, *later)
    assert state.phase is Phase.RETURNING
    assert not moving(commands)
    state, _ = feed(flight, state, Heartbeat(41.0, "land", False))
    assert state.phase is Phase.ENDED
    assert state.why.startswith("landed: the battery has 20 %")


def test_low_battery_leads_home_once():
    flight = made_flight()
    state, commands = feed(
        flight, in_the_air(flight), Battery(1.0, 31.0), Battery(2.0, 30.0), Battery(3.0, 29.0)
    )
    assert moving(commands) == [SetMode("rtl")]
    state, commands = feed(flight, state, Said(4.0, Word.RESUME))
    assert not moving(commands)


def test_the_pilot_takes_over_and_gives_back():
    flight = made_flight()
    state, commands = feed(flight, in_the_air(flight), Heartbeat(1.0, "loiter", True))
    assert state.phase is Phase.TAKEN_OVER
    assert Cancel() in commands
    state, commands = feed(
        flight, state, Heartbeat(2.0, "guided", True), Said(3.0, Word.HOME), Battery(4.0, 10.0)
    )
    assert not moving(commands)
    state, commands = feed(
        flight, state, Battery(5.0, 80.0), Heartbeat(5.0, "loiter", True), Said(6.0, Word.RESUME)
    )
    assert moving(commands) == [SetMode("guided")]
    state, commands = feed(flight, state, Heartbeat(6.0, "loiter", True))
    assert state.phase is Phase.WAITING
    state, commands = feed(flight, state, Heartbeat(7.0, "guided", True))
    assert waypoints_of(commands)
    assert state.phase is Phase.GOING


def test_the_mode_of_a_take_off_may_last_until_the_first_waypoint_arrives():
    """PX4 leaves it when it is sent somewhere; any other mode is a take-over there too."""
    flight = made_flight()
    state, _ = feed(
        flight,
        State(fence="up"),
        Home(0.0, HOME),
        Battery(0.0, 90.0),
        Pose(0.0, Waypoint(HOME, 0.0)),
        advice(0.0, (20.0, 10.0)),
        Heartbeat(0.0, "loiter", False),
        Heartbeat(1.0, "guided", False),
        Heartbeat(2.0, "guided", True),
        Heartbeat(3.0, "takeoff", True),
        Pose(7.0, Waypoint(HOME, 11.5)),
    )
    assert state.phase is Phase.GOING
    late, commands = feed(flight, state, Heartbeat(7.1, "takeoff", True), Heartbeat(8.1, "guided", True))
    assert late.phase is Phase.GOING
    assert not moving(commands)
    for state_then, mode in ((state, "rtl"), (state, "posctl"), (late, "takeoff")):
        taken, _ = feed(flight, state_then, Heartbeat(9.0, mode, True))
        assert taken.phase is Phase.TAKEN_OVER


def test_wind_outside_is_answered_by_the_way_back():
    flight = made_flight()
    away = Pose(1.0, Waypoint((-3.0, 20.0), HEIGHT))
    _, commands = feed(flight, in_the_air(flight, to=(10.0, 30.0)), away)
    assert waypoints_of(commands)[0].place == pytest.approx((2.0, 20.0), abs=0.1)


def test_three_refused_readings_hold_and_a_mute_advisor_leads_home():
    flight = made_flight()
    state = in_the_air(flight, to=(10.5, 10.0))
    state, _ = feed(flight, state, Pose(1.0, Waypoint((10.5, 10.0), HEIGHT)))
    for number in range(3):
        assert state.phase is Phase.READING
        sample = Sample(2.0 + number, Reading((10.5, 10.0), 1.0))
        state, _ = feed(flight, state, Heartbeat(2.0 + number, "guided", True), sample)
        assert state.phase is Phase.THINKING
        state, _ = feed(flight, state, NotRead(2.5 + number, "absurd", STAY))
    assert state.phase is Phase.HOLDING
    state = in_the_air(flight, to=(10.5, 10.0))
    state, _ = feed(
        flight, state, Pose(1.0, Waypoint((10.5, 10.0), HEIGHT)), Sample(2.0, Reading((10.5, 10.0), 1.0))
    )
    state, _ = feed(flight, state, Heartbeat(400.0, "guided", True))
    assert state.phase is Phase.RETURNING


def test_a_dry_run_asks_for_no_mode_and_takes_nothing_for_a_take_over():
    flight = made_flight(is_dry=True)
    state, commands = feed(
        flight,
        State(),
        Home(0.0, HOME),
        Heartbeat(0.0, "stabilize", False),
        Pose(0.0, Waypoint(HOME, 0.0)),
        advice(0.0, (20.0, 10.0)),
        Heartbeat(1.0, "loiter", True),
    )
    assert state.phase is Phase.GOING
    # All of them, so that a person knows where to take it.
    assert [to.place for to in waypoints_of(commands)] == [HOME, (20.0, 10.0)]
    state, _ = feed(flight, state, Pose(2.0, Waypoint((20.0, 10.0), HEIGHT)))
    assert state.phase is Phase.READING


def test_a_restart_in_the_air_waits_for_the_one_who_flies():
    """In guided mode it goes on; in any other mode it leaves the vehicle to its pilot."""
    flight = made_flight()
    begin = Home(0.0, HOME), Pose(0.0, Waypoint((10.0, 10.0), HEIGHT)), advice(0.0, (20.0, 10.0))
    state, commands = feed(flight, State(fence="up", has_flown=True), Heartbeat(0.0, "guided", True), *begin)
    assert waypoints_of(commands)
    state, commands = feed(flight, State(fence="up", has_flown=True), Heartbeat(0.0, "rtl", True), *begin)
    assert state.phase is Phase.TAKEN_OVER
    assert not moving(commands)
    landed = Heartbeat(0.0, "guided", False), Home(0.0, HOME), Pose(0.0, Waypoint(HOME, 0.0)), begin[2]
    state, commands = feed(flight, State(fence="up", has_flown=True), *landed)
    assert state.phase is Phase.HOLDING
    assert not moving(commands)
