"""One flight as it runs: the state machine between the link, the advisor and the sources of readings.

`step` does what is due at a time [s] and returns at once. The caller has the clock.
"""

import json
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dowsax.mission.flight.airspace import Place, Waypoint
from dowsax.mission.flight.averaging import MAX_GAP_S, Track, average, level_of
from dowsax.mission.flight.commands import Cancel, Command, Note, Observe
from dowsax.mission.flight.events import (
    GUIDED,
    ON_WAY,
    STAY,
    Battery,
    Event,
    NotRead,
    Pose,
    Said,
    Sample,
    Tick,
    Word,
)
from dowsax.mission.flight.feeds import Feed
from dowsax.mission.flight.link import Link, Measured
from dowsax.mission.flight.machine import Flight
from dowsax.mission.flight.state import Phase, State
from dowsax.mission.flight.worker import AdvisorWorker
from dowsax.mission.messages import CORRECT, RESTORE, WITHDRAW, parse_request
from dowsax.mission.plan import Plan
from dowsax.survey.columns import POSITION_ROLES
from dowsax.survey.reading import Reading, Refused, read_time
from dowsax.survey.reading_json import date_and_time, given_roles, values_by_role

Notify = Callable[[str], None]
"""Called with a line for a person."""
_WAIT_FOR_POSITION_S = 1.0
"""A sample waits for the next position, so that its place lies between two."""
_WIND_IS_FRESH_S = 10.0
_LONG_WAIT_S = 10.0
"""After which a person is told what a flight waits for before its start."""
_SAME_REFUSAL_S = 60.0
"""Within which one reason is written to the log once."""
_JUMP_S = 1.0
"""By which a clock is off that was set, and has not merely run a little fast."""
_LEAST_EPOCH_S = 1e8
"""Smaller times do not count from 1970, and say nothing about when that was."""


