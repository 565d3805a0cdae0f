"""Random corruptions of a file, each with a map that says where every byte was before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

MADE_UP = -1
"""The origin of a byte that was not in the file before."""
_SIZES = (1, 7, 64, 512, 4096)
"""[bytes], of blocks; a block ends with its file."""


@dataclass(frozen=True)
class Content:
    """The bytes of a file, and the offset that each had in the intact file."""

    data: np.ndarray
    """(n,) uint8"""
    origin: np.ndarray
    """(n,) int64; `MADE_UP` for those that were not there."""

    @classmethod
    def intact(cls, data: bytes) -> "Content":
        return cls(np.frombuffer(data, np.uint8), np.arange(len(data)))

    @classmethod
    def made_up(cls, data: bytes) -> "Content":
        return cls(np.frombuffer(data, np.uint8), np.full(len(data), MADE_UP))

    def __len__(self) -> int:
        return len(self.data)

    def part(self, start: int, stop: int) -> "Content":
        return Content(self.data[start:stop], self.origin[start:stop])

    def survives(self, start: int, stop: int) -> bool:
        """Whether the bytes between two offsets of the intact file are still side by side."""
        wanted = np.arange(start, stop)
        return any(
            np.array_equal(self.origin[at : at + len(wanted)], wanted)
            for at in np.flatnonzero(self.origin == start)
        )


Corruption = Callable[[np.random.Generator, Content], Content]


def joined(parts: Sequence[Content]) -> Content:
    return Content(
        np.concatenate([part.data for part in parts]), np.concatenate([part.origin for part in parts])
    )


def flip_bits(rng: np.random.Generator, content: Content) -> Content:
    """One to eight bits."""
    data, origin = content.data.copy(), content.origin.copy()
    at = rng.integers(len(content), size=rng.integers(1, 9))
    for place in np.unique(at):
        data[place] ^= np.uint8(1 << rng.integers(8))
    origin[at] = MADE_UP
    return Content(data, origin)


def overwrite(rng: np.random.Generator, content: Content) -> Content:
    """A block of other bytes in the place of one."""
    start, stop = _block(rng, content)
    return joined([content.part(0, start), _random(rng, stop - start), content.part(stop, len(content))])


def zero(rng: np.random.Generator, content: Content) -> Content:
    """A block of zeros in the place of one, as file systems leave it after a loss of power."""
    start, stop = _block(rng, content)
    zeros = Content.made_up(bytes(stop - start))
    return joined([content.part(0, start), zeros, content.part(stop, len(content))])


def cut_out(rng: np.random.Generator, content: Content) -> Content:
    start, stop = (
        np.sort(rng.integers(len(content) + 1, size=2)) if rng.random() < 0.3 else _block(rng, content)
    )
    return joined([content.part(0, start), content.part(stop, len(content))])


def truncate(rng: np.random.Generator, content: Content) -> Content:
    return content.part(0, rng.integers(len(content)))


def swap(rng: np.random.Generator, content: Content) -> Content:
    """Two ranges, each in the place of the other."""
    a, b, c, d = np.sort(rng.integers(len(content) + 1, size=4))
    cuts = [content.part(0, a), content.part(c, d), content.part(b, c), content.part(a, b)]
    return joined([*cuts, content.part(d, len(content))])


def insert(rng: np.random.Generator, content: Content) -> Content:
    """A block of random bytes, of zeros, or of the file itself."""
    at, (start, stop) = rng.integers(len(content) + 1), _block(rng, content)
    blocks = (_random(rng, stop - start), Content.made_up(bytes(stop - start)), content.part(start, stop))
    return joined([content.part(0, at), blocks[rng.integers(3)], content.part(at, len(content))])


def duplicate_line(rng: np.random.Generator, content: Content) -> Content:
    """A line twice, the second time at the beginning of any line."""
    ends = [0, *(np.flatnonzero(content.data == ord("\n")) + 1), len(content)]
    number, at = rng.integers(len(ends) - 1), ends[rng.integers(len(ends))]
    line = content.part(ends[number], ends[number + 1])
    return joined([content.part(0, at), line, content.part(at, len(content))])


def empty(rng: np.random.Generator, content: Content) -> Content:
    del rng
    return content.part(0, 0)


def fill_with_garbage(rng: np.random.Generator, content: Content) -> Content:
    return _random(rng, int(rng.integers(1, 2 * len(content))))


def several(rng: np.random.Generator, content: Content) -> Content:
    """Two to four of the others."""
    for _ in range(rng.integers(2, 5)):
        if len(content):
            content = _SIMPLE[rng.integers(len(_SIMPLE))](rng, content)
    return content


_SIMPLE: tuple[Corruption, ...] = (
    flip_bits,
    overwrite,
    zero,
    cut_out,
    truncate,
    swap,
    insert,
    duplicate_line,
)
CORRUPTIONS: dict[str, Corruption] = {
    "bits flipped": flip_bits,
    "bytes overwritten": overwrite,
    "block zeroed": zero,
    "range cut out": cut_out,
    "truncated": truncate,
    "two ranges swapped": swap,
    "block inserted": insert,
    "line duplicated": duplicate_line,
    "emptied": empty,
    "random garbage": fill_with_garbage,
    "several at once": several,
}
"""By what is said of each."""


def _block(rng: np.random.Generator, content: Content) -> tuple[int, int]:
    start = int(rng.integers(len(content)))
    return start, min(len(content), start + int(rng.choice(_SIZES)))


def _random(rng: np.random.Generator, size: int) -> Content:
    return Content.made_up(rng.bytes(size))
