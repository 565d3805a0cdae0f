"""Claims of shards, so that several processes can work on one store without computing anything twice.

A claim is a lock on one byte of a file. The operating system releases it when the process ends, even if it is
killed.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from dowsax.experiments.store import Shard, Store

try:
    import fcntl
except ImportError:
    # Without it two processes may compute the same shard, which costs time and nothing else.
    fcntl = None


@contextmanager
def claim(store: Store, shards: Sequence[Shard]) -> Iterator[Shard | None]:
    """Claim the first of these shards that no other process has claimed; none if all are claimed.

    Runs in one folder share their compiled programs, so shards in a folder that no process is working in come
    first.
    """
    if fcntl is None:
        yield next(iter(shards), None)
        return
    path = claims_path(store)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        folders: dict[str, list[Shard]] = {}
        for shard in shards:
            folders.setdefault(shard.run.folder, []).append(shard)
        unclaimed = (members for folder, members in folders.items() if _lock(file, folder))
        first = next((found for members in unclaimed if (found := _first(file, members))), None)
        yield first or _first(file, shards)


def claims_path(store: Store):
    """The file whose bytes are locked."""
    return store.folder / "runs" / ".claims"


def byte_of(name: str) -> int:
    """The byte of the file of claims that is locked for a name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


def _first(file: IO[bytes], shards: Sequence[Shard]) -> Shard | None:
    return next((shard for shard in shards if _lock(file, shard.label)), None)


def _lock(file: IO[bytes], name: str) -> bool:
    """Lock the byte of a name; false if another process holds it. Closing the file releases it."""
    assert fcntl is not None
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte_of(name))
    except OSError:
        return False
    return True