class Session:
    """Steps one flight.

    Parameters
    ----------
    plan
        Of the mission.
    flight
        The state machine.
    state
        Where it begins.
    link
        To the autopilot.
    worker
        The advisor.
    epoch
        The time since 1970 [s] at 0 of the clock that `step` is given; `set_clock` sets it again.
    notify
        Told what happens.
    readings
        A source of readings, besides the vehicle.
    """

    def __init__(
        self,
        plan: Plan,
        flight: Flight,
        state: State,
        link: Link,
        worker: AdvisorWorker,
        epoch: float,
        notify: Notify,
        readings: Feed | None = None,
    ) -> None:
        self._plan, self._flight, self.state = plan, flight, state
        self._link, self._worker, self._notify = link, worker, notify
        self._epoch = self._clock = epoch
        """Of what is written down, which goes on evenly, and of the computer's clock, which may be set."""
        self._readings = readings
        self._track, self._pending = Track(), deque[tuple[float, float, dict[str, Any], str | None]]()
        self._refused: dict[str, float] = {}
        """When each reason for a refusal was last written down [s]."""
        self._known: set[type[Event]] = set()
        """What has been heard of at least once, and was said then."""
        self._waiting_since: float | None = None
        """[s]; `None` while it does not wait for its start, infinity once that was said."""

    @property
    def is_over(self) -> bool:
        return self.state.phase is Phase.ENDED

    def set_clock(self, epoch: float) -> None:
        """Compare what sensors give with the computer's clock as it is now; note where that was set."""
        jump, self._clock = epoch - self._clock, epoch
        if abs(jump) >= _JUMP_S:
            side = "ahead" if jump > 0 else "back"
            text = f"The clock of the computer was set {side} by {abs(jump):,.1f} s"
            self._write(Note(f"{text}; the times of readings go on evenly.", data={"clock": round(epoch, 3)}))

    def step(self, now: float) -> None:
        """Take in what has arrived, and do what follows."""
        for item in self._link.receive(now):
            if isinstance(item, Measured):
                self._pending.append((item.time, now, {"value": item.value}, None))
            elif isinstance(item, Note):
                self._write(item)
            else:
                self._take(item, now)
        for item in () if self._readings is None else self._readings.poll():
            if isinstance(item, Note):
                self._write(item)
            else:
                self.take_row(*item, now)
        self._place_samples(now)
        for event in self._worker.poll(now):
            if isinstance(event, Note):
                self._write(event)
            else:
                self._feed(event, now)
        self._feed(Tick(now), now)
        for event in self._link.tick(now):
            self._feed(event, now)
        self._say_wait(now)

    def say(self, word: Word, now: float) -> None:
        """Do what a person says."""
        self._feed(Said(now, word), now)

    def take_row(self, id_: str | None, keys: Mapping[str, Any] | Refused, now: float) -> None:
        """Take in a reading from elsewhere: placed where the vehicle was, or with a place of its own."""
        if isinstance(keys, Refused):
            self._refuse({}, str(keys), now)
            return
        try:
            roles = given_roles(dict(keys), self._plan.columns, self._plan.stations.quantities)
            is_whole = any(role in roles for pair in POSITION_ROLES for role in pair)
            if is_whole or any(keys.get(word) for word in (WITHDRAW, CORRECT, RESTORE)):
                named = keys if id_ is None else {"id": id_, **keys}
                self._worker.ask(parse_request(named), json.dumps(keys, default=str))
                return
            self._pending.append((self._time_of(keys, now), now, dict(keys), id_))
        except Refused as refusal:
            self._refuse(keys, str(refusal), now)

    def _time_of(self, keys: Mapping[str, Any], now: float) -> float:
        """Return when a row was read, on our clock; now where it does not say."""
        given, _ = values_by_role(dict(keys), self._plan.columns, self._plan.stations.quantities)
        time = date_and_time(given)
        if time is None:
            return now
        seconds, _ = read_time(time)
        return seconds - self._clock if seconds >= _LEAST_EPOCH_S else now

    def _take(self, event: Event, now: float) -> None:
        if isinstance(event, Pose):
            self._track.add(event.time, event.at)
        self._feed(event, now)

    def _place_samples(self, now: float) -> None:
        """Place the samples after which a position has come, or none comes."""
        while self._pending:
            time, arrived, keys, id_ = self._pending[0]
            if self._track.newest < time and now - arrived < _WAIT_FOR_POSITION_S:
                return
            self._pending.popleft()
            at = self._track.at(time)
            if at is None:
                reason = "Not used: the position of the vehicle at its time is not known."
                self._refuse(keys, reason, now, _clock_advice(time - arrived))
                continue
            try:
                self._feed(self._place(time, at, keys, id_), now)
            except Refused as refusal:
                self._refuse(keys, str(refusal), now)

    def _place(self, time: float, at: Waypoint, keys: dict[str, Any], id_: str | None) -> Sample:
        """Return a sample at a place, with wind and heading of the vehicle where they are needed."""
        names, sensor = self._plan.stations.names, self._plan.stations.sensor
        height = level_of(at.height, self._plan.reach.heights) + sensor.ground
        own: dict[str, Any] = {"x": at.place[0], "y": at.place[1], "altitude": height}
        roles = given_roles(keys, self._plan.columns, self._plan.stations.quantities)
        wind = self._link.wind
        is_windless = not any(role.startswith("wind") for role in roles)
        if "wind" in names and is_windless and wind is not None and time - wind[0] <= _WIND_IS_FRESH_S:
            own |= {"wind_u": wind[1][0], "wind_v": wind[1][1]}
        if "heading" in names and "heading" not in roles and self._link.heading is not None:
            own["heading"] = self._link.heading
        if "altitude" in roles:
            del own["altitude"]
        reading = self._plan.parse_reading({**keys, **own})
        return Sample(time, replace(reading, time=round(time + self._epoch, 3), id=id_ or reading.id))

    def _refuse(self, keys: Mapping[str, Any], reason: str, now: float, advice: str = "") -> None:
        """Write down why a sample is not used, and what to do; the same reason once a minute."""
        if now - self._refused.get(reason, -_SAME_REFUSAL_S) >= _SAME_REFUSAL_S:
            self._refused[reason] = now
            self._notify(f"{reason}{advice}")
            self._worker.refuse(json.dumps(dict(keys), default=str), f"{reason}{advice}")

    def _feed(self, event: Event, now: float) -> None:
        if isinstance(event, Pose | Battery | Sample) and type(event) not in self._known:
            self._known.add(type(event))
            self._notify(self._describe(event))
        self.state, commands = self._flight.step(self.state, event)
        answers = [self._do(command, now) for command in commands]
        for refused in filter(None, answers):
            self._feed(refused, now)

    def _describe(self, event: Pose | Battery | Sample) -> str:
        """Return a line by which a person checks the vehicle."""
        match event:
            case Pose(at=at):
                return f"The vehicle is at {_format_place(at.place)}, {at.height:.1f} m up."
            case Battery(percent=percent):
                return f"The battery has {percent:.0f} %."
            case Sample(reading=reading):
                return f"The first sample is {self._with_unit(reading)}."

    def _with_unit(self, reading: Reading) -> str:
        return f"{reading.value:g} {self._plan.unit} at {_format_place(reading.position)}".replace("  ", " ")

    def _say_wait(self, now: float) -> None:
        """Say once what a flight waits for that does not start."""
        if self.state.phase is not Phase.WAITING:
            self._waiting_since = None
        elif self._waiting_since is None:
            self._waiting_since = now
        elif now - self._waiting_since >= _LONG_WAIT_S:
            self._waiting_since = math.inf
            self._notify(f"Waiting for {_missing(self.state)}.")

    def _do(self, command: Command, now: float) -> NotRead | None:
        """Carry out a command; return what it has led to at once."""
        if isinstance(command, Note):
            self._write(command)
        elif isinstance(command, Observe):
            return self._observe(command, now)
        elif isinstance(command, Cancel):
            self._link.send(command, now)
        elif self._flight.rules.is_dry:
            self._notify(f"Would {command}.")
        else:
            self._write(Note(f"Asked the autopilot to {command}."))
            self._link.send(command, now)
        return None

    def _observe(self, command: Observe, now: float) -> NotRead | None:
        """Give the means of samples to the advisor, or return why there are none."""
        answers = ON_WAY if command.is_moving else STAY
        try:
            found = average(command.samples, unit=self._plan.unit, kind=self._plan.reading)
        except Refused as refusal:
            return NotRead(now, str(refusal), answers)
        named = [replace(one, id=one.id or _id_of(one), moving=command.is_moving) for one in found]
        for one in named:
            sensor = "" if one.sensor is None else f" by {one.sensor}"
            self._notify(f"Read {self._with_unit(one)}{sensor}.")
        self._worker.observe(named, answers)
        return None

    def _write(self, note: Note) -> None:
        # The search has a beginning, from which the time of the budget counts on after a crash. A dry run is
        # no flight that could go on.
        begun = self.state.begun
        if self._flight.rules.is_dry:
            note = replace(note, data={})
        elif note.data and begun is not None:
            note = replace(note, data={**note.data, "begun": round(begun + self._clock, 3)})
        self._notify(note.text)
        self._worker.note(note)


def _format_place(place: Place) -> str:
    return f"({place[0]:.1f}, {place[1]:.1f}) m"


def _missing(state: State) -> str:
    """Return what a flight needs next before it starts."""
    needed = {
        "the autopilot": state.heard is not None and not state.has_lost_link,
        "the position of the vehicle": state.here is not None,
        "the home position of the autopilot": state.home is not None,
        "the advisor": state.advice is not None,
        "the autopilot to take the geofence": state.fence == "up",
        f"the autopilot to change to mode {GUIDED}": state.mode == GUIDED,
    }
    return next((name for name, is_there in needed.items() if not is_there), "the motors")


def _clock_advice(ahead: float) -> str:
    """Return what to do about a sensor whose clock is far ahead of ours [s], or behind."""
    if abs(ahead) <= MAX_GAP_S:
        return ""
    side = "after" if ahead > 0 else "before"
    return f" That is {abs(ahead):,.0f} s {side} it arrived: check the sensor's clock and time zone."


def _id_of(reading: Reading) -> str:
    """Return the id of a mean, by its time; sensors that read together have one each."""
    moment = f"fly-{round(1000 * (reading.time or 0.0))}"
    return moment if reading.sensor is None else f"{moment}-{reading.sensor}"
