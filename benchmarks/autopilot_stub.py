"""A small autopilot that speaks MAVLink: a multicopter with wind, battery, geofence, failsafes and a sensor.

    python -m benchmarks.autopilot_stub --to 127.0.0.1:14550

It simulates what `dowsax fly` needs of ArduCopter: telemetry, modes, arming, take-off, DO_REPOSITION in
guided mode, the upload of a geofence, return home, and the failsafe when a ground station falls silent. The
caller draws the faults: packets may be dropped, the link cut, and the pilot may change the mode. It is no
model of flight: velocities are commanded, and wind pushes the vehicle aside.
"""

import argparse
import math
import random
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pymavlink.dialects.v20 import ardupilotmega as dialect

from dowsax.geo.local import LocalCoordinates

Place = tuple[float, float]
STABILIZE, GUIDED, LOITER, RTL, LAND = 0, 4, 5, 6, 9
"""Mode numbers of ArduCopter."""
_CUSTOM_MODE, _ARMED = 1, 128
_SEA_LEVEL_M = 40.0
"""Of the place of take-off."""
_GAIN = 1.0
"""[1/s], of the position controller."""
_CLIMB_M_S = 3.0
_DRIFT = 0.08
"""Share of the wind's speed at which it pushes."""
_GCS_TIMEOUT_S = 5.0
_FENCE = 1
_RETURN_HEIGHT_M = 15.0


@dataclass
class Faults:
    """What goes wrong on the way."""

    drop: float = 0.0
    """The probability that a packet is lost, either way."""
    is_cut: bool = False
    """Whether nothing goes through."""


