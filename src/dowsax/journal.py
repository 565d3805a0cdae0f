"""A journal: an append-only file of entries, intact after any crash and readable after any damage.

An entry is one line of ASCII: checksum, length, number, kind, and a JSON object of that length, never an
empty one. So no text inside of an entry can pass for another entry: its quotes are escaped.

    dowsax journal 1
    7d865e959b2466918c9863afca942d0f 16 0 note {"text":"hello"}

The checksum covers all that follows it. An entry is on the disk before `append` returns, unless it is not
`durable`. A killed program leaves at most an unfinished last line, which was never acknowledged: it is
ignored, and overwritten by the next writer. Any other line that does not match its checksum is damage: `read`
stops there with `Damaged`, `salvage` finds every intact entry.
"""

import errno
import fcntl
import json
import mmap
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

MAX_ENTRY_BYTES = 4 * 1024 * 1024
MAGIC = b"dowsax journal 1\n"
"""The first line of the file."""
LOCK_FILE = ".held"
"""The file that a console locks in its folder of journals."""
_CHECKSUM_BYTES = 16
_DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_HEAD = re.compile(rb"([0-9a-f]{32}) ([1-9][0-9]{0,7}) ([0-9]{1,9}) ([a-z]{1,16}) (?=\{\")")
_UNFINISHED_HEAD = re.compile(rb"[0-9a-f]{0,32}|[0-9a-f]{32} [0-9]{0,8}( [0-9]{0,9}( [a-z]{0,16}( \{?)?)?)?")


class Damaged(ValueError):
    """A journal with bytes that no writer wrote; the message says where and what to do."""


class InUse(ValueError):
    """Another program is writing to the journal."""


class NotRecorded(OSError):
    """The entry was not written, not even in part; it may be retried."""


@dataclass(frozen=True)
class Entry:
    """One entry as it was read."""

    number: int
    """Counted from 0, without gaps."""
    kind: str
    text: bytes
    """The JSON object."""
    offset: int
    """Where its line begins in the file."""

    @property
    def end(self) -> int:
        """Where its line ends in the file."""
        head = b"%d %d %s " % (len(self.text), self.number, self.kind.encode())
        return self.offset + 2 * _CHECKSUM_BYTES + 1 + len(head) + len(self.text) + 1

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.text)


