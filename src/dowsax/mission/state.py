"""A mission as it stands, and what one more reading makes of it."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from dowsax.inference import Belief
from dowsax.mission.decision import Spent
from dowsax.mission.evidence import Evidence
from dowsax.mission.plan import Plan
from dowsax.mission.reversed_wind import Turned
from dowsax.mission.stations import example, single
from dowsax.mission.tracker import Digest, Tracker, digest_of
from dowsax.survey.parallel import run_in_parallel
from dowsax.survey.reading import Reading, Refused
from dowsax.types import Key, Scalar, Station

SURE_OF_CHANGE = 0.9
"""The probability from which a change is told."""


@dataclass(frozen=True)
class Course:
    """A mission as it stands: what the next reading is judged by."""

    belief: Belief
    null: Belief
    """The belief where there is no source, for the evidence."""
    turned: Turned
    """The belief in the opposite wind, where wind is measured."""
    readings: tuple[Reading, ...] = ()
    rows: tuple[np.ndarray, ...] = ()
    """What the belief said after each: see `digest`."""
    regime: int = 0
    """The reading, counted from 0, since which source and wind are taken to be as they are."""

    def digest(self, number: int) -> Digest:
        """What the belief said after the reading of this number, counted from 1."""
        return digest_of(self.rows[number - 1])

    def measures(self, start: tuple[float, float] | None) -> dict[str, float | None]:
        """What the belief is like now, for those who draw it: `None` where there is no reading."""
        if not self.readings:
            return dict.fromkeys(("spread", "mass", "ess", "fit"), None) | {"path_length": 0.0}
        digest = self.digest(len(self.readings))
        numbers = {
            "spread": float(max(digest.std[0], digest.std[1])),
            **{name: float(getattr(digest, name)) for name in ("mass", "ess", "fit")},
            "path_length": Spent.on(start, self.readings).distance,
        }
        return {name: value if math.isfinite(value) else None for name, value in numbers.items()}


@dataclass(frozen=True)
class Filters:
    """The filters of a mission, side by side: of the source, of none, and of the opposite wind."""

    plan: Plan
    tracker: Tracker
    evidence: Evidence
    begin_key: Key
    step_key: Key
    null_key: Key

    @classmethod
    def build(cls, plan: Plan, begin_key: Key, step_key: Key, null_key: Key) -> "Filters":
        tracker = Tracker(plan.model, plan.preset, plan.jump, plan.radius)
        return cls(plan, tracker, Evidence.build(plan), begin_key, step_key, null_key)

    def begin(self) -> Course:
        """Before the first reading."""
        template = example(self.plan.stations.names)
        belief, null = run_in_parallel(
            lambda: self.tracker.begin(self.begin_key, template),
            lambda: self.evidence.begin(self.null_key, template),
        )
        windy = "wind" in self.plan.stations.names
        return Course(belief, null, Turned(belief if windy else None))

    def step(self, course: Course, reading: Reading) -> tuple[Course, Station, bool]:
        """The mission after one more reading, and whether it shows a change; or `Refused`."""
        station = self.plan.stations.station(reading, course.readings)
        value = single(reading.value)
        (belief, row), turned = self._both_winds(course, station, value)
        digest = digest_of(row)
        if not digest.explained:
            raise Refused(self._unexplained(reading, course))
        null = self.evidence.take(self.null_key, course.null, station, value)
        changed = float(digest.changed) >= SURE_OF_CHANGE
        grown = Course(
            belief,
            null,
            turned,
            readings=(*course.readings, reading),
            rows=(*course.rows, row),
            regime=int(digest.since) if changed else course.regime,
        )
        return grown, station, changed

    def replay(self, readings: Iterable[Reading]) -> tuple[Course, Station | None, bool]:
        """The mission after these readings: as it would be had there been no others; see `step`."""
        course, station, changed = self.begin(), None, False
        for reading in readings:
            course, station, changed = self.step(course, reading)
        return course, station, changed

    def _both_winds(
        self, course: Course, station: Station, value: Scalar
    ) -> tuple[tuple[Belief, np.ndarray], Turned]:
        """The belief after a reading, as `Tracker.take` gives it, and that of the opposite wind beside it."""

        def given() -> tuple[Belief, np.ndarray]:
            return self.tracker.take(self.step_key, course.belief, station, value, course.regime)

        if course.turned.belief is None:
            return given(), course.turned
        taken, opposite = run_in_parallel(
            given, lambda: course.turned.take(self.step_key, self.tracker, station, value)
        )
        return taken, course.turned.judged(opposite, float(taken[0].log_evidence))

    def trial(
        self, course: Course, reading: Reading, station: Station, value: Scalar, *others: Callable[[], object]
    ) -> Course:
        """One step whether the reading is explained or not, and `others` besides, so that all is compiled."""
        (belief, row), null, *_ = run_in_parallel(
            lambda: self.tracker.take(self.step_key, course.belief, station, value),
            lambda: self.evidence.take(self.null_key, course.null, station, value),
            *others,
        )
        return Course(belief, null, Turned(None), (reading,), (row,))

    def _unexplained(self, reading: Reading, course: Course) -> str:
        said = f"{reading.value:g} {self.plan.unit}".strip()
        place = self.plan.frame.format_position(reading.position)
        after = " after the readings before it" if course.readings else ""
        wind = " its wind," if reading.wind is not None else ""
        return (
            f"No source that the site allows explains {said} at {place}{after}: check its unit, "
            f"its position,{wind} and the prior of the site."
        )
