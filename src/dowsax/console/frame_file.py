"""The frames of a mission on the disk: a cache, of which what is lost is made again from the log."""

import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dowsax.console.draws import Draws
from dowsax.journal import Damaged, Entry, Journal, read, salvage
from dowsax.mission.advice import read_status

FRAME = "frame"


class FrameFile:
    """Frames of a mission by their number, each with its draws. Any thread may use it."""

    def __init__(self, path: Path, mission: str) -> None:
        self._path = path
        self._mission = mission
        self._lock = threading.Lock()
        self._journal: Journal | None = None
        self._offsets: dict[int, int] | None = None

    def numbers(self) -> set[int]:
        with self._lock:
            return set(self._index())

    def add(self, frame: dict[str, Any], draws: Draws) -> None:
        """Keep a frame. One that the disk does not take is not kept: it can be made again."""
        body = {"mission": self._mission, "frame": frame, "draws": b64encode(draws.packed()).decode()}
        with self._lock:
            try:
                entry = self._writer().append(FRAME, body, durable=False)
            except OSError:
                return
            self._index()[frame["number"]] = entry.offset

    def get(self, number: int) -> tuple[dict[str, Any], Draws] | None:
        """The frame of this number; `None` where it is not kept."""
        with self._lock:
            offset = self._index().get(number)
            body = None if offset is None else self._body(offset)
        return None if body is None else (body["frame"], Draws.unpacked(b64decode(body["draws"])))

    def between(self, first: int, last: int) -> list[dict[str, Any]]:
        """The frames from one number to another, without draws."""
        with self._lock:
            index = self._index()
            bodies = [self._body(index[number]) for number in range(first, last + 1) if number in index]
        return [body["frame"] for body in bodies if body is not None]

    def close(self) -> None:
        """Let the file go; it is opened again when something is added."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
            self._journal = None

    def _body(self, offset: int) -> dict[str, Any] | None:
        try:
            body = next(read(self._path, offset)).body
        except (Damaged, OSError, StopIteration):
            return None
        frame = body["frame"]
        return body | {"frame": frame | {"status": read_status(frame["status"])}}

    def _index(self) -> dict[int, int]:
        """Where each frame begins in the file."""
        if self._offsets is None:
            self._offsets = {body["frame"]["number"]: offset for offset, body in self._kept()}
        return self._offsets

    def _kept(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The frames of this mission, each with the offset at which it begins in the file."""
        for entry in self._entries() if self._path.is_file() else ():
            body = entry.body
            if entry.kind == FRAME and body.get("mission") == self._mission:
                yield entry.offset, body

    def _entries(self) -> list[Entry]:
        try:
            return list(read(self._path))
        except Damaged:
            return list(salvage(self._path))

    def _writer(self) -> Journal:
        if self._journal is None:
            try:
                self._journal = Journal.open(self._path, may_create=True)
            except Damaged:
                self._mend()
        assert self._journal is not None
        return self._journal

    def _mend(self) -> None:
        """Begin a new file of the frames that are intact; those that the disk does not take are lost."""
        bodies = [body for _, body in self._kept()]
        self._path.unlink()
        self._offsets = {}
        self._journal = Journal.open(self._path, may_create=True)
        for body in bodies:
            entry = self._journal.append(FRAME, body, durable=False)
            self._offsets[body["frame"]["number"]] = entry.offset
