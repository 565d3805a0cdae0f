"""What differs between autopilots: the names and numbers of modes, and how heights are counted."""

import math
from typing import Any

from dowsax.mission.flight.airspace import Waypoint
from dowsax.mission.flight.commands import Arm, GoTo, SetMode, SetSpeed, TakeOff
from dowsax.mission.flight.events import GUIDED, HOME, TAKE_OFF

_ARDUPILOT, _PX4 = 3, 12
"""MAV_AUTOPILOT"""
_ARDUPILOT_NAMES = {GUIDED: "GUIDED", HOME: "RTL"}
_PX4_NAMES = {GUIDED: "LOITER", HOME: "RTL", TAKE_OFF: "TAKEOFF"}
"""PX4 goes to places it is sent in its mode Hold, which pymavlink calls LOITER."""
_MULTICOPTERS = (2, 3, 4, 13, 14, 15, 29, 35, 43)
"""MAV_TYPE of those that stay where they are sent, helicopters too: four rotors, coaxial, one, six, eight,
three, twelve, ten, and any."""
_CUSTOM_MODE = 1.0
"""MAV_MODE_FLAG_CUSTOM_MODE_ENABLED"""
_CHANGE_MODE = 1.0
"""MAV_DO_REPOSITION_FLAGS_CHANGE_MODE, without which PX4 takes no place."""


class Autopilot:
    """One autopilot, as its heartbeat says. Messages are built by the dialect."""

    def __init__(self, heartbeat: Any, dialect: Any) -> None:
        from pymavlink import mavutil

        self._mavutil, self._dialect = mavutil, dialect
        self.target = heartbeat.get_srcSystem(), heartbeat.get_srcComponent()
        self.is_px4 = heartbeat.autopilot == _PX4
        self._names = _PX4_NAMES if self.is_px4 else _ARDUPILOT_NAMES
        self._numbers = self._mode_numbers(heartbeat.type)
        is_known = heartbeat.autopilot in (_ARDUPILOT, _PX4) and heartbeat.type in _MULTICOPTERS
        self.can_fly = is_known and all(mode in self._numbers for mode in (GUIDED, HOME))
        """Whether it is a multicopter of ArduPilot or PX4 with modes to go to a place and to return."""

    def _mode_numbers(self, vehicle: int) -> dict[str, tuple[float, float]]:
        """Return the main and sub number of each of our modes."""
        if self.is_px4:
            known = {mode: self._mavutil.px4_map[name] for mode, name in self._names.items()}
            return {mode: (float(main), float(sub)) for mode, (_, main, sub) in known.items()}
        numbers = self._mavutil.mode_mapping_byname(vehicle) or {}
        return {mode: (float(numbers[name]), 0.0) for mode, name in self._names.items() if name in numbers}

    def mode(self, heartbeat: Any) -> str:
        """Return the mode of a heartbeat: one of ours, or the autopilot's name of it."""
        name = self._mavutil.mode_string_v10(heartbeat)
        return next((mode for mode, own in self._names.items() if own == name), name.lower())

    def command(self, command: Any, degrees: tuple[float, float] | None, sea_level: float) -> tuple[int, Any]:
        """Return the number of a command, and a function that builds the message of an attempt.

        Parameters
        ----------
        command
            For the autopilot.
        degrees
            Latitude and longitude, where it has a place.
        sea_level
            [m], of the sea below the place of take-off, negative; what PX4 counts heights from.
        """
        dialect = self._dialect
        match command:
            case SetMode(mode=mode):
                return self._long(dialect.MAV_CMD_DO_SET_MODE, _CUSTOM_MODE, *self._numbers[mode])
            case Arm():
                return self._long(dialect.MAV_CMD_COMPONENT_ARM_DISARM, 1.0)
            case SetSpeed(speed=speed):
                # Of the ground, without a change of throttle.
                return self._long(dialect.MAV_CMD_DO_CHANGE_SPEED, 1.0, speed, -1.0)
            case TakeOff(height=height) if self.is_px4:
                here = (math.nan,) * 3
                return self._long(dialect.MAV_CMD_NAV_TAKEOFF, 0.0, 0.0, 0.0, *here, height - sea_level)
            case TakeOff(height=height):
                return self._long(dialect.MAV_CMD_NAV_TAKEOFF, *(0.0,) * 6, height)
            case GoTo(to=to):
                assert degrees is not None
                return dialect.MAV_CMD_DO_REPOSITION, lambda _: self._go_to(to, degrees, sea_level)
        raise TypeError(f"{command} is none for an autopilot.")

    def enable_fence(self) -> tuple[int, Any] | None:
        """Return the command that switches the geofence on; `None` where it is on once it is there."""
        return None if self.is_px4 else self._long(self._dialect.MAV_CMD_DO_FENCE_ENABLE, 1.0)

    def interval(self, message: int, hertz: float) -> Any:
        """Return the message that asks for another one at a rate."""
        return self._long(self._dialect.MAV_CMD_SET_MESSAGE_INTERVAL, float(message), 1e6 / hertz)[1](0)

    def _long(self, number: int, *params: float) -> tuple[int, Any]:
        filled = (*params, *(0.0,) * (7 - len(params)))
        build = self._dialect.MAVLink_command_long_message
        return number, lambda attempt: build(*self.target, number, attempt, *filled)

    def _go_to(self, to: Waypoint, degrees: tuple[float, float], sea_level: float) -> Any:
        dialect = self._dialect
        frame = dialect.MAV_FRAME_GLOBAL if self.is_px4 else dialect.MAV_FRAME_GLOBAL_RELATIVE_ALT
        flags = _CHANGE_MODE if self.is_px4 else 0.0
        place = round(degrees[0] * 1e7), round(degrees[1] * 1e7)
        height = to.height - sea_level if self.is_px4 else to.height
        head = *self.target, frame, dialect.MAV_CMD_DO_REPOSITION, 0, 0
        return dialect.MAVLink_command_int_message(*head, -1.0, flags, 0.0, math.nan, *place, height)