@dataclass
class AutopilotStub:
    """The vehicle and its autopilot; `step` moves it on."""

    coordinates: LocalCoordinates
    home: Place
    read: Callable[[Place, float], float]
    """What the sensor reads at a place [m] and height [m]."""
    seed: int = 0
    wind: Place = (0.0, 0.0)
    """[m/s], where the air goes."""
    speed: float = 5.0
    """[m/s]"""
    battery: float = 100.0
    """[%]"""
    drain: float = 0.0
    """[%/s], in the air."""
    value_name: str = "value"
    sensor_hertz: float = 2.0
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        self.place, self.height, self.mode, self.is_armed = self.home, 0.0, STABILIZE, False
        self.target: tuple[Place, float] | None = None
        self.fence: list[tuple[int, np.ndarray]] = []
        self.waypoints: list[tuple[Place, float, Place, float]] = []
        """Places and heights that were commanded, and where the vehicle was then."""
        self.modes: list[int] = []
        """Modes that were commanded."""
        self.track: list[tuple[float, Place, float]] = []
        self.has_flown = False
        self._clock = 0.0
        self._climb: float | None = None
        self._rng = random.Random(self.seed)
        self._heard: float | None = None
        self._due: dict[str, float] = {}
        self._upload: dict[int, Any] = {}
        self._count = 0
        self._asked = 0.0
        self._incoming: list[bytes] = []
        self._outgoing: list[bytes] = []
        self._codec = dialect.MAVLink(self, 1, 1)
        self._codec.robust_parsing = True

    # The port of the program that talks to it.

    def recv(self, n: int | None = None) -> bytes:
        """Return what the autopilot has sent, one packet at a time."""
        del n
        return self._outgoing.pop(0) if self._outgoing else b""

    def recv_all(self) -> None:
        """Forget what nobody has received."""
        self._outgoing.clear()

    def send_to(self, data: bytes) -> None:
        """Give the autopilot a packet, which may be lost."""
        if not self._is_lost():
            self._incoming.append(bytes(data))

    def write(self, data: bytes) -> None:
        """Called by the codec: a packet of the autopilot."""
        if not self._is_lost():
            self._outgoing.append(bytes(data))

    def _is_lost(self) -> bool:
        return self.faults.is_cut or self._rng.random() < self.faults.drop

    # What the vehicle does.

    def step(self, seconds: float) -> None:
        """Take in commands, move on, and send telemetry."""
        self._clock += seconds
        for data in self._incoming:
            for message in self._codec.parse_buffer(data) or ():
                self._take(message)
        self._incoming.clear()
        self._keep_failsafe()
        self._move(seconds)
        self._ask_again()
        self._send_telemetry()

    def pilot(self, mode: int) -> None:
        """The pilot changes the mode by remote control."""
        self.mode, self.target = mode, None

    @property
    def is_home(self) -> bool:
        """Whether it has flown and stands at home."""
        return self.has_flown and not self.is_armed and math.dist(self.place, self.home) < 3.0

    def _keep_failsafe(self) -> None:
        is_silent = self._heard is not None and self._clock - self._heard > _GCS_TIMEOUT_S
        if is_silent and self.is_armed and self.mode == GUIDED:
            self.mode, self.target = RTL, None

    def _move(self, seconds: float) -> None:
        if not self.is_armed:
            return
        self.battery = max(self.battery - self.drain * seconds, 0.0)
        aim, height = self._aim()
        if self.height <= 0.0 and height <= 0.0:
            self.is_armed = self.mode != RTL
            return
        self.has_flown = True
        east, north = (_GAIN * (there - here) for there, here in zip(aim, self.place, strict=True))
        share = min(1.0, self.speed / max(math.hypot(east, north), 1e-9))
        push = [_DRIFT * part * (0.5 + self._rng.random()) for part in self.wind]
        x, y = self.place
        self.place = x + seconds * (share * east + push[0]), y + seconds * (share * north + push[1])
        climb = min(max(height - self.height, -_CLIMB_M_S * seconds), _CLIMB_M_S * seconds)
        self.height = max(self.height + climb, 0.0)
        self.track.append((self._clock, self.place, self.height))

    def _aim(self) -> tuple[Place, float]:
        """Return where it goes, and how high."""
        if self.mode == RTL:
            is_there = math.dist(self.place, self.home) < 1.0
            return self.home, 0.0 if is_there else max(self.height, _RETURN_HEIGHT_M * (self.height > 0.5))
        if self.mode == GUIDED and self._climb is not None:
            if self.height >= self._climb - 0.05:
                self.target, self._climb = (self.place, self._climb), None
            else:
                return self.place, self._climb
        if self.mode == GUIDED and self.target is not None:
            return self.target
        return self.place, self.height

    # What it says.

    def _send_telemetry(self) -> None:
        boot = int(1000 * self._clock) & 0xFFFFFFFF
        if self._is_due("heartbeat", 1.0):
            base = _CUSTOM_MODE | (_ARMED if self.is_armed else 0)
            self._codec.heartbeat_send(dialect.MAV_TYPE_QUADROTOR, 3, base, self.mode, 4)
            self._codec.sys_status_send(0, 0, 0, 0, 11_000, -1, round(self.battery), 0, 0, 0, 0, 0, 0)
        if self._is_due("position", 0.2):
            latitude, longitude = self._degrees(self.place)
            altitude = round(1000 * (self.height + _SEA_LEVEL_M))
            where = latitude, longitude, altitude, round(1000 * self.height)
            self._codec.global_position_int_send(boot, *where, 0, 0, 0, 0)
        if self._is_due("home", 2.0):
            latitude, longitude = self._degrees(self.home)
            zeros = 0.0, 0.0, 0.0, [1.0, 0.0, 0.0, 0.0], 0.0, 0.0, 0.0
            self._codec.home_position_send(latitude, longitude, round(1000 * _SEA_LEVEL_M), *zeros)
        if self._is_due("sensor", 1.0 / self.sensor_hertz):
            value = self.read(self.place, self.height)
            self._codec.named_value_float_send(boot, self.value_name.encode(), value)

    def _is_due(self, name: str, seconds: float) -> bool:
        if self._clock < self._due.get(name, 0.0):
            return False
        self._due[name] = self._clock + seconds
        return True

    def _degrees(self, place: Place) -> tuple[int, int]:
        latitude, longitude = self.coordinates.to_degrees([place])[0]
        return round(1e7 * float(latitude)), round(1e7 * float(longitude))

    # What it is told.

    def _take(self, message: Any) -> None:
        kind = message.get_type()
        if kind == "HEARTBEAT" and message.get_srcSystem() == 255:
            self._heard = self._clock
        elif kind == "COMMAND_LONG":
            self._acknowledge(message.command, self._obey(message))
        elif kind == "COMMAND_INT":
            self._acknowledge(message.command, self._reposition(message))
        elif kind == "MISSION_COUNT" and message.mission_type == _FENCE:
            self._upload, self._count = {}, message.count
            self._ask(0)
        elif kind == "MISSION_ITEM_INT" and message.mission_type == _FENCE and self._count:
            self._upload[message.seq] = message
            self._go_on_with_upload()

    def _acknowledge(self, command: int, result: int) -> None:
        self._codec.command_ack_send(command, result)

    def _obey(self, message: Any) -> int:
        command, first = message.command, message.param1
        if command == dialect.MAV_CMD_DO_SET_MODE:
            self.modes.append(int(message.param2))
            if self.mode != int(message.param2):
                self.mode, self.target, self._climb = int(message.param2), None, None
        elif command == dialect.MAV_CMD_COMPONENT_ARM_DISARM:
            if self.mode != GUIDED:
                return 1
            self.is_armed = bool(first)
        elif command == dialect.MAV_CMD_NAV_TAKEOFF:
            if self.mode != GUIDED or not self.is_armed or self.height > 1.0:
                return 4
            self._climb = message.param7
        elif command == dialect.MAV_CMD_DO_CHANGE_SPEED:
            self.speed = message.param2
        return 0

    def _reposition(self, message: Any) -> int:
        if self.mode != GUIDED or not self.is_armed:
            return 2
        x, y = self.coordinates.to_metres(message.x / 1e7, message.y / 1e7)[0]
        self.target, self._climb = ((float(x), float(y)), message.z), None
        self.waypoints.append((*self.target, self.place, self.height))
        return 0

    def _ask(self, number: int) -> None:
        self._asked = self._clock
        self._codec.mission_request_int_send(255, 190, number, _FENCE)

    def _ask_again(self) -> None:
        if self._count and self._clock - self._asked > 1.0:
            self._go_on_with_upload()

    def _go_on_with_upload(self) -> None:
        missing = next((number for number in range(self._count) if number not in self._upload), None)
        if missing is not None:
            self._ask(missing)
            return
        items, self.fence, number = self._upload, [], 0
        while number < self._count:
            corners = [items[number + index] for index in range(int(items[number].param1))]
            places = self.coordinates.to_metres(*np.array([[one.x, one.y] for one in corners]).T / 1e7)
            self.fence.append((items[number].command, places))
            number += len(corners)
        self._count = 0
        self._codec.mission_ack_send(255, 190, 0, _FENCE)


