"""How long preparations took on this machine, for the estimate beside a bar.

The first time compiles, and the next ones do not: the newest duration of a kind is the best estimate.
"""

import json
import zlib
from contextlib import suppress
from pathlib import Path

from dowsax.compilation import cache_folder
from dowsax.files import replace_text

_MAX_KINDS = 200
"""That are remembered: the newest ones."""


def expected_seconds(kind: str) -> float | None:
    """Return how long [s] a preparation of this kind took last time; `None` where that is not known."""
    found = _durations().get(kind)
    return found if isinstance(found, int | float) and found > 0 else None


def remember_seconds(kind: str, seconds: float) -> None:
    """Write down how long [s] a preparation of this kind took, where the disk takes it."""
    durations = {name: known for name, known in _durations().items() if name != kind}
    durations[kind] = round(seconds, 2)
    newest = dict(list(durations.items())[-_MAX_KINDS:])
    with suppress(OSError):
        _path().parent.mkdir(parents=True, exist_ok=True)
        replace_text(_path(), json.dumps(newest))


def site_kind(verb: str, site: str, *others: object) -> str:
    """Return the kind of what a command does at a site; `site` is the text of its file."""
    return f"{verb} {zlib.crc32(site.encode()):08x} {' '.join(map(str, others))}".strip()


def _path() -> Path:
    return cache_folder().with_name("durations.json")


def _durations() -> dict:
    try:
        found = json.loads(_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
