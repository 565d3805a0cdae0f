"""Atomic writes: a file is complete or does not exist, even if the program is killed. Numbers for JSON."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import SupportsFloat


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file that atomically replaces `path` at the end; it is removed after an error."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, atomically."""
    with replace_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def write_through(path: Path, data: bytes) -> None:
    """Write a file and flush it to the disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def finite(number: SupportsFloat | None) -> float | None:
    """Return the number as JSON can hold it: `None` where it is not finite."""
    return None if number is None or not math.isfinite(number) else float(number)
