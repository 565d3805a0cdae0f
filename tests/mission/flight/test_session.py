"""A flight as it runs: what becomes of readings from elsewhere."""

from dataclasses import replace
from unittest.mock import create_autospec

import pytest

from benchmarks.autopilot_stub import AutopilotStub, StubPort
from benchmarks.simulated_flights import HOME, SITE
from dowsax.mission.flight.airspace import Airspace
from dowsax.mission.flight.commands import Note, Observe
from dowsax.mission.flight.events import STAY, Sample, Tick
from dowsax.mission.flight.feeds import Feed
from dowsax.mission.flight.link import Link
from dowsax.mission.flight.machine import Flight
from dowsax.mission.flight.session import Session
from dowsax.mission.flight.state import Phase, Rules, State
from dowsax.mission.flight.worker import AdvisorWorker
from dowsax.mission.plan import Plan
from dowsax.site import parse_site
from dowsax.site.flight import FlightSetting
from dowsax.survey.reading import Reading, Refused


@pytest.fixture(scope="module")
def airspace_and_plan():
    site = parse_site(SITE)
    airspace = Airspace.of(site)
    return airspace, airspace.plan(Plan.of(site))


@pytest.fixture
def worker():
    worker = create_autospec(AdvisorWorker, instance=True)
    worker.poll.return_value = iter(())
    return worker


@pytest.fixture
def said():
    """What a person was told."""
    return []


@pytest.fixture
def session(airspace_and_plan, worker, said):
    airspace, plan = airspace_and_plan
    stub = AutopilotStub(plan.coordinates, HOME, lambda place, height: 7.0)
    rules = Rules(speed=5.0, is_dry=True)
    link = Link(StubPort(stub), plan.coordinates, "value", is_dry=True)
    feed = create_autospec(Feed, instance=True)
    feed.poll.return_value = iter(())
    made = Session(plan, Flight(airspace, rules), State(), link, worker, 1e9, said.append, feed)
    for step in range(20):
        stub.step(0.1)
        made.step(0.1 * step)
    return made


@pytest.mark.parametrize(("hold", "expected"), [(None, 7.0), (3.0, 3.0), (0.0, 0.0)])
def test_places_are_chosen_at_the_speed_of_the_flight(airspace_and_plan, hold, expected):
    airspace, plan = airspace_and_plan
    airspace = replace(airspace, limits=FlightSetting(height=12.0, speed=4.0, hold=hold))
    walked = replace(plan, reach=replace(plan.reach, speed=1.0, reading_time=7.0))
    reach = airspace.plan(walked).reach
    assert (reach.speed, reach.reading_time) == (4.0, expected)


def test_sensors_that_read_together_have_readings_of_their_own(session, worker):
    readings = tuple(Reading(HOME, value, time=5.0, sensor=name) for name, value in (("A", 1.0), ("B", 2.0)))
    session._do(Observe(readings), 5.0)
    (named, answers), _ = worker.observe.call_args
    assert [one.id for one in named] == ["fly-5000-A", "fly-5000-B"]
    assert answers == STAY
    session._do(Observe((Reading(HOME, 1.0, time=5.0),)), 5.0)
    (named, _), _ = worker.observe.call_args
    assert [one.id for one in named] == ["fly-5000"]


def test_what_a_feed_says_is_written_down_and_its_readings_are_taken(session, worker):
    lost = Note("The sensor is gone.", is_alarm=True)
    place = {"id": "7", "x": 5.0, "y": 5.0, "value": 3.0}
    session._readings.poll.return_value = iter([lost, (None, place), (None, Refused("No number."))])
    session.step(2.1)
    worker.note.assert_called_once_with(lost)
    (request, _), _ = worker.ask.call_args
    assert request.keys == place
    worker.refuse.assert_called_once_with("{}", "No number.")


def sample_of(session, keys, now=2.0):
    """The reading that becomes of a row without a place."""
    taken = []
    session._feed = lambda event, now: taken.append(event)
    session.take_row(None, keys, now)
    session._place_samples(now + 2.0)
    return [one.reading for one in taken]


@pytest.mark.parametrize(("keys", "height"), [({"altitude": 12}, 12.0), ({"height_m": "8"}, 8.0), ({}, 0.0)])
def test_the_height_of_a_reading_is_its_own(session, keys, height):
    (reading,) = sample_of(session, {"value": 2.1, **keys})
    assert reading.position == pytest.approx(HOME, abs=0.05)
    assert reading.altitude == pytest.approx(height, abs=0.1)


@pytest.mark.parametrize("name", ["time", "timestamp", "Time (s)", "logged"])
def test_the_time_of_a_row_is_found_by_the_name_of_its_column(session, name):
    """Also by that of `[columns]`: the vehicle was there then, not when the row arrived."""
    session._plan = replace(session._plan, columns={"time": "logged"})
    (reading,) = sample_of(session, {"value": 2.1, name: "1000000001.5"})
    assert reading.time == 1_000_000_001.5


