"""The link against the stub of an autopilot: telemetry, commands that get through, and what is given up."""

import math
import socket

import numpy as np
import pytest
from made_flights import FENCE, HOME, POND
from pymavlink.dialects.v20 import ardupilotmega as dialect

from benchmarks.autopilot_stub import GUIDED, RTL, AutopilotStub, Faults, StubPort
from dowsax.geo.local import LocalCoordinates
from dowsax.mission.flight.airspace import Waypoint
from dowsax.mission.flight.commands import Arm, Cancel, GoTo, Note, SetMode, SetSpeed, TakeOff, UploadFence
from dowsax.mission.flight.connection import connect
from dowsax.mission.flight.events import Battery, Done, Failed, Heartbeat, Home, Pose
from dowsax.mission.flight.link import Link, Measured

COORDINATES = LocalCoordinates((52.1, 5.1))
STEP_S = 0.1
NO_MORE = 0.0, 0.0, 0.0, [1.0, 0.0, 0.0, 0.0], 0.0, 0.0, 0.0
"""What else a message of a home has."""


def made_link(**changes):
    fields = {"coordinates": COORDINATES, "home": HOME, "read": lambda place, height: 7.0} | changes
    stub = AutopilotStub(**fields)
    return stub, Link(StubPort(stub), COORDINATES, "value")


def run(stub, link, seconds, now=0.0):
    """All that arrives while this time goes by, and the time then."""
    found = []
    for _ in range(round(seconds / STEP_S)):
        now += STEP_S
        stub.step(STEP_S)
        found += [*link.receive(now), *link.tick(now)]
    return found, now


def of_kind(kind, found):
    return [one for one in found if isinstance(one, kind)]


def test_telemetry_becomes_events():
    stub, link = made_link(battery=64.0)
    found, now = run(stub, link, 5.0)
    beat = of_kind(Heartbeat, found)[-1]
    assert (beat.mode, beat.is_armed) == ("stabilize", False)
    assert of_kind(Battery, found)[-1].percent == 64.0
    assert of_kind(Home, found)[-1].place == pytest.approx(HOME, abs=0.02)
    pose = of_kind(Pose, found)[-1]
    assert pose.at.place == pytest.approx(HOME, abs=0.02)
    assert pose.time == pytest.approx(now, abs=0.3)
    assert of_kind(Measured, found)[-1].value == 7.0


@pytest.mark.parametrize("drop", [0.0, 0.2])
def test_commands_get_through_and_are_done_once(drop):
    """Fence, mode, arming, take-off and a waypoint, though packets are lost either way."""
    stub, link = made_link(faults=Faults(drop), seed=3)
    _, now = run(stub, link, 10.0)
    fence = UploadFence(FENCE, (POND,))
    place = (20.0, 30.0)
    for command, seconds in (
        (fence, 25.0),
        (SetMode("guided"), 7.0),
        (Arm(), 7.0),
        (TakeOff(10.0), 12.0),
        (SetSpeed(4.0), 7.0),
        (GoTo(Waypoint(place, 12.0)), 20.0),
    ):
        link.send(command, now)
        found, now = run(stub, link, seconds, now)
        assert [one.command for one in of_kind(Done, found)] == [command]
    assert [command for command, _ in stub.fence] == [5001, 5002]
    for (_, corners), expected in zip(stub.fence, (FENCE, POND), strict=True):
        np.testing.assert_allclose(corners, expected, atol=0.02)
    assert stub.mode == GUIDED
    assert stub.place == pytest.approx(place, abs=0.5)
    assert stub.height == pytest.approx(12.0, abs=0.1)
    assert {round(height, 3) for _, height, _, _ in stub.waypoints} == {12.0}


def test_what_is_refused_or_unanswered_fails():
    stub, link = made_link()
    _, now = run(stub, link, 3.0)
    waypoint = GoTo(Waypoint((20.0, 30.0), 12.0))
    link.send(waypoint, now)
    found, now = run(stub, link, 1.0, now)
    assert [(one.command, one.reason) for one in of_kind(Failed, found)] == [(waypoint, "denied")]
    stub.faults.is_cut = True
    link.send(SetMode("guided"), now)
    link.send(UploadFence(FENCE, ()), now)
    found, now = run(stub, link, 12.0, now)
    assert {(str(one.command)[:6], one.reason) for one in of_kind(Failed, found)} == {
        ("change", "no answer"),
        ("upload", "no answer to the upload"),
    }
    assert not of_kind(Heartbeat, found)


