"""`dowsax fly`: an autopilot goes where the advisor says."""

import os
import select
import sys
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dowsax.cli.advise import mission_seed
from dowsax.cli.console import print_status
from dowsax.interruption import explain_interruption
from dowsax.mission.advisor import Advisor
from dowsax.mission.flight.airspace import Airspace
from dowsax.mission.flight.connection import (
    NoAutopilot,
    connect,
    parse_address,
    require_mavlink,
    wait_for_bytes,
)
from dowsax.mission.flight.events import Word
from dowsax.mission.flight.feeds import open_feed, require_feed
from dowsax.mission.flight.link import Link
from dowsax.mission.flight.machine import Flight
from dowsax.mission.flight.restore import restore
from dowsax.mission.flight.session import Session
from dowsax.mission.flight.state import Rules
from dowsax.mission.flight.worker import AdvisorWorker
from dowsax.mission.messages import MAX_BYTES
from dowsax.mission.mqtt import topics
from dowsax.mission.plan import Plan
from dowsax.site import Site, read_site
from dowsax.survey.reading import Refused
from dowsax.survey.reading_json import parse_object

CONNECT_TIMEOUT_S = 30.0
"""Within which a first heartbeat must come."""
_STEP_S = 0.05
_FINISH_S = 5.0
"""Within which the advisor may take in what it has, after the flight: less than an interruption leaves."""
_MAX_SYSTEM = 255
_MAX_NAME = 10
"""Characters in the name of a NAMED_VALUE_FLOAT."""


def fly(
    *,
    site: Path,
    log: Path,
    mavlink: str,
    arm: Annotated[bool, Parameter(negative="")] = False,
    readings: str | None = None,
    value: str = "value",
    system: int | None = None,
    policy: str | None = None,
    seed: int | None = None,
) -> None:
    """Fly a live search with an autopilot over MAVLink: readings in, waypoints out.

    Without --arm nothing is sent that moves the vehicle: what would be sent is printed, and readings count
    where a person takes the vehicle. With --arm the geofence is uploaded, and the vehicle is armed, takes
    off, searches and returns home: when the source is found, the search is inconclusive, the budget is spent,
    the battery is low, or the link is lost. A change of mode by the pilot ends all commands until you say
    resume.

    Type pause, resume or home to steer it, or a reading as JSON. Start the same command again after a crash.

    Parameters
    ----------
    site
        The site file, with an origin. `[flight]` has heights, speed, clearance, range and battery reserve.
    log
        The mission log. If it holds a mission at this site already, that mission continues.
    mavlink
        The address of the autopilot: udpin:0.0.0.0:14550, udpout:HOST:PORT, tcp:HOST:PORT or
        serial:/dev/ttyUSB0:57600.
    arm
        Send commands: arm the motors, take off, and fly. Default: a dry run.
    readings
        Readings that do not come from the autopilot: a file that grows, CSV or JSON lines; a sensor,
        serial:/dev/ttyUSB0:9600, that sends numbers or JSON lines; or mqtt://host:1883/TOPIC, by default
        dowsax/NAME/readings. One without a place gets that of the vehicle.
    value
        The name of the NAMED_VALUE_FLOAT that is the reading.
    system
        The number of the vehicle in MAVLink, 1 to 255. Default: the first that is heard.
    policy
        The policy that chooses the next place. Default: the best for the site.
    seed
        The same seed gives the same advice. Default: that of the log, or 0.
    """
    require_mavlink()
    parse_address(mavlink)
    _require_names(value, system)
    found = read_site(site)
    airspace, seed = Airspace.of(found), mission_seed(log, seed)
    plan = airspace.plan(Plan.of(found))
    if readings is not None:
        require_feed(readings)
    restored = restore(log)
    epoch = time.time() - time.monotonic()
    feed = None if readings is None else open_feed(readings, topics(plan.name)[0], restored.last_row)
    port = connect(mavlink)
    link = Link(port, plan.coordinates, value, system=system, is_dry=not arm)
    executor = ThreadPoolExecutor(1, thread_name_prefix="advisor")
    worker = AdvisorWorker(lambda: Advisor(plan, policy, seed, log), executor)
    flight, state = Flight(airspace, Rules.of(found, is_dry=not arm)), restored.state(epoch)
    session = Session(plan, flight, state, link, worker, epoch, print_status, feed)
    print_status(_describe(found, airspace, mavlink, arm))
    try:
        stays = (
            "The vehicle stays where it was sent until its failsafe notices that the ground station is gone, "
            "or the pilot takes over. "
        )
        with explain_interruption(f"{stays if arm else ''}The same command goes on with {log}."):
            _run(session, link, port, mavlink)
    finally:
        _finish(worker, executor, log)
        for one in (worker, port, *([] if feed is None else [feed])):
            one.close()


