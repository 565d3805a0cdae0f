"""Where numbers come from: versions, commit and device."""

import subprocess
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax

from dowsax.version import versions


def provenance() -> dict[str, Any]:
    """What is written next to results, so that they can be reproduced."""
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "commit": commit(),
        "device": device(),
    }


def device() -> str:
    """The kind of the device JAX computes on."""
    return jax.devices()[0].device_kind


@lru_cache(maxsize=1)
def commit() -> str | None:
    """The commit of the package's own checkout, with `-dirty` after changes; `None` outside a checkout."""
    package = Path(__file__).parents[1]
    try:
        # A package installed below some other repository is not part of that repository.
        _git(package, "ls-files", "--error-unmatch", "__init__.py")
        return _git(package, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *words: str) -> str:
    outcome = subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True, timeout=10
    )
    return outcome.stdout.strip()
