"""Checks of output files before any work is done, so that no answer is lost at the end."""

import os
from pathlib import Path

from dowsax.cli.console import print_status
from dowsax.extras import describe_missing, has_extra, require_extra
from dowsax.viz import require_format


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
    require_extra("viz", f"The picture {path.name}")
    require_writable(path)


def can_draw(*names: str) -> bool:
    """Whether pictures can be drawn; where not, say on stderr which files are left out and what they need."""
    if has_extra("viz"):
        return True
    missing = describe_missing("viz", "a picture")
    print_status(f"No {' and '.join(names)}: {missing}")
    return False


def require_folder(path: Path) -> None:
    """Create the folder and its parents, or raise a ValueError in one line."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"Cannot make the folder {path}: {error.strerror}.") from None