@pytest.mark.parametrize(("time", "side"), [("1000003602", "3,600 s after"), ("999996402", "3,600 s before")])
def test_a_clock_that_is_wrong_is_said(session, worker, said, time, side):
    assert sample_of(session, {"value": 2.1, "time": time}) == []
    expected = (
        "Not used: the position of the vehicle at its time is not known. "
        f"That is {side} it arrived: check the sensor's clock and time zone."
    )
    assert said[-1] == expected
    worker.refuse.assert_called_once()


def test_a_clock_that_is_set_after_the_start_refuses_no_reading(session, worker):
    """It is said once; the times that are recorded go on evenly, as those of a budget do."""
    session._flight = replace(session._flight, rules=Rules(speed=5.0, is_dry=False))
    session.state = session.state._replace(begun=1.0)
    for epoch in (1e9 + 0.3, 1.5e9, 1.5e9 + 0.2):
        session.set_clock(epoch)
    ((note,),) = [args for args, _ in worker.note.call_args_list]
    assert note.text == (
        "The clock of the computer was set ahead by 499,999,999.7 s; the times of readings go on evenly."
    )
    assert note.data == {"clock": 1.5e9, "begun": 1.5e9 + 1.0}
    (reading,) = sample_of(session, {"value": 2.1, "time": "1500000001.7"})
    assert reading.time == 1_000_000_001.5


def test_what_is_checked_before_a_flight_is_said(session, said):
    """Place, battery and sensor once; each reading."""
    assert sorted(said[:3]) == [
        "The battery has 100 %.",
        "The first sample is 7 dB at (5.0, 5.0) m.",
        "The vehicle is at (5.0, 5.0) m, 0.0 m up.",
    ]
    known = len(said)
    session._do(Observe((Reading(HOME, 6.5, time=5.0, sensor="A"),)), 5.0)
    session._do(Observe((Reading((1.25, 2.0), 7.0, time=5.0),)), 5.0)
    assert said[known:] == ["Read 6.5 dB at (5.0, 5.0) m by A.", "Read 7 dB at (1.2, 2.0) m."]


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({}, "the advisor"),
        ({"here": None, "home": None}, "the position of the vehicle"),
        ({"home": None}, "the home position of the autopilot"),
    ],
)
def test_after_a_while_it_is_said_what_is_waited_for(session, said, fields, missing):
    session._link = create_autospec(Link, instance=True)
    session._link.receive.return_value = session._link.tick.return_value = ()
    session.state = session.state._replace(heard=11.0, **fields)
    for time in (2.0, 9.0, 11.5, 12.0, 30.0):
        session.step(time)
    assert [text for text in said if text.startswith("Waiting for")] == [f"Waiting for {missing}."]


@pytest.mark.parametrize("is_dry", [True, False])
def test_a_dry_run_leaves_nothing_from_which_a_flight_goes_on(session, worker, is_dry):
    session._flight = replace(session._flight, rules=Rules(speed=5.0, is_dry=is_dry))
    session._write(Note("Going.", data={"phase": "going", "why": ""}))
    ((note,), _) = worker.note.call_args
    assert note.data == ({} if is_dry else {"phase": "going", "why": ""})


@pytest.mark.parametrize("word", ["withdraw", "restore"])
def test_earlier_readings_can_be_changed_in_flight(session, worker, word):
    session.take_row(None, {word: True, "id": "7"}, 2.0)
    (request, _), _ = worker.ask.call_args
    assert request.target.id == "7"
    assert (request.is_withdrawal, request.is_restoration) == (word == "withdraw", word == "restore")


@pytest.mark.parametrize("value", ["nan", "inf", "-1e400", "", "none", "1e39"])
def test_what_is_no_number_never_becomes_a_sample(session, worker, value):
    session.take_row(None, {"value": value}, 2.0)
    session.step(4.0)
    assert not worker.observe.called
    assert session.state.samples == ()
    assert worker.refuse.called


def test_samples_that_have_no_mean_end_neither_the_flight_nor_its_wait(session, worker):
    """Each of them is a number, as a stranger may send it; the sum of their counts is none."""
    session._plan = replace(session._plan, unit="counts")
    samples = tuple(Sample(time, Reading(HOME, 9e29, time=time, dwell=1.0)) for time in (4.0, 5.0))
    session.state = session.state._replace(phase=Phase.READING, since=1.0, samples=samples)
    session._feed(Tick(5.0), 5.0)
    assert session.state.phase is Phase.READING
    assert session.state.refusals == 1
    alarms = [note.text for (note,), _ in worker.note.call_args_list if note.is_alarm]
    expected = "The value is not a usable number: leave the reading out, or measure again."
    assert alarms == [f"A reading does not count: {expected}"]
