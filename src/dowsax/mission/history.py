"""The history of a mission: which readings count, and how an earlier one is recognised."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from dowsax.mission.log import Step
from dowsax.mission.messages import Target
from dowsax.survey.reading import Reading, Refused


@dataclass(frozen=True)
class ActiveReading:
    """A reading that counts: neither withdrawn nor replaced."""

    reading: Reading
    step: int
    """The step at which it was added or last corrected."""
    held_wind: bool = False
    """Whether it has the wind of the reading before it."""


@dataclass
class History:
    """All readings, withdrawals and corrections so far."""

    count: int = 0
    """Steps so far: readings and corrections."""
    _active: dict[int, ActiveReading | None] = field(default_factory=dict)
    """By the number of the reading, in order; `None` for a withdrawn one."""
    _withdrawn_at: dict[int, int] = field(default_factory=dict)
    """The step at which a reading was withdrawn."""
    _by_id: dict[tuple[str | None, str], int] = field(default_factory=dict)
    """By searcher and id: each searcher numbers its own readings."""
    _versions: dict[int, list[ActiveReading]] = field(default_factory=dict)
    """All versions of a reading, by its number."""
    _by_moment: dict[tuple, int] = field(default_factory=dict)

    @classmethod
    def of(cls, steps: Iterable[Step]) -> "History":
        """Build the history of these steps."""
        history = cls()
        for step in steps:
            history.add(step)
        return history

    def add(self, step: Step) -> None:
        """Add a step."""
        self.count = step.number
        number = step.number if step.corrects is None else step.corrects
        if step.reading is None:
            self._active[number] = None
            self._withdrawn_at[number] = step.number
            return
        reading = Reading.from_json(step.reading)
        self._active[number] = active = ActiveReading(reading, step.number, step.held_wind)
        self._versions.setdefault(number, []).append(active)
        if reading.id is not None:
            self._by_id.setdefault((reading.searcher, reading.id), number)
        moment = _moment(reading)
        if moment is not None:
            self._by_moment[moment] = step.number

    def step_of(
        self, reading: Reading, held_wind: bool = False, *, advised_height: bool = False
    ) -> int | None:
        """Return the step that added this same reading; `Refused` where its id belongs to another one.

        With `held_wind` it came without a wind, and its present wind may differ from the one it had then;
        with `advised_height` it came without a height, and the same holds for that.
        """
        if reading.id is None:
            return self._by_moment.get(_moment(reading) or ())
        number = self._by_id.get((reading.searcher, reading.id))
        if number is None:
            return None
        for version in self._versions[number]:
            known = version.reading
            same = replace(reading, wind=known.wind) if held_wind and version.held_wind else reading
            if known == (replace(same, altitude=known.altitude) if advised_height else same):
                return version.step
        raise Refused(
            f"The id {reading.id!r} was given to another reading: give each its own, or send it with "
            '"correct": true to correct that one.'
        )

    def find(self, target: Target) -> int:
        """Return the number of the target, or `Refused`."""
        number = target.number if target.id is None else self._number_of(target.id, target.searcher)
        if number is None or number not in self._active:
            raise Refused(f"{target} was never recorded: give the `id` or `number` of one that was.")
        return number

    def _number_of(self, id_: str, searcher: str | None) -> int | None:
        """Return the number of the reading with an id; of any searcher where it is not said of which."""
        owners = [owner for owner, known in self._by_id if known == id_ and searcher in (None, owner)]
        if len(owners) > 1:
            names = ", ".join(map(str, owners))
            hint = f"give the `searcher`, one of {names}, or the `number`"
            raise Refused(f"Several searchers have a reading {id_!r}: {hint}.")
        return self._by_id[owners[0], id_] if owners else None

    def is_withdrawn(self, number: int) -> bool:
        return self._active[number] is None

    def correction(self, number: int, reading: Reading | None) -> int | None:
        """Return the step that already made this correction; `None` where none did."""
        now = self._active[number]
        if now is None:
            return self._withdrawn_at[number] if reading is None else None
        return now.step if now.step != number and now.reading == reading else None

    def step_with(self, number: int, reading: Reading) -> int | None:
        """Return the step that made a reading what it is, where it is this one; else `None`."""
        now = self._active[number]
        return now.step if now is not None and now.reading == reading else None

    def original(self, number: int) -> Reading:
        """Return the newest version of a reading; without a wind where it had none of its own."""
        return _own(self._versions[number][-1])

    def version(self, number: int, as_of: int | None) -> Reading:
        """Return a reading as it was after a step (default: as it was withdrawn), or `Refused`."""
        if as_of is None and not self.is_withdrawn(number):
            raise Refused(
                f"Reading {number} counts: give `as_of`, the number of the step after which it was right."
            )
        if as_of is None:
            return self.original(number)
        before = [version for version in self._versions[number] if version.step <= as_of]
        if not before:
            raise Refused(f"Reading {number} did not exist after step {as_of}: give a later step.")
        return _own(before[-1])

    def around(self, number: int) -> tuple[tuple[Reading, ...], tuple[Reading, ...]]:
        """Return the readings that count before this one, and those after it."""
        before = tuple(self._read({}, number))
        return before, tuple(self._read({number: None}))[len(before) :]

    def active(self) -> list[tuple[int, ActiveReading]]:
        """Return the readings that count, with their numbers."""
        return [(number, item) for number, item in self._active.items() if item is not None]

    def readings(self, changes: Mapping[int, ActiveReading | None] | None = None) -> tuple[Reading, ...]:
        """Return the readings that count, in order; `changes` replaces some, by their numbers."""
        return tuple(self._read(changes or {}))

    def _read(
        self, changes: Mapping[int, ActiveReading | None], stop: int | None = None
    ) -> Iterator[Reading]:
        last: Reading | None = None
        for number, own in self._active.items():
            if number == stop:
                return
            active = changes.get(number, own)
            if active is None:
                continue
            is_held = active.held_wind and last is not None
            last = replace(active.reading, wind=last.wind) if is_held and last else active.reading
            yield last


def _own(version: ActiveReading) -> Reading:
    """Return a version of a reading without a wind that it took from the reading before it."""
    return replace(version.reading, wind=None) if version.held_wind else version.reading


def _moment(reading: Reading) -> tuple | None:
    """Return what identifies a reading without an id; `None` without a time."""
    if reading.time is None:
        return None
    value = reading.value if math.isfinite(reading.value) else None
    return reading.time, reading.sensor, reading.searcher, reading.position, reading.far_end, value
