"""Frames with particles and regions: made when they are asked for, and kept a while."""

import threading
from collections import OrderedDict
from typing import Any

from dowsax.console.frames import with_places
from dowsax.console.store import Store

_KEPT = 128


class Places:
    """The newest frames that were asked for, whole. Any thread may ask."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[str, int], dict[str, Any]] = OrderedDict()

    def forget(self, mission: str) -> None:
        """Keep no frame of a mission."""
        with self._lock:
            for key in [key for key in self._made if key[0] == mission]:
                del self._made[key]

    def frame(self, mission: str, number: int, area: list[list[float]]) -> dict[str, Any] | None:
        """The whole frame of a reading; `None` where there is none."""
        key = mission, number
        # Under the lock, so that what two ask for at once is made once.
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
            kept = self._store.frames(mission).get(number)
            if kept is None:
                return None
            self._made[key] = whole = with_places(*kept, area)
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
            return whole
