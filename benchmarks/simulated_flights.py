"""Flights of `dowsax fly` in simulated time: the state machine, the link and the advisor against the stub.

Nothing but the clock and the wires are simulated: commands and telemetry are MAVLink packets, and the mission
log is a file. The filter is compiled once for all flights.
"""

import math
import random
from collections import Counter
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import shapely

from benchmarks.autopilot_stub import LOITER, RTL, AutopilotStub, Faults, Place, StubPort
from dowsax.mission.advisor import Advisor
from dowsax.mission.flight.airspace import Airspace
from dowsax.mission.flight.events import Word
from dowsax.mission.flight.link import Link
from dowsax.mission.flight.machine import Flight
from dowsax.mission.flight.restore import restore
from dowsax.mission.flight.session import Session
from dowsax.mission.flight.state import Phase, Rules
from dowsax.mission.flight.worker import AdvisorWorker
from dowsax.mission.log import MissionLog
from dowsax.mission.plan import Plan
from dowsax.site import parse_site

SITE = """
name = "yard"
[area]
low = [0, 0]
high = [60, 40]
origin = [52.1, 5.1]
[[geofence]]
corners = [[0, 0], [60, 0], [60, 40], [0, 40]]
[[no_go]]
corners = [[25, 15], [35, 15], [35, 25], [25, 25]]
[field]
kind = "level"
unit = "dB"
[step]
length = 6
directions = 12
[budget]
readings = 12
[search]
particles = 64
radius = 3
[flight]
height = 12
range = 70
"""
HOME = (5.0, 5.0)
STEP_S = 0.2
LIMIT_S = 1500.0
"""Of simulated time, after which a flight counts as not ended."""
_EPOCH = 1_750_000_000.0
_NOISE_DB = 1.0
_PATIENCE_S = 10.0
"""After which a person says resume."""
_MAX_RESUMES = 4
_ANSWER_S = 0.6
"""At most, until the advisor answers."""
_TOLERANCE_M = 0.05
"""Of a place that went through degrees in whole 1e-7."""


@dataclass(frozen=True)
class Case:
    """What happens in a flight."""

    seed: int
    drop: float = 0.0
    """The probability that a packet is lost."""
    wind: Place = (0.0, 0.0)
    """[m/s]"""
    cut: tuple[float, float] | None = None
    """When the link is lost, and for how long [s]."""
    kills: tuple[tuple[float, float], ...] = ()
    """When our process is killed, and for how long it is down [s]."""
    pilot: tuple[float, float] | None = None
    """When the pilot takes over, and for how long [s]."""
    battery: float = 100.0
    """[%], at the start."""
    drain: float = 0.05
    """[%/s]"""

    @property
    def faults(self) -> tuple[str, ...]:
        """The kinds of faults."""
        known = {
            "lost packets": self.drop > 0,
            "wind": self.wind != (0.0, 0.0),
            "lost link": self.cut is not None,
            "kills": bool(self.kills),
            "pilot": self.pilot is not None,
            "low battery": self.drain > 0.1,
        }
        return tuple(name for name, is_there in known.items() if is_there)


def draw_case(seed: int) -> Case:
    """Draw the faults of a flight; each kind is in about half of them."""
    rng = random.Random(f"flight {seed}")

    def sometimes(value, otherwise):
        return value if rng.random() < 0.5 else otherwise

    angle, speed = rng.uniform(0, 2 * math.pi), rng.uniform(2, 12)
    downs = [rng.choice([1.0, 2.0, 4.0, 12.0, 60.0]) for _ in range(rng.randint(1, 3))]
    kills = tuple((rng.uniform(5, 90), down) for down in downs)
    return Case(
        seed,
        drop=sometimes(rng.uniform(0.01, 0.3), 0.0),
        wind=sometimes((speed * math.cos(angle), speed * math.sin(angle)), (0.0, 0.0)),
        cut=sometimes((rng.uniform(5, 90), rng.choice([2.0, 8.0, 60.0])), None),
        kills=sometimes(kills, ()),
        pilot=sometimes((rng.uniform(5, 90), rng.uniform(2, 40)), None),
        drain=sometimes(rng.uniform(0.4, 2.0), 0.05),
    )