def test_a_second_take_off_that_fails_says_that_the_first_was_heard():
    """Its answer was lost, and in the air another one is refused; a first one that fails has failed."""
    stub, link = made_link()
    _, now = run(stub, link, 3.0)
    link.send(TakeOff(10.0), now)
    found, now = run(stub, link, 1.0, now)
    assert [one.reason for one in of_kind(Failed, found)] == ["failed"]
    stub.is_armed, stub.mode = True, GUIDED
    link.send(TakeOff(10.0), now)
    assert not [*link.tick(now)]
    stub.step(STEP_S)
    stub.recv_all()
    found, _ = run(stub, link, 5.0, now)
    assert [one.command for one in of_kind(Done, found)] == [TakeOff(10.0)]
    assert not of_kind(Failed, found)


def test_home_comes_first_and_cancel_forgets():
    """The way home does not wait for what has no answer; after a take-over nothing is repeated."""
    stub, link = made_link()
    _, now = run(stub, link, 3.0)
    stub.faults.is_cut = True
    for command in (SetMode("guided"), Arm(), GoTo(Waypoint((20.0, 30.0), 12.0))):
        link.send(command, now)
    _, now = run(stub, link, 1.5, now)
    link.send(SetMode("rtl"), now)
    stub.faults.is_cut = False
    _, now = run(stub, link, 3.0, now)
    assert stub.modes == [RTL]
    link.send(SetMode("guided"), now)
    link.send(Cancel(), now)
    _, now = run(stub, link, 3.0, now)
    assert stub.modes == [RTL]


def test_noise_and_strangers_are_ignored():
    """Bytes that are no MAVLink, and other systems, neither stop the link nor count."""
    stub, link = made_link()
    stranger = AutopilotStub(COORDINATES, (50.0, 30.0), lambda place, height: math.nan)
    stranger._codec.srcSystem = 9
    _, now = run(stub, link, 2.0)
    for _ in range(30):
        stranger.step(STEP_S)
        stub._outgoing += [b"\xfd\x00garbage", *stranger._outgoing]
        stranger.recv_all()
        found, now = run(stub, link, STEP_S, now)
        assert all(one.at.place == pytest.approx(HOME, abs=0.02) for one in of_kind(Pose, found))
        assert all(one.value == 7.0 for one in of_kind(Measured, found))
    found, _ = run(stub, link, 2.0, now)
    assert of_kind(Heartbeat, found)


def test_another_component_of_the_vehicle_is_not_its_autopilot():
    """A camera may send the value of a sensor, but neither positions nor answers to our commands."""
    stub, link = made_link()
    _, now = run(stub, link, 2.0)
    camera = dialect.MAVLink(stub, 1, 100)
    link.send(SetMode("guided"), now)
    stub.faults.is_cut = True
    link.receive(now)
    _, now = run(stub, link, 0.2, now)
    stub.faults.is_cut = False
    camera.command_ack_send(dialect.MAV_CMD_DO_SET_MODE, 0)
    camera.global_position_int_send(0, 10, 10, 0, 0, 0, 0, 0, 0)
    camera.home_position_send(10, 10, 0, *NO_MORE)
    camera.sys_status_send(0, 0, 0, 0, 0, -1, 3, 0, 0, 0, 0, 0, 0)
    camera.named_value_float_send(0, b"value", 5.0)
    found = [*link.receive(now)]
    assert [one.value for one in of_kind(Measured, found)] == [5.0]
    assert len(found) == 1