def _finish(worker: AdvisorWorker, executor: Executor, log: Path) -> None:
    """Have the readings that wait for the advisor recorded, or say how many are not."""
    late = worker.finish(_FINISH_S)
    if late:
        where = "" if worker.advisor is None else f"; {log} has them among the refused ones"
        print_status(f"{late} readings came too late for the advisor{where}: send them again.")
    # One that is being recorded is waited for.
    executor.shutdown(wait=worker.advisor is not None, cancel_futures=True)


def _require_names(value: str, system: int | None) -> None:
    if not 1 <= len(value) <= _MAX_NAME:
        raise ValueError(f"--value must have 1 to {_MAX_NAME} characters; got {value!r}.")
    if system is not None and not 1 <= system <= _MAX_SYSTEM:
        raise ValueError(f"--system must be from 1 to {_MAX_SYSTEM}; got {system}.")


def _describe(site: Site, airspace: Airspace, address: str, arm: bool) -> str:
    what = "commands are sent" if arm else "a dry run, nothing is sent that moves the vehicle"
    return f"{site.name}: {address}, {what}; flies at {airspace.height:g} m unless the advice says how high."


def _run(session: Session, link: Link, port: Any, address: str) -> None:
    """Step a flight until it has ended."""
    typed, begun = _Typed(), time.monotonic()
    while not session.is_over:
        now = time.monotonic()
        # pymavlink prints what becomes of a connection; the link notices that by itself.
        with redirect_stdout(None):
            session.set_clock(time.time() - now)
            session.step(now)
        for line in typed.read():
            _take(session, line, now)
        if session.state.heard is None and now - begun > CONNECT_TIMEOUT_S:
            but = f", but {link.unfit}" if link.unfit else ""
            raise NoAutopilot(
                f"No autopilot answers at {address} within {CONNECT_TIMEOUT_S:g} s{but}: check the address, "
                "and that it sends MAVLink there."
            )
        wait_for_bytes(port, _STEP_S)


class _Typed:
    """The lines of stdin as they come; it is never waited for."""

    def __init__(self) -> None:
        try:
            self._descriptor: int | None = sys.stdin.fileno()
        except (OSError, ValueError, AttributeError):
            # There is none.
            self._descriptor = None
        self._rest = b""

    def read(self) -> list[str]:
        """Return the lines that are complete."""
        if self._descriptor is None or not select.select([self._descriptor], [], [], 0.0)[0]:
            return []
        data = os.read(self._descriptor, MAX_BYTES)
        if not data:
            self._descriptor = None
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_BYTES:
            self._rest = b""
        return [line.decode("utf-8", errors="replace").strip() for line in lines]


def _take(session: Session, text: str, now: float) -> None:
    if text.lower() in list(Word):
        session.say(Word(text.lower()), now)
    elif text.startswith("{"):
        try:
            session.take_row(None, parse_object(text), now)
        except Refused as refusal:
            session.take_row(None, refusal, now)
    elif text:
        print_status(f"{text[:40]!r} is none of {', '.join(Word)}, nor a reading as JSON.")
