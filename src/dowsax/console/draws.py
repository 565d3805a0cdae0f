"""Draws from a belief, and how they are packed into few bytes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Draws(NamedTuple):
    """Equally weighted draws of Θ from a belief."""

    thetas: np.ndarray
    """(k, d) float32"""

    def packed(self) -> bytes:
        """In half precision about their own mean: exact to a thousandth of their spread."""
        mean = self.thetas.mean(axis=0, dtype=np.float64)
        spread = np.maximum(self.thetas.std(axis=0, dtype=np.float64), 1e-30)
        head = np.concatenate([[len(self.thetas), len(mean)], mean, spread]).astype("<f8")
        return head.tobytes() + ((self.thetas - mean[None]) / spread[None]).astype("<f2").tobytes()

    @classmethod
    def at(cls, theta: Sequence[float]) -> "Draws":
        """One draw alone."""
        return cls(np.asarray([theta], np.float32))

    @classmethod
    def unpacked(cls, data: bytes) -> "Draws":
        """The inverse of `packed`, but for the rounding."""
        count, columns = (int(number) for number in np.frombuffer(data, "<f8", 2))
        mean, spread = np.frombuffer(data, "<f8", 2 * columns, 16).reshape(2, columns)
        scaled = np.frombuffer(data, "<f2", count * columns, 16 + 16 * columns).reshape(count, columns)
        return cls((mean[None] + spread[None] * scaled).astype(np.float32))
