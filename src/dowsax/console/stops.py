"""What is told of a stop before it comes: how often such stops were wrong, or which command measures it."""

import shlex
from functools import lru_cache
from pathlib import Path
from typing import Any

from dowsax.console.records import SIMULATED, Record
from dowsax.mission.advisor import Advisor
from dowsax.mission.false_stops import said_of_stops
from dowsax.mission.rehearsal import Rehearsal, rehearsal_command, rehearsal_path, rehearsed
from dowsax.site.text import read_text

_NUMBERS = ("rate", "low", "high", "stops")
_USUAL = "id"
"""The scenario that was measured beforehand: sources where they are expected."""


def told_of_stops(record: Record, copy: Path) -> dict[str, Any]:
    """`rate`, its 95 % interval `low` to `high` and of how many `stops`, `None` where it was not measured.

    `of` says in which simulations: of this `site`, its `field`, the standard site of its `kind`, or
    `nothing`. `sentence` says it in words, and `command` measures what was not. `copy` is the site file in
    the folder of missions.
    """
    if record.type == SIMULATED:
        return _of_field(record) or _not_measured("", _evaluation(record))
    file = file_of(record, copy)
    rehearsal, why_not = _quotable(record, file)
    if rehearsal is not None:
        return _of_site(rehearsal)
    command = rehearsal_command(str(file), record.policy)
    return _of_field(record) or _of_kind(record, why_not, command) or _not_measured(why_not, command)


def file_of(record: Record, copy: Path) -> Path:
    """The site file whose rehearsal is quoted; where neither has one that fits, the one to rehearse."""
    named = None if record.file is None else Path(record.file)
    if named is None:
        return copy
    quoted = next((file for file in (named, copy) if _quotable(record, file)[0] is not None), None)
    return quoted or (named if _says_the_same(named, record.site) else copy)


def stamp_of(record: Record, copy: Path) -> tuple[int, ...]:
    """Other numbers whenever a rehearsal next to the site file is another."""
    return tuple(_stamp(file) for file in (record.file, copy) if file is not None)


def _stamp(file: Path | str) -> int:

    try:
        return rehearsal_path(file).stat().st_mtime_ns
    except OSError:
        return 0


def _quotable(record: Record, file: Path) -> "tuple[Rehearsal | None, str]":
    """The rehearsal next to a site file if it is of this mission, and else why it is not."""
    return _rehearsed(str(file), record.site, record.facts.get("filter", ""), record.policy, _stamp(file))


def _says_the_same(file: Path, text: str) -> bool:

    try:
        return read_text(file) == text
    except (ValueError, OSError):
        return False


def said_again(advisor: "Advisor") -> str:
    """What an advice says of a stop, as of now."""
    return said_of_stops(advisor.plan, advisor.guide.name)


@lru_cache(maxsize=64)
def _rehearsed(file: str, text: str, preset: str, policy: str, stamp: int) -> tuple["Rehearsal | None", str]:

    del stamp
    return rehearsed(file, text, preset, policy)


def _of_site(rehearsal: "Rehearsal") -> dict[str, Any]:
    wrong = rehearsal.false_stops
    rate = wrong.count / wrong.of if wrong.of else None
    numbers = (rate, wrong.low, wrong.high, wrong.of)
    return dict(zip(_NUMBERS, numbers, strict=True)) | {
        "of": "site",
        "sentence": rehearsal.sentence(),
        "command": None,
    }


def _of_field(record: Record) -> dict[str, Any] | None:
    """What was measured for the field beforehand, if it was."""
    known = record.facts["false_stops"]
    if known is None or record.scenario not in (None, _USUAL):
        return None
    return {name: known[name] for name in (*_NUMBERS, "sentence")} | {"of": "field", "command": None}


def _of_kind(record: Record, why_not: str, command: str) -> dict[str, Any] | None:
    """What was measured at the standard site of the kind, if it was; missions of earlier times have none."""
    known = record.facts.get("standard_stops")
    if known is None:
        return None
    sentence = f"{known['sentence']}; this site itself was not rehearsed{why_not}"
    return {name: known[name] for name in _NUMBERS} | {"of": "kind", "sentence": sentence, "command": command}


def _not_measured(why_not: str, command: str) -> dict[str, Any]:
    sentence = f"how often such a stop is wrong was not measured here{why_not}"
    return dict.fromkeys(_NUMBERS) | {"of": "nothing", "sentence": sentence, "command": command}


def _evaluation(record: Record) -> str:
    """The command that runs many such simulated searches."""
    choices = {
        "policy": record.policy,
        "field": record.facts["field"],
        "scenario": record.scenario or _USUAL,
        "particles": record.facts["particles"],
    }
    words = [word for name, choice in choices.items() for word in (f"--{name}", str(choice))]
    return shlex.join(["dowsax", "evaluate", *words])
