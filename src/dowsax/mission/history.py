"""The steps of a mission: which readings stand, and by what an earlier one is recognised."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from dowsax.mission.log import Step
from dowsax.mission.requests import Target
from dowsax.survey.reading import Reading, Refused


@dataclass(frozen=True)
class Standing:
    """A reading that counts."""

    reading: Reading
    step: int
    """The number of the step at which it became so: taken in, or last corrected."""
    held_wind: bool = False
    """Whether its wind is that of the reading before it."""


@dataclass
class History:
    """What was taken in, withdrawn and corrected so far."""

    count: int = 0
    """Steps so far: readings and corrections."""
    _standing: dict[int, Standing | None] = field(default_factory=dict)
    """By the number of the reading, in order; `None` for one that is withdrawn."""
    _withdrawn_at: dict[int, int] = field(default_factory=dict)
    """The step at which a reading was withdrawn."""
    _by_id: dict[str, int] = field(default_factory=dict)
    _versions: dict[int, list[Standing]] = field(default_factory=dict)
    """All that a reading has been, by its number."""
    _by_moment: dict[tuple, int] = field(default_factory=dict)

    @classmethod
    def of(cls, steps: Iterable[Step]) -> "History":
        """The history of these steps."""
        history = cls()
        for step in steps:
            history.add(step)
        return history

    def add(self, step: Step) -> None:
        """Take note of a step."""
        self.count = step.number
        number = step.number if step.corrects is None else step.corrects
        if step.reading is None:
            self._standing[number] = None
            self._withdrawn_at[number] = step.number
            return
        reading = Reading.from_json(step.reading)
        self._standing[number] = standing = Standing(reading, step.number, step.held_wind)
        self._versions.setdefault(number, []).append(standing)
        if reading.id is not None:
            self._by_id.setdefault(reading.id, number)
        moment = _moment(reading)
        if moment is not None:
            self._by_moment[moment] = step.number

    def step_of(self, reading: Reading, held_wind: bool = False) -> int | None:
        """The step at which this very reading was taken in; `Refused` where its id is that of another.

        With `held_wind` it came without a wind: what stands for it now is not what stood for it then.
        """
        if reading.id is None:
            return self._by_moment.get(_moment(reading) or ())
        number = self._by_id.get(reading.id)
        if number is None:
            return None
        for version in self._versions[number]:
            is_held = held_wind and version.held_wind
            if version.reading == (replace(reading, wind=version.reading.wind) if is_held else reading):
                return version.step
        raise Refused(
            f"The id {reading.id!r} was given to another reading: give each its own, or send it with "
            '"correct": true to correct that one.'
        )

    def find(self, target: Target) -> int:
        """The number of the reading that is meant, or `Refused`."""
        number = self._by_id.get(target.id) if target.id is not None else target.number
        if number is None or number not in self._standing:
            raise Refused(f"{target} was never taken in: give the `id` or `number` of one that was.")
        return number

    def is_withdrawn(self, number: int) -> bool:
        return self._standing[number] is None

    def correction(self, number: int, reading: Reading | None) -> int | None:
        """The step at which this reading became just what is asked for; `None` where it is something else."""
        now = self._standing[number]
        if now is None:
            return self._withdrawn_at[number] if reading is None else None
        return now.step if now.step != number and now.reading == reading else None

    def original(self, number: int) -> Reading:
        """The reading as it stands, or as it last stood; without a wind where it had none of its own."""
        last = self._versions[number][-1]
        return replace(last.reading, wind=None) if last.held_wind else last.reading

    def around(self, number: int) -> tuple[tuple[Reading, ...], tuple[Reading, ...]]:
        """The readings that stand and were taken in before this one, and those after it."""
        before = tuple(self._read({}, number))
        return before, tuple(self._read({number: None}))[len(before) :]

    def standing(self) -> list[tuple[int, Standing]]:
        """The readings that stand, by their numbers, as they were understood."""
        return [(number, item) for number, item in self._standing.items() if item is not None]

    def readings(self, changes: Mapping[int, Standing | None] | None = None) -> tuple[Reading, ...]:
        """The readings that stand, in order; with these `changes` of some, by their numbers."""
        return tuple(self._read(changes or {}))

    def _read(self, changes: Mapping[int, Standing | None], stop: int | None = None) -> Iterator[Reading]:
        last: Reading | None = None
        for number, own in self._standing.items():
            if number == stop:
                return
            standing = changes.get(number, own)
            if standing is None:
                continue
            held = standing.held_wind and last is not None
            last = replace(standing.reading, wind=last.wind) if held and last else standing.reading
            yield last


def _moment(reading: Reading) -> tuple | None:
    """What two readings without an id have in common when they are the same one."""
    if reading.time is None:
        return None
    value = reading.value if math.isfinite(reading.value) else None
    return reading.time, reading.sensor, reading.position, value
