"""The link to one autopilot: telemetry in, commands out, heartbeats, repeats and acknowledgements.

It neither waits nor reads a clock: `receive` and `tick` are given the time [s].
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.wind import wind_from
from dowsax.mission.flight.airspace import Waypoint
from dowsax.mission.flight.autopilots import Autopilot
from dowsax.mission.flight.commands import Cancel, Command, GoTo, Note, UploadFence
from dowsax.mission.flight.connection import Port, require_mavlink
from dowsax.mission.flight.datagrams import FORGET_S, Datagrams
from dowsax.mission.flight.events import Battery, Done, Event, Failed, Heartbeat, Home, Pose
from dowsax.mission.flight.fence_upload import FENCE, FenceUpload, vertices
from dowsax.mission.flight.outbox import Outbox
from dowsax.survey.lint import MAX_WIND_M_S

SYSTEM, LISTENER = 255, 254
"""The number of a ground station, whose heartbeats ArduPilot watches, and one that it does not watch."""
_COMPONENT = 190
_GROUND_STATION, _COMPANION, _NO_AUTOPILOT, _ACTIVE = 6, 18, 8, 4
"""MAV_TYPE_GCS, MAV_TYPE_ONBOARD_CONTROLLER, MAV_AUTOPILOT_INVALID, MAV_STATE_ACTIVE"""
_SENSORS = ("NAMED_VALUE_FLOAT", "WIND", "WIND_COV")
"""Messages that another component of the vehicle may send."""
_PACKET_BEGINS = b"\xfd\xfe"
"""MAVLink 2, MAVLink 1"""
_ARMED = 128
"""MAV_MODE_FLAG_SAFETY_ARMED"""
_HEARTBEAT_S = 0.5
_ASK_S = 5.0
"""Between requests of telemetry that does not come."""
_RATES = {"GLOBAL_POSITION_INT": 5.0, "SYS_STATUS": 1.0, "HOME_POSITION": 0.5, "WIND": 1.0, "WIND_COV": 1.0}
"""[Hz]"""
_MAX_CHUNKS = 500
"""That are read from a port in one go."""
_UNKNOWN_HEADING = 65_535
_WARNING = 4
"""MAV_SEVERITY_WARNING; greater numbers are less severe."""


@dataclass(frozen=True)
class Measured:
    """A number that a sensor on board has sent."""

    time: float
    """[s]"""
    value: float


class Link:
    """The link through a port; `name` is that of the NAMED_VALUE_FLOAT that is the reading.

    It is to the autopilot of the system of this number, else to the first one that is heard. In a dry run it
    is no ground station for the autopilot, which must not miss it when it ends.
    """

    def __init__(
        self,
        port: Port,
        coordinates: LocalCoordinates,
        name: str,
        *,
        system: int | None = None,
        is_dry: bool = False,
    ) -> None:
        self._dialect = require_mavlink()
        self._port, self._coordinates, self._name, self._wanted = port, coordinates, name, system
        self._others: set[int] = set()
        """Systems of other autopilots that were reported."""
        self._system, self._type = (LISTENER, _COMPANION) if is_dry else (SYSTEM, _GROUND_STATION)
        self._codec = self._dialect.MAVLink(port, self._system, _COMPONENT)
        self._parser, self._packets = self._new_parser(), port if isinstance(port, Datagrams) else None
        self._has_strangers = False
        """Whether it was said that another host sends as this vehicle does."""
        self._outbox = Outbox(self._codec.send)
        self._upload: tuple[UploadFence, FenceUpload] | None = None
        self._autopilot: Autopilot | None = None
        self._offset: float | None = None
        self._boot = 0.0
        self._sea_level = 0.0
        self._beat = self._asked = self._posed = self._heard = -math.inf
        self._has_home, self._complaint = False, ""
        self.unfit = ""
        """What there is instead of an autopilot that can fly."""
        self.wind: tuple[float, tuple[float, float]] | None = None
        """When the newest wind came [s], and where the air goes [m/s]."""
        self.heading: float | None = None
        """[degrees clockwise from north]"""

    def receive(self, now: float) -> Iterator[Event | Measured | Note]:
        """Yield what has arrived; of a flood no more than a part, so that the rest is not held up."""
        for _ in range(_MAX_CHUNKS):
            try:
                data = self._port.recv()
            except OSError:
                return
            if not data:
                return
            received = data.encode("latin-1") if isinstance(data, str) else data
            if self._packets is not None and received[0] in _PACKET_BEGINS and self._parser.buf_len():
                # What a stranger began must not swallow it.
                self._parser = self._new_parser()
            for message in self._parser.parse_buffer(received) or ():
                yield from self._read(message, now)

    def _new_parser(self) -> Any:
        parser = self._dialect.MAVLink(None)
        parser.robust_parsing = True
        return parser

    def send(self, command: Command, now: float) -> None:
        """Begin to send a command; `tick` repeats it."""
        if isinstance(command, Cancel):
            self._outbox.clear()
            self._upload = None
        elif self._autopilot is None:
            return
        elif isinstance(command, UploadFence):
            corners = vertices(command, self._coordinates.to_degrees)
            upload = FenceUpload(corners, self._autopilot.target, self._dialect, self._codec.send)
            self._upload = command, upload
        else:
            degrees = None
            if isinstance(command, GoTo):
                latitude, longitude = self._coordinates.to_degrees([command.to.place])[0]
                degrees = float(latitude), float(longitude)
            self._outbox.put(command, *self._autopilot.command(command, degrees, self._sea_level))

    def tick(self, now: float) -> Iterator[Event]:
        """Send what is due, and yield what has failed or is done."""
        if now - self._beat >= _HEARTBEAT_S:
            self._beat = now
            beat = self._dialect.MAVLink_heartbeat_message
            self._codec.send(beat(self._type, _NO_AUTOPILOT, 0, 0, _ACTIVE, 3))
        self._ask_for_telemetry(now)
        failed = self._outbox.tick(now)
        if failed is not None:
            yield failed
        if self._upload is not None:
            yield from self._tick_upload(*self._upload, now)

    def _tick_upload(self, command: UploadFence, upload: FenceUpload, now: float) -> Iterator[Event]:
        upload.tick(now)
        if upload.failure is not None:
            self._upload = None
            yield Failed(now, command, upload.failure)
        elif upload.is_done:
            self._upload = None
            assert self._autopilot is not None
            switch = self._autopilot.enable_fence()
            if switch is None:
                yield Done(now, command)
            else:
                self._outbox.put(command, *switch)

    def _ask_for_telemetry(self, now: float) -> None:
        """Ask for positions and the like, once, and until the place and the home are known."""
        if self._autopilot is None or now - self._asked < _ASK_S:
            return
        if self._asked > -math.inf and self._has_home and now - self._posed < _ASK_S:
            return
        self._asked = now
        for name, hertz in _RATES.items():
            number = getattr(self._dialect, f"MAVLINK_MSG_ID_{name}")
            self._codec.send(self._autopilot.interval(number, hertz))

    def _read(self, message: Any, now: float) -> Iterator[Event | Measured | Note]:
        kind = message.get_type()
        if self._is_strange(message, now):
            yield from self._report_stranger()
        elif kind == "HEARTBEAT":
            yield from self._read_heartbeat(message, now)
        elif self._autopilot is None or not _is_from(self._autopilot.target, message, kind):
            return
        elif kind == "GLOBAL_POSITION_INT":
            yield from self._read_pose(message, now)
        elif kind == "HOME_POSITION" and (message.latitude, message.longitude) != (0, 0):
            place = self._coordinates.to_metres(message.latitude / 1e7, message.longitude / 1e7)[0]
            self._has_home = True
            yield Home(now, (float(place[0]), float(place[1])))
        elif kind in ("SYS_STATUS", "BATTERY_STATUS"):
            is_first = kind == "SYS_STATUS" or message.id == 0
            if is_first and 0 <= message.battery_remaining <= 100:
                yield Battery(now, float(message.battery_remaining))
        elif kind == "NAMED_VALUE_FLOAT":
            if message.name.rstrip("\0") == self._name:
                is_own_clock = message.get_srcComponent() == self._autopilot.target[1]
                time = self._time_of(message.time_boot_ms, now) if is_own_clock else now
                yield Measured(time, float(message.value))
        elif kind in ("WIND", "WIND_COV", "STATUSTEXT"):
            self._remember(kind, message, now)
        else:
            yield from self._read_answer(kind, message, now)

    def _read_heartbeat(self, message: Any, now: float) -> Iterator[Event | Note]:
        if message.autopilot == _NO_AUTOPILOT or message.type == _GROUND_STATION:
            return
        source = message.get_srcSystem(), message.get_srcComponent()
        if self._autopilot is None and self._wanted in (None, source[0]):
            found = Autopilot(message, self._dialect)
            self._autopilot = found if found.can_fly else None
            self.unfit = "" if found.can_fly else _describe_unfit(message)
        elif self._autopilot is None and not self.unfit:
            self.unfit = f"system {source[0]}, and --system is {self._wanted}"
        if self._autopilot is not None and source == self._autopilot.target:
            yield from self._keep_host(now)
            is_armed = bool(message.base_mode & _ARMED)
            yield Heartbeat(now, self._autopilot.mode(message), is_armed)
        elif self._autopilot is not None and self._wanted is None and source[0] not in self._others:
            self._others.add(source[0])
            yield Note(
                f"There is another autopilot, system {source[0]}: this flight is that of system "
                f"{self._autopilot.target[0]}; --system says which.",
                is_alarm=True,
            )

    def _keep_host(self, now: float) -> Iterator[Note]:
        """Remember from which host the autopilot is heard: what comes from another one does not count."""
        self._heard = now
        if self._packets is None:
            return
        if not self._packets.is_from_peer:
            yield Note(f"The autopilot is heard from {self._packets.sender} now.", is_alarm=True)
        self._packets.peer = self._packets.sender

    def _is_strange(self, message: Any, now: float) -> bool:
        """Whether a message with the number of this vehicle comes from another host.

        After a long silence the vehicle may have moved to another one, from its next heartbeat on.
        """
        if self._autopilot is None or self._packets is None or self._packets.is_from_peer:
            return False
        may_move = message.get_type() == "HEARTBEAT" and now - self._heard >= FORGET_S
        return message.get_srcSystem() == self._autopilot.target[0] and not may_move

    def _report_stranger(self) -> Iterator[Note]:
        if self._packets is None or self._has_strangers:
            return
        self._has_strangers = True
        yield Note(
            f"{self._packets.sender} sends with the number of this vehicle, which is at "
            f"{self._packets.peer}: that does not count.",
            is_alarm=True,
        )

    def _read_pose(self, message: Any, now: float) -> Iterator[Event]:
        if message.lat == 0 and message.lon == 0:
            # No position yet.
            return
        self._posed = now
        height = message.relative_alt / 1000
        self._sea_level = height - message.alt / 1000
        self.heading = None if message.hdg == _UNKNOWN_HEADING else message.hdg / 100
        x, y = self._coordinates.to_metres(message.lat / 1e7, message.lon / 1e7)[0]
        time = self._time_of(message.time_boot_ms, now)
        yield Pose(time, Waypoint((float(x), float(y)), height))

    def _time_of(self, boot_ms: int, now: float) -> float:
        """Return when a message was sent, by the shortest way that one took since the autopilot booted."""
        boot = boot_ms / 1000
        if self._offset is None or boot < self._boot - 1.0:
            self._offset = now - boot
        self._boot, self._offset = boot, min(self._offset, now - boot)
        return boot + self._offset

    def _remember(self, kind: str, message: Any, now: float) -> None:
        if kind == "STATUSTEXT":
            if message.severity <= _WARNING:
                self._complaint = message.text.rstrip("\0")
            return
        if kind == "WIND_COV":
            east, north = message.wind_y, message.wind_x
        elif math.isfinite(message.direction):
            east, north = map(float, wind_from(message.speed, message.direction))
        else:
            return
        if math.hypot(east, north) <= MAX_WIND_M_S:
            self.wind = now, (east, north)

    def _read_answer(self, kind: str, message: Any, now: float) -> Iterator[Event]:
        if getattr(message, "target_system", 0) not in (0, self._system):
            # To another ground station.
            return
        if kind == "COMMAND_ACK":
            answer = self._outbox.answer(message.command, message.result, self._complaint, now)
            if answer is not None:
                self._complaint = ""
                yield answer
        elif self._upload is None or getattr(message, "mission_type", None) != FENCE:
            return
        elif kind in ("MISSION_REQUEST_INT", "MISSION_REQUEST"):
            self._upload[1].request(message.seq, now)
        elif kind == "MISSION_ACK":
            self._upload[1].acknowledge(message.type)


def _is_from(target: tuple[int, int], message: Any, kind: str) -> bool:
    """Whether the autopilot has sent it, or a sensor on board."""
    source = message.get_srcSystem(), message.get_srcComponent()
    return source == target or (source[0] == target[0] and kind in _SENSORS)


def _describe_unfit(heartbeat: Any) -> str:
    kinds = f"MAV_TYPE {heartbeat.type}, MAV_AUTOPILOT {heartbeat.autopilot}"
    return f"system {heartbeat.get_srcSystem()}, which is no multicopter with ArduPilot or PX4 ({kinds})"