def encode(number: int, kind: str, body: dict[str, Any]) -> bytes:
    """Return the line of an entry. Any text is encoded, also one that is not valid Unicode."""
    if not body:
        raise ValueError("An entry must not be empty: give it a body.")
    text = json.dumps(body, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > MAX_ENTRY_BYTES:
        raise ValueError(f"An entry must have at most {MAX_ENTRY_BYTES:,} bytes; got {len(text):,}.")
    rest = b"%d %d %s %s" % (len(text), number, kind.encode("ascii"), text)
    return _checksum(rest) + b" " + rest + b"\n"


def read(path: Path, start: int | None = None) -> Iterator[Entry]:
    """Yield the entries in order, from the one that begins at this offset (default: the first).

    An unfinished last line is ignored. `Damaged` where any other line is no entry.
    """
    number = -1 if start is None else None
    with path.open("rb") as file:
        file.seek(start or 0)
        if start is None and (first := file.readline(len(MAGIC))) != MAGIC:
            if MAGIC.startswith(first):
                return
            raise Damaged(f"{path} is damaged at byte 0.")
        while line := file.readline(MAX_ENTRY_BYTES + 128):
            offset = file.tell() - len(line)
            entry = _entry(line, offset)
            if entry is None and not file.read(1) and _is_unfinished(line):
                return
            if entry is None or (number is not None and entry.number != number + 1):
                raise Damaged(f"{path} is damaged at byte {offset:,}.")
            number = entry.number
            yield entry


def salvage(path: Path) -> Iterator[Entry]:
    """Yield every intact entry of a file, each number once, and skip any damage between."""
    if path.stat().st_size == 0:
        return
    seen: set[int] = set()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        position = 0
        while head := _HEAD.search(data, position):
            end = head.end() + int(head[2])
            # The cheap questions first: what only looks like an entry must not cost more than that.
            is_candidate = int(head[2]) <= MAX_ENTRY_BYTES and data[end - 1 : end] == b"}"
            entry = _entry(data[head.start() : end], head.start()) if is_candidate else None
            if entry is None:
                position = head.start() + 1
                continue
            position = end
            if entry.number not in seen:
                seen.add(entry.number)
                yield entry


class Journal:
    """An open journal to append to. One program at a time; any of its threads."""

    def __init__(self, path: Path, descriptor: int, size: int, count: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._size = size
        """Bytes of the first line and all entries; 0 before the first entry. What lies beyond is no entry."""
        self._count = count
        self._lock = threading.Lock()

    @classmethod
    def create(cls, path: Path, kind: str, body: dict[str, Any]) -> "Journal":
        """Begin a journal with one entry; a file that holds no more than an unfinished line is taken over."""
        journal = cls.open(path, may_create=True)
        try:
            if journal._count:
                raise FileExistsError(f"{path} holds entries already.")
            journal.append(kind, body)
            sync_folder(path)
        except BaseException:
            journal.close()
            raise
        return journal

    @classmethod
    def open(cls, path: Path, may_create: bool = False) -> "Journal":
        """Open a journal to append to; `InUse` where another program does, `Damaged` where it is."""
        descriptor = _open_locked(path, os.O_RDWR | (os.O_CREAT if may_create else 0))
        try:
            size, count = 0, 0
            for entry in read(path):
                size, count = entry.end, entry.number + 1
            if count and os.fstat(descriptor).st_size < size:
                # The end of the last line was lost, and nothing else.
                os.pwrite(descriptor, b"\n", size - 1)
            return cls(path, descriptor, size, count)
        except BaseException:
            os.close(descriptor)
            raise

    def __len__(self) -> int:
        return self._count

    def append(self, kind: str, body: dict[str, Any], durable: bool = True) -> Entry:
        """Append an entry, on the disk when this returns where it is `durable`; else `NotRecorded`."""
        with self._lock:
            line, first = encode(self._count, kind, body), b"" if self._size else MAGIC
            offset = self._size + len(first)
            try:
                self._write(first + line)
                if durable:
                    os.fsync(self._descriptor)
            except OSError as error:
                self._take_back()
                full = error.errno in _DISK_FULL_ERRORS
                why = "the disk is full" if full else f"the disk does not take it ({error.strerror})"
                raise NotRecorded(f"Not recorded in {self.path}: {why}. Make room and try again.") from None
            self._size, self._count = offset + len(line), self._count + 1
        entry = _entry(line, offset)
        assert entry is not None
        return entry

    def entry_at(self, offset: int) -> Entry:
        """Return the entry whose line begins at this offset."""
        return next(read(self.path, offset))

    def close(self) -> None:
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, data: bytes) -> None:
        """Write after the last entry, over the remains of an unfinished one."""
        os.ftruncate(self._descriptor, self._size)
        written = 0
        while written < len(data):
            written += os.pwrite(self._descriptor, data[written:], self._size + written)

    def _take_back(self) -> None:
        """Remove a line that could not be written; if this fails the next writer does it."""
        try:
            os.ftruncate(self._descriptor, self._size)
        except OSError:
            return


@contextmanager
def lock_journal(path: Path) -> Iterator[None]:
    """Keep other programs from writing to a journal while the block runs; `InUse` if one already does."""
    descriptor = _open_locked(path, os.O_RDONLY)
    try:
        yield
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Flush the name of a new file to the disk, not only its content."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _open_locked(path: Path, flags: int) -> int:
    """Return the descriptor of a file, locked until it is closed; `InUse` if another program has the lock."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InUse(f"{path} is in use by another program: end that one first.") from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECKSUM_BYTES).hexdigest().encode()


def _entry(line: bytes, offset: int) -> Entry | None:
    """Return the entry in a line, with or without its end; `None` if it does not match its checksum."""
    head = _HEAD.match(line)
    if head is None:
        return None
    text = line[head.end() :].removesuffix(b"\n")
    if len(text) != int(head[2]) or _checksum(line[33 : head.end()] + text) != head[1]:
        return None
    return Entry(int(head[3]), head[4].decode(), text, offset)


def _is_unfinished(line: bytes) -> bool:
    """Whether this is the beginning of an entry whose rest was never written."""
    if line.endswith(b"\n") or _HEAD.search(line, 1) is not None:
        # With another entry in it, the line is what was left when bytes between two were lost.
        return False
    head = _HEAD.match(line)
    if head is not None:
        return len(line) - head.end() < int(head[2])
    return _UNFINISHED_HEAD.fullmatch(line) is not None
