"""The text of a site file: read with a limit on its length, and parsed once its shape is checked."""

import tomllib
from pathlib import Path
from typing import Any

from dowsax.site.errors import cut
from dowsax.site.scan import MAX_LENGTH, scan

_MAX_COMPLAINT_LENGTH = 200
"""Characters of the parser's complaint that an error repeats."""


def read_text(path: Path) -> str:
    """Return the text of a site file, or raise a ValueError in one line."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a site file, such as `dowsax site new` writes.")
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MAX_LENGTH + 1)
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist: write one with `dowsax site new {path}`.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8: save it as UTF-8.") from None
    if len(text) > MAX_LENGTH:
        raise ValueError(
            f"{path} has more than {MAX_LENGTH:,} characters: a site file is a short text, such as "
            "`dowsax site new` writes."
        )
    return text


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """Return the table of a TOML text, or raise a ValueError with the line on which it is none."""
    scan(file, text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        complaint = cut(str(error), _MAX_COMPLAINT_LENGTH)
        raise ValueError(
            f"{file}: not a TOML file: {complaint}; text goes in quotes, lists in brackets."
        ) from None