class DelayedExecutor(Executor):
    """Runs a job when its time comes: before it a kill prevents it, and the reading must be taken again."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._jobs, self._now = rng, [], 0.0

    def submit(self, fn, /, *args, **kwargs) -> Future:
        future = Future()
        self._jobs.append(
            (self._now + self._rng.uniform(0.0, _ANSWER_S), future, lambda: fn(*args, **kwargs))
        )
        return future

    def run_until(self, now: float) -> None:
        self._now = now
        while self._jobs and self._jobs[0][0] <= now:
            _, future, work = self._jobs.pop(0)
            try:
                future.set_result(work())
            except Exception as error:
                future.set_exception(error)


class Base:
    """What all flights share: the site, and one compiled filter."""

    def __init__(self) -> None:
        self.site = parse_site(SITE)
        self.airspace = Airspace.of(self.site)
        self.plan = self.airspace.plan(Plan.of(self.site))
        self.policy = self.plan.site_policy(None)
        Advisor(self.plan, self.policy, 0)
        blocked = shapely.union_all([shapely.Polygon(corners) for corners in self.site.no_go])
        self.allowed = shapely.Polygon(self.site.geofence[0]).difference(blocked)
        """Made without the geometry that plans the ways."""

    def advisor(self, seed: int, log: Path) -> Advisor:
        return Advisor(self.plan, self.policy, seed, log, warm_up=False)


@dataclass
class Outcome:
    """What came of a flight."""

    case: Case
    seconds: float = 0.0
    """Simulated."""
    readings: int = 0
    outside: int = 0
    """Waypoints that the autopilot was sent outside of the geofence, its heights or its range."""
    across: int = 0
    """Waypoints to which the straight way was not free."""
    lost: int = 0
    """Readings that were acknowledged and are not in the log."""
    twice: int = 0
    under_pilot: int = 0
    """Modes that were commanded while the pilot flew and had been heard."""
    waypoints: int = 0
    is_home: bool = False
    ending: str = ""
    phases: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class SimulatedFlight:
    """One flight; `run` returns its outcome."""

    def __init__(self, base: Base, case: Case, log: Path) -> None:
        self._base, self._case, self._log = base, case, log
        self._rng = random.Random(f"noise {case.seed}")
        self._source = (
            self._rng.uniform(8, 52),
            self._rng.choice([self._rng.uniform(4, 12), self._rng.uniform(28, 36)]),
        )
        self._stub = AutopilotStub(
            base.site.coordinates,
            HOME,
            self._read,
            seed=case.seed,
            wind=case.wind,
            battery=case.battery,
            drain=case.drain,
            faults=Faults(case.drop),
        )
        self._acknowledged: list[str] = []
        self._session: Session | None = None
        self._is_given_back = case.pilot is None
        self._patience, self._resumes = 0.0, 0
        self.outcome = Outcome(case)

    def _read(self, place: Place, height: float) -> float:
        distance = math.hypot(math.dist(place, self._source), height, 1.0)
        return 60.0 - 20.0 * math.log10(distance) + self._rng.gauss(0.0, _NOISE_DB)

    def run(self) -> Outcome:
        """Fly until it has ended."""
        case, stub, now, down_until = self._case, self._stub, 0.0, 0.0
        kills = sorted(case.kills)
        self._start(now)
        while now < LIMIT_S and not self._has_ended():
            now += STEP_S
            self._disturb(now)
            stub.step(STEP_S)
            if kills and now >= kills[0][0]:
                down_until = now + kills.pop(0)[1]
                self._kill()
            if self._session is None and now >= down_until:
                self._start(now)
            if self._session is not None:
                self._step(self._session, now)
        return self._judge(now)

    def _start(self, now: float) -> None:
        base, restored = self._base, restore(self._log)
        self._executor = DelayedExecutor(self._rng)
        self._worker = AdvisorWorker(self._build, self._executor)
        self._executor.run_until(now)
        self._session = Session(
            base.plan,
            Flight(base.airspace, Rules.of(base.site, is_dry=False)),
            restored.state(_EPOCH),
            Link(StubPort(self._stub), base.plan.coordinates, "value"),
            self._worker,
            _EPOCH,
            lambda text: None,
        )

    def _build(self) -> Advisor:
        advisor = self._base.advisor(self._case.seed, self._log)
        add = advisor.add

        def watched(reading, *args, **kwargs):
            advice = add(reading, *args, **kwargs)
            self._acknowledged.append(reading.id)
            return advice

        advisor.add = watched
        return advisor

    def _kill(self) -> None:
        """End our process as `kill -9` does: maybe in the middle of a line of the log."""
        if self._session is None:
            return
        self._worker.close()
        self._session = None
        self._stub.recv_all()
        if self._log.exists() and self._rng.random() < 0.5:
            with self._log.open("ab") as file:
                file.write(b"7d865e959b246691"[: self._rng.randint(1, 16)])

    def _step(self, session: Session, now: float) -> None:
        before = session.state.phase
        was_pilots = before is Phase.TAKEN_OVER
        num_modes = len(self._stub.modes)
        self._executor.run_until(now)
        session.step(now)
        self._stub.step(0.0)
        if was_pilots and session.state.phase is Phase.TAKEN_OVER:
            self.outcome.under_pilot += len(self._stub.modes) - num_modes
        if session.state.phase is not before:
            self.outcome.phases[str(session.state.phase)] += 1
            self._patience = now + _PATIENCE_S
        self._be_the_person(session, now)

    def _disturb(self, now: float) -> None:
        case, stub = self._case, self._stub
        stub.faults.is_cut = case.cut is not None and case.cut[0] <= now < sum(case.cut)
        if case.pilot is None:
            return
        if case.pilot[0] <= now < case.pilot[0] + STEP_S and stub.is_armed:
            stub.pilot(LOITER)
        self._is_given_back = now >= sum(case.pilot)

    def _be_the_person(self, session: Session, now: float) -> None:
        """Say resume after a while; home where that does not help."""
        is_waiting = session.state.phase in (Phase.TAKEN_OVER, Phase.HOLDING)
        if not is_waiting or not self._is_given_back or now < self._patience or self._has_landed():
            return
        self._patience, self._resumes = now + _PATIENCE_S, self._resumes + 1
        session.say(Word.RESUME, now)
        if self._resumes > _MAX_RESUMES or session.state.is_low:
            self._stub.pilot(RTL)

    def _has_landed(self) -> bool:
        return self._stub.has_flown and not self._stub.is_armed

    def _has_ended(self) -> bool:
        session = self._session
        if session is None:
            return False
        is_waiting = session.state.phase in (Phase.TAKEN_OVER, Phase.HOLDING)
        return session.is_over or (is_waiting and self._has_landed())

    def _judge(self, now: float) -> Outcome:
        outcome, stub, base = self.outcome, self._stub, self._base
        outcome.seconds, outcome.waypoints = now, len(stub.waypoints)
        self._worker.close()
        with MissionLog.open(self._log) as log:
            ids = [step.id for step in log.steps()]
        outcome.readings, outcome.twice = len(ids), len(ids) - len(set(ids))
        outcome.lost = len(set(self._acknowledged) - set(ids))
        outcome.is_home = stub.is_home or not stub.has_flown
        state = None if self._session is None else self._session.state
        outcome.ending = "" if state is None else f"{state.phase}: {state.why}"
        limits, wide = base.site.flight, base.allowed.buffer(_TOLERANCE_M)
        for place, height, here, here_height in stub.waypoints:
            is_high = not limits.lowest - 0.01 <= height <= limits.highest + 0.01
            is_far = limits.range is not None and math.dist(place, HOME) > limits.range + _TOLERANCE_M
            outcome.outside += bool(is_high or is_far or not wide.covers(shapely.Point(place)))
            way = shapely.LineString([here, place])
            is_inside = wide.covers(shapely.Point(here)) and here_height > 1.0
            outcome.across += bool(is_inside and way.length > _TOLERANCE_M and not wide.covers(way))
        if now >= LIMIT_S:
            outcome.problems.append(
                f"seed {self._case.seed}: not ended after {LIMIT_S:g} s ({outcome.ending})"
            )
        places = np.array([place for _, place, _ in stub.track]) if stub.track else np.zeros((0, 2))
        strayed = ~shapely.contains_xy(base.allowed.buffer(1.0), *places.T)
        outcome.phases["seconds outside by more than 1 m"] = int(strayed.sum() * STEP_S)
        return outcome
