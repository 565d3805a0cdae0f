"""The formats in which pictures are written, known without matplotlib."""

from pathlib import Path

FORMATS = (".png", ".pdf", ".svg")


def require_format(path: Path) -> None:
    """Raise a ValueError in one line unless the name ends in a known picture format."""
    if path.suffix.lower() not in FORMATS:
        kind = f"Unknown picture format {path.suffix!r}" if path.suffix else "No picture format"
        raise ValueError(f"{kind} in {path.name!r}: end the name in {', '.join(FORMATS)}.")