class StubPort:
    """The port of a ground station in the same process."""

    def __init__(self, stub: AutopilotStub) -> None:
        self._stub = stub

    def recv(self, n: int | None = None) -> bytes:
        return self._stub.recv(n)

    def write(self, buf: Any) -> None:
        self._stub.send_to(buf)


def serve(stub: AutopilotStub, address: tuple[str, int], is_over: Callable[[], bool]) -> None:
    """Fly in real time, and talk over UDP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.setblocking(False)
        while not is_over():
            begun = time.monotonic()
            try:
                while True:
                    stub.send_to(port.recv(65_535))
            except (BlockingIOError, ConnectionRefusedError):
                pass
            stub.step(0.05)
            while data := stub.recv():
                try:
                    port.sendto(data, address)
                except ConnectionRefusedError:
                    continue
            time.sleep(max(0.05 - (time.monotonic() - begun), 0.0))


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--to", default="127.0.0.1:14550", help="where the ground station listens")
    parser.add_argument("--origin", default="52.1,5.1", help="latitude and longitude of (0, 0)")
    parser.add_argument("--home", default="5,5", help="where it stands [m]")
    parser.add_argument("--source", default="40,30", help="where the signal comes from [m]")
    parser.add_argument("--wind", default="2,0", help="where the air goes [m/s]")
    options = parser.parse_args(words)
    pairs = {
        name: tuple(map(float, getattr(options, name).split(",")))
        for name in ("origin", "home", "source", "wind")
    }
    host, _, port = options.to.rpartition(":")
    noise = random.Random(0)

    def read(place: Place, height: float) -> float:
        distance = math.hypot(math.dist(place, pairs["source"]), height, 1.0)
        return 60.0 - 20.0 * math.log10(distance) + noise.gauss(0.0, 1.0)

    stub = AutopilotStub(LocalCoordinates(pairs["origin"]), pairs["home"], read, wind=pairs["wind"])
    serve(stub, (host, int(port)), lambda: False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
