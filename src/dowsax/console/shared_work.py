"""Work that several clients ask for at once is done once, and what never changes is kept for a while."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future

_MAX_KEPT = 64


class SharedWork:
    """Work under way, and results that are kept, by mission and name. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._futures: OrderedDict[tuple[str, str], Future] = OrderedDict()

    def get(self, mission: str, name: str, start: Callable[[], Future], is_kept: bool = False) -> Future:
        """Return the work of this name, started unless it is under way; a result that `is_kept` stays."""
        key = mission, name
        with self._lock:
            known = self._futures.get(key)
            if known is not None:
                self._futures.move_to_end(key)
                return known
            future = self._futures[key] = start()
            while len(self._futures) > _MAX_KEPT:
                self._futures.popitem(last=False)

        def end(ended: Future) -> None:
            is_found = not ended.cancelled() and ended.exception() is None and ended.result() is not None
            if not (is_kept and is_found):
                self._drop(key, ended)

        # Not under the lock: it is called at once where the work has ended.
        future.add_done_callback(end)
        return future

    def forget(self, mission: str) -> None:
        """Drop what is kept of a mission."""
        with self._lock:
            for key in [key for key in self._futures if key[0] == mission]:
                del self._futures[key]

    def _drop(self, key: tuple[str, str], future: Future) -> None:
        with self._lock:
            if self._futures.get(key) is future:
                del self._futures[key]
