"""How often stops were wrong in simulation, or the command that measures it, for clients."""

import shlex
from functools import lru_cache
from pathlib import Path
from typing import Any

from dowsax.console.records import SIMULATED, MissionRecord
from dowsax.mission.rehearsal import Rehearsal, find_rehearsal, rehearsal_command, rehearsal_path
from dowsax.site.text import read_text

_NUMBERS = ("rate", "low", "high", "stops")
_MEASURED_SCENARIO = "id"
"""The scenario of the table of false stops: sources where the prior expects them."""


def stop_statistics(record: MissionRecord, copy: Path) -> dict[str, Any]:
    """Return `rate`, its 95 % interval `low` to `high`, and the number of `stops`; `None` if not measured.

    `measured_for` names the simulations: this `site`, its `field`, the standard site of its `kind`, or
    `nothing`. `sentence` says it as text, and `command` measures what was not. `copy` is the site file in the
    folder of missions.
    """
    if record.type == SIMULATED:
        return _of_field(record) or _not_measured("", _evaluation(record))
    file = find_site_file(record, copy)
    rehearsal, why_not = _find_rehearsal(record, file)
    if rehearsal is not None:
        return _of_site(rehearsal)
    command = rehearsal_command(str(file), record.policy)
    return _of_field(record) or _of_kind(record, why_not, command) or _not_measured(why_not, command)


def find_site_file(record: MissionRecord, copy: Path) -> Path:
    """Return the site file with a rehearsal that applies; else the one to rehearse."""
    named = None if record.file is None else Path(record.file)
    if named is None:
        return copy
    for file in (named, copy):
        if _find_rehearsal(record, file)[0] is not None:
            return file
    return named if _has_text(named, record.site) else copy


def rehearsal_stamp(record: MissionRecord, copy: Path) -> tuple[int, ...]:
    """Return numbers that change when a rehearsal next to the site file changes."""
    return tuple(_stamp(file) for file in (record.file, copy) if file is not None)


def _stamp(file: Path | str) -> int:
    try:
        return rehearsal_path(file).stat().st_mtime_ns
    except OSError:
        return 0


def _find_rehearsal(record: MissionRecord, file: Path) -> tuple[Rehearsal | None, str]:
    """Return the rehearsal next to a site file if it applies to this mission, and else why not."""
    preset = record.facts.get("filter", "")
    return _cached_rehearsal(str(file), record.site, preset, record.policy, _stamp(file))


@lru_cache(maxsize=64)
def _cached_rehearsal(
    file: str, text: str, preset: str, policy: str, stamp: int
) -> tuple[Rehearsal | None, str]:
    del stamp
    return find_rehearsal(file, text, preset, policy)


def _has_text(file: Path, text: str) -> bool:
    try:
        return read_text(file) == text
    except (ValueError, OSError):
        return False


def _of_site(rehearsal: Rehearsal) -> dict[str, Any]:
    wrong = rehearsal.false_stops
    rate = wrong.count / wrong.of if wrong.of else None
    numbers = dict(zip(_NUMBERS, (rate, wrong.low, wrong.high, wrong.of), strict=True))
    return numbers | {"measured_for": "site", "sentence": rehearsal.sentence(), "command": None}


def _of_field(record: MissionRecord) -> dict[str, Any] | None:
    """Return the statistics of the field, where they were measured."""
    known = record.facts["false_stops"]
    if known is None or record.scenario not in (None, _MEASURED_SCENARIO):
        return None
    numbers = {name: known[name] for name in (*_NUMBERS, "sentence")}
    return numbers | {"measured_for": "field", "command": None}


def _of_kind(record: MissionRecord, why_not: str, command: str) -> dict[str, Any] | None:
    """Return the statistics of the standard site; records of earlier versions have none."""
    known = record.facts.get("standard_stops")
    if known is None:
        return None
    sentence = f"{known['sentence']}; this site itself was not rehearsed{why_not}"
    numbers = {name: known[name] for name in _NUMBERS}
    return numbers | {"measured_for": "kind", "sentence": sentence, "command": command}


def _not_measured(why_not: str, command: str) -> dict[str, Any]:
    sentence = f"how often such a stop is wrong was not measured here{why_not}"
    return dict.fromkeys(_NUMBERS) | {"measured_for": "nothing", "sentence": sentence, "command": command}


def _evaluation(record: MissionRecord) -> str:
    """Return the command that runs many such simulated searches."""
    choices = {
        "policy": record.policy,
        "field": record.facts["field"],
        "scenario": record.scenario or _MEASURED_SCENARIO,
        "particles": record.facts["particles"],
    }
    words = [word for name, choice in choices.items() for word in (f"--{name}", str(choice))]
    return shlex.join(["dowsax", "evaluate", *words])
