"""What the measurements were made on, in words that belong beside every number."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def cpu_model() -> str:
    """The processor's own name, where the system tells it."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> float | None:
    """Processes that wanted to run in the last minute, on average; without others at work, near 0."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def commit() -> str:
    """The commit of the checkout, with a note when files differ from it; `unknown` outside one."""
    try:
        name = _git("rev-parse", "--short", "HEAD")
        return f"{name} with changes" if _git("status", "--porcelain") else name
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def describe() -> dict[str, object]:
    """The machine and the versions that matter for time."""
    return {
        "cpu": cpu_model(),
        "architecture": platform.machine(),
        "cores": cores(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("jax", "jaxlib", "numpy", "scipy")},
    }


def version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


def _git(*words: str) -> str:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
