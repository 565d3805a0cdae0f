"""Checks of output files before any work is done, so that no answer is lost at the end."""

import os
from pathlib import Path

from dowsax.viz.style import require_format


def require_writable(path: Path) -> None:
    """Raise a ValueError in one line unless the file can be written. The folder stays as it was."""
    if path.is_dir():
        raise ValueError(f"Cannot write {path}: it is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise ValueError(f"Cannot write {path}: the folder {path.parent} does not exist.")
    existed = os.path.lexists(path)
    try:
        path.open("ab").close()
    except OSError as error:
        raise ValueError(f"Cannot write {path}: {error.strerror}.") from None
    if not existed:
        path.unlink()


def require_picture(path: Path) -> None:
    """Raise a ValueError in one line unless the picture can be written, in a known format."""
    require_format(path)
    require_writable(path)


def require_folder(path: Path) -> None:
    """Create the folder and its parents, or raise a ValueError in one line."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"Cannot make the folder {path}: {error.strerror}.") from None
