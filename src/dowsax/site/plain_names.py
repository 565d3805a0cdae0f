"""Names as parts of topics and of the names of files."""

import re


def plain_name(name: str) -> str:
    """Return a name with a `-` for marks other than letters, digits, `_`, `.` and `-`."""
    return re.sub(r"[^\w.-]+", "-", name.strip())
