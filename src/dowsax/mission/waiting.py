"""Requests that wait: those of the same searcher that are already there when one is answered.

Several searchers may send faster than places are planned. Then all readings are assimilated, and a place is
planned after the last that waits of each searcher.
"""

import queue
import threading
from collections import defaultdict, deque
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
    """The requests of each searcher that wait. Thread-safe."""

    def __init__(self) -> None:
        self._requests: dict[str, deque[bytes | str]] = defaultdict(deque)
        self._lock = threading.Lock()

    def add(self, data: bytes | str) -> str | None:
        """Note a request that has arrived, and return its searcher."""
        name = searcher_of(data)
        if name is not None:
            with self._lock:
                self._requests[name].append(data)
        return name

    def take(self, name: str | None) -> tuple[bytes | str, ...]:
        """Remove the oldest request of a searcher, and return the later ones that wait."""
        if name is None:
            return ()
        with self._lock:
            requests = self._requests[name]
            requests.popleft()
            return tuple(requests)


def read_ahead(lines: Iterable[bytes | str]) -> Iterator[tuple[bytes | str, tuple[bytes | str, ...]]]:
    """Yield the lines, each with the later ones of its searcher that wait; another thread reads them."""
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
