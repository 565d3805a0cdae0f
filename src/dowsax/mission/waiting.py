"""Requests that wait: whether a later reading of the same searcher is already there.

Several searchers may send faster than places are planned. Then all readings are assimilated, and a place is
planned after the last that waits of each searcher.
"""

import queue
import threading
from collections import Counter
from collections.abc import Iterable, Iterator

from dowsax.mission.stations import SEARCHER
from dowsax.survey.reading import Refused
from dowsax.survey.reading_json import parse_object

MAX_WAITING = 1000
"""Lines that are read ahead."""


def searcher_of(data: bytes | str) -> str | None:
    """Return the searcher of a request; `None` where it says none, or cannot be parsed."""
    text = data if isinstance(data, str) else data.decode("utf-8", errors="replace")
    try:
        found = parse_object(text).get(SEARCHER)
    except Refused:
        return None
    return None if found is None else str(found)


class Waiting:
    """How many requests of each searcher wait. Thread-safe."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, data: bytes | str) -> str | None:
        """Count a request that has arrived, and return its searcher."""
        name = searcher_of(data)
        if name is not None:
            with self._lock:
                self._counts[name] += 1
        return name

    def take(self, name: str | None) -> bool:
        """Count a request as taken, and return whether a later one of its searcher waits."""
        if name is None:
            return False
        with self._lock:
            self._counts[name] -= 1
            return self._counts[name] > 0


def read_ahead(lines: Iterable[bytes | str]) -> Iterator[tuple[bytes | str, bool]]:
    """Yield the lines, each with whether a later one of its searcher waits; another thread reads them."""
    arrived: queue.Queue = queue.Queue(MAX_WAITING)
    waiting = Waiting()

    def read() -> None:
        try:
            for line in lines:
                arrived.put((line, waiting.add(line)))
            arrived.put(None)
        except BaseException as error:
            arrived.put(error)

    threading.Thread(target=read, daemon=True).start()
    while (found := arrived.get()) is not None:
        if isinstance(found, BaseException):
            raise found
        line, name = found
        yield line, waiting.take(name)