def test_wind_is_where_the_air_goes_and_a_number():
    """ArduPilot says where it comes from, PX4 where it goes. Neither NaN nor a storm counts."""
    stub, link = made_link()
    _, now = run(stub, link, 1.5)
    for direction, speed, expected in (
        (270.0, 3.0, (3.0, 0.0)),
        (0.0, 2.0, (0.0, -2.0)),
        (math.inf, 2.0, (0.0, -2.0)),
        (0.0, math.nan, (0.0, -2.0)),
        (0.0, 1e35, (0.0, -2.0)),
    ):
        stub._codec.wind_send(direction, speed, 0.0)
        assert not [*link.receive(now)]
        assert link.wind == (now, pytest.approx(expected, abs=1e-6))
    for north, east in ((1.0, -4.0), (math.nan, 1.0)):
        stub._codec.wind_cov_send(0, north, east, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        assert not [*link.receive(now)]
        assert link.wind == (now, (-4.0, 1.0))


def test_what_is_not_known_yet_is_no_place():
    """Zero degrees stand for no position, and for no home."""
    stub, link = made_link()
    _, now = run(stub, link, 1.5)
    stub.recv_all()
    stub._codec.home_position_send(0, 0, 0, *NO_MORE)
    stub._codec.global_position_int_send(0, 0, 0, 0, 0, 0, 0, 0, 0)
    assert [*link.receive(now)] == []


def test_home_is_asked_for_where_positions_come_by_themselves():
    """An autopilot in the air may send it only when it is asked."""
    stub, link = made_link()
    asked = []
    stub.send_to = lambda data: asked.extend(
        int(one.param1)
        for one in stub._codec.parse_buffer(data) or ()
        if one.get_type() == "COMMAND_LONG" and one.command == dialect.MAV_CMD_SET_MESSAGE_INTERVAL
    )
    now = 0.0
    for step in range(120):
        now += STEP_S
        if step % 10 == 0:
            stub._codec.heartbeat_send(2, 3, 1, 4, 4)
        stub._codec.global_position_int_send(step, 521_000_000, 51_000_000, 0, 0, 0, 0, 0, 0)
        if step == 60:
            stub._codec.home_position_send(521_000_000, 51_000_000, 0, *NO_MORE)
        assert [*link.receive(now), *link.tick(now)]
    assert asked.count(dialect.MAVLINK_MSG_ID_HOME_POSITION) == 2


def test_of_two_vehicles_one_is_flown():
    """The one with the number that was given, else the first; the other is reported once."""
    for system, others in ((None, [9]), (1, [])):
        stub = AutopilotStub(COORDINATES, HOME, lambda place, height: 7.0)
        link = Link(StubPort(stub), COORDINATES, "value", system=system)
        second = dialect.MAVLink(stub, 9, 1)
        if system is not None:
            second.heartbeat_send(2, 3, 1, 5, 4)
        stub._codec.heartbeat_send(2, 3, 1, 4, 4)
        for _ in range(3):
            second.heartbeat_send(2, 3, 1, 5, 4)
        found = [*link.receive(0.0)]
        assert [one.mode for one in of_kind(Heartbeat, found)] == ["guided"]
        alarms = [one.text for one in of_kind(Note, found) if one.is_alarm]
        expected = (
            "There is another autopilot, system {}: this flight is that of system 1; --system says which."
        )
        assert alarms == [expected.format(number) for number in others]
        link.send(Arm(), 0.0)
        sent = []
        stub.send_to = lambda data, into=sent, codec=second: into.extend(codec.parse_buffer(data) or ())
        assert not [*link.tick(0.0)]
        assert {one.target_system for one in sent if one.get_type() == "COMMAND_LONG"} == {1}


def test_a_flood_does_not_hold_up_the_flight():
    """What the autopilot has sent is read, and the step ends although more comes."""
    stub, link = made_link()
    stub._codec.heartbeat_send(2, 3, 1, 4, 4)
    stub.recv = lambda n=None: stub._outgoing.pop(0) if stub._outgoing else b"flood"
    (beat,) = link.receive(0.0)
    assert beat.mode == "guided"


def test_answers_to_another_ground_station_do_not_count():
    """Its upload has other corners; and an acceptance before the last corner is of an earlier upload."""
    stub, link = made_link()
    stub._codec.heartbeat_send(2, 3, 1, 4, 4)
    (_,) = link.receive(0.0)
    sent = []
    stub.send_to = lambda data: sent.extend(stub._codec.parse_buffer(data) or ())
    link.send(UploadFence(FENCE, ()), 0.0)
    assert not [*link.tick(0.0)]
    sent.clear()
    stub._codec.mission_request_int_send(250, 190, 0, 1)
    stub._codec.mission_ack_send(250, 190, 0, 1)
    stub._codec.mission_ack_send(255, 190, 0, 1)
    assert not [*link.receive(0.1), *link.tick(0.1)]
    assert not [one for one in sent if one.get_type().startswith("MISSION")]
    for number in range(4):
        stub._codec.mission_request_int_send(255, 190, number, 1)
    stub._codec.mission_ack_send(255, 190, 0, 1)
    assert not [*link.receive(0.2), *link.tick(0.2), *link.tick(0.3)]
    items = [one for one in sent if one.get_type() == "MISSION_ITEM_INT"]
    assert [(one.seq, one.param1, one.frame) for one in items] == [(n, 4.0, 0) for n in range(4)]
    assert sent[-1].command == dialect.MAV_CMD_DO_FENCE_ENABLE


@pytest.mark.parametrize(("kind", "maker"), [(1, 3), (10, 3), (2, 18), (1, 12)])
def test_only_a_multicopter_is_flown(kind, maker):
    """A plane cannot stay at a place; what there is instead can be said."""
    stub, link = made_link()
    stub._codec.heartbeat_send(kind, maker, 1, 4, 4)
    assert [*link.receive(0.0)] == []
    assert link.unfit == (
        f"system 1, which is no multicopter with ArduPilot or PX4 (MAV_TYPE {kind}, MAV_AUTOPILOT {maker})"
    )
    found, _ = run(stub, link, 1.5)
    assert of_kind(Heartbeat, found)
    assert link.unfit == ""


def test_the_wrong_number_of_a_vehicle_is_said():
    stub = AutopilotStub(COORDINATES, HOME, lambda place, height: 7.0)
    link = Link(StubPort(stub), COORDINATES, "value", system=2)
    found, _ = run(stub, link, 2.0)
    assert found == []
    assert link.unfit == "system 1, and --system is 2"


def test_px4_is_sent_heights_above_the_sea_and_its_own_modes():
    """Height above take-off is added to that of the place of take-off; modes have a main and a sub number."""
    stub, link = made_link()
    stub._codec.heartbeat_send(2, 12, 1, 4 << 16 | 3 << 24, 4)
    (beat,) = link.receive(0.0)
    assert beat.mode == "guided"
    stub._codec.global_position_int_send(0, 521_000_000, 51_000_000, 47_500, 7_500, 0, 0, 0, 0)
    (pose,) = link.receive(0.0)
    assert pose.at.height == 7.5
    sent, answered = [], []
    stub.send_to = lambda data: sent.extend(stub._codec.parse_buffer(data) or ())
    for number, command in enumerate((SetMode("rtl"), TakeOff(12.0), GoTo(Waypoint((0.0, 0.0), 12.0)))):
        link.send(command, float(number))
        assert not [*link.tick(10.0 * number)]
        answered.append(sent[-1])
        stub._codec.command_ack_send(answered[-1].command, 0)
        (done,) = link.receive(0.0)
        assert done.command == command
    mode, up, there = answered
    assert (mode.param1, mode.param2, mode.param3) == (1.0, 4.0, 5.0)
    assert up.param7 == pytest.approx(52.0)
    assert all(map(math.isnan, (up.param4, up.param5, up.param6)))
    assert (there.frame, there.x, there.y) == (dialect.MAV_FRAME_GLOBAL, 521_000_000, 51_000_000)
    assert there.z == pytest.approx(52.0)
    assert (there.param1, there.param2) == (-1.0, 1.0)
    assert math.isnan(there.param4)


@pytest.mark.parametrize("is_dry", [True, False])
def test_the_end_of_a_dry_run_is_no_lost_ground_station(is_dry):
    """The failsafe of the autopilot would bring home a vehicle that its pilot flies."""
    stub = AutopilotStub(COORDINATES, HOME, lambda place, height: 7.0)
    link = Link(StubPort(stub), COORDINATES, "value", is_dry=is_dry)
    found, _ = run(stub, link, 3.0)
    assert of_kind(Pose, found)
    stub.is_armed, stub.mode, stub.height = True, GUIDED, 10.0
    for _ in range(100):
        stub.step(STEP_S)
    assert stub.mode == (GUIDED if is_dry else RTL)


def test_a_fence_is_uploaded_over_a_socket():
    """The same over UDP on loopback, as pymavlink opens it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        number = probe.getsockname()[1]
    port = connect(f"udpin://127.0.0.1:{number}")
    stub = AutopilotStub(COORDINATES, HOME, lambda place, height: 7.0)
    link, now, found = Link(port, COORDINATES, "value"), 0.0, []
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as vehicle:
            vehicle.setblocking(False)
            for number_of_step in range(200):
                now += STEP_S
                stub.step(STEP_S)
                while data := stub.recv():
                    # A stranger begins a packet that never ends.
                    vehicle.sendto(b"\xfd\xff\x00", ("127.0.0.1", number))
                    vehicle.sendto(data, ("127.0.0.1", number))
                found += [*link.receive(now), *link.tick(now)]
                if number_of_step == 20:
                    link.send(UploadFence(FENCE, (POND,)), now)
                _forward(vehicle, stub)
    finally:
        port.close()
    assert len(of_kind(Done, found)) == 1
    assert len(stub.fence) == 2


def _forward(vehicle, stub):
    try:
        while True:
            stub.send_to(vehicle.recv(65_535))
    except BlockingIOError:
        return
