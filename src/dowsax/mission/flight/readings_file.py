"""A file of readings that grows: CSV with a header, or one JSON object a line."""

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dowsax.mission.flight.commands import Note
from dowsax.survey.reading import Refused
from dowsax.survey.reading_json import parse_object

_MAX_CHUNK = 1024 * 1024
_ROW = "row"
_ID = re.compile(rf"{_ROW}-(?:(\d+)-)?(\d+)", re.ASCII)


class RowId(NamedTuple):
    """The id of a row, which is another one where the file is written again."""

    generation: int
    """How often it was written again before."""
    begin: int
    """The first byte of the row."""

    def __str__(self) -> str:
        return f"{_ROW}-{self.begin}" if self.generation == 0 else f"{_ROW}-{self.generation}-{self.begin}"


class ReadingsFile:
    """The rows of a file as they arrive; an unfinished line waits for its end.

    The file may appear later. If it is written again, it is read from its beginning.
    """

    def __init__(self, path: Path, last: RowId | None = None) -> None:
        """Read on after a row. Default: from the end of what is there now."""
        self._path = path
        self._header: list[str] | None = None
        self._trouble: Note | None = None
        """Why nothing can be read now, as it was said."""
        end = path.stat().st_size if path.is_file() else 0
        self._generation, self._offset = RowId(0, end) if last is None else last
        self._is_read, self._is_long = last is not None, False
        """Whether what is at the offset was read before, and whether it is the rest of a line left out."""

    def poll(self) -> Iterator[tuple[str, dict[str, Any] | Refused] | Note]:
        """Yield the id and the keys of each new row, or why it is none."""
        try:
            is_there = self._path.is_file()
            data = self._read() if is_there else b""
        except OSError as error:
            why = error.strerror or error
            yield from self._say(Note(f"{self._path} cannot be read ({why}): trying again.", is_alarm=True))
            return
        if not is_there:
            yield from self._say(Note(f"{self._path} is not there yet: waiting for it."))
            return
        trouble, self._trouble = self._trouble, None
        if trouble is not None and trouble.is_alarm:
            yield Note(f"{self._path} is read again.")
        end = data.rfind(b"\n") + 1
        for line in data[:end].splitlines(keepends=True):
            begin = self._offset
            self._offset += len(line)
            text = line.decode("utf-8", errors="replace").strip()
            if not text:
                continue
            if begin == 0 and not text.startswith("{"):
                self._header = _header(line)
                continue
            yield str(RowId(self._generation, begin)), self._parse(text)
        if len(data) == _MAX_CHUNK and not end:
            self._is_long = True
            yield Note(f"A line of {self._path} has more than {_MAX_CHUNK:,} bytes: left out.", is_alarm=True)

    def _say(self, trouble: Note) -> Iterator[Note]:
        """Yield what is wrong, once."""
        if trouble != self._trouble:
            self._trouble = trouble
            yield trouble

    def _read(self) -> bytes:
        """Return what is new, from the beginning of a line on."""
        size = self._path.stat().st_size
        if size < self._offset + self._is_read:
            self._generation, self._offset = self._generation + 1, 0
            self._header, self._is_read, self._is_long = None, False, False
        if size == self._offset:
            return b""
        with self._path.open("rb") as file:
            if self._header is None and self._offset:
                self._header = _header(file.readline(_MAX_CHUNK))
            file.seek(self._offset)
            if self._is_read or self._is_long:
                rest = file.readline(_MAX_CHUNK)
                self._offset += len(rest)
                self._is_read, self._is_long = False, not rest.endswith(b"\n")
            return b"" if self._is_long else file.read(_MAX_CHUNK)

    def close(self) -> None:
        """Nothing is open between two calls."""

    def _parse(self, text: str) -> dict[str, Any] | Refused:
        try:
            if text.startswith("{"):
                return parse_object(text)
            if self._header is None:
                return Refused("The file has no header: name its columns in its first line, or write JSON.")
            cells = next(csv.reader([text]))
            if len(cells) != len(self._header):
                return Refused(
                    f"A row has {len(cells)} cells, and the header {len(self._header)}: {text[:60]!r}."
                )
            return {name: cell for name, cell in zip(self._header, cells, strict=True) if cell.strip()}
        except (Refused, csv.Error) as error:
            return error if isinstance(error, Refused) else Refused(f"Not a row of a CSV file: {error}.")


def _header(line: bytes) -> list[str] | None:
    """Return the names of columns; `None` where the line is no header."""
    text = line.decode("utf-8-sig", errors="replace").strip()
    if not text or text.startswith("{") or not line.endswith(b"\n"):
        return None
    try:
        return [name.strip() for name in next(csv.reader([text]))]
    except csv.Error:
        return None


def last_row(ids: Iterable[str | None]) -> RowId | None:
    """Return the newest row that became a reading, from the ids of readings."""
    found = [_ID.fullmatch(id_) for id_ in ids if id_ is not None]
    rows = [RowId(int(match[1] or 0), int(match[2])) for match in found if match is not None]
    return max(rows, default=None)
