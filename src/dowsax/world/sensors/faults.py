"""Readings that a sensor can never give, named one by one for the person who typed them."""

import numpy as np


def first_fault(readings: np.ndarray, impossible: np.ndarray, reason: str) -> str | None:
    """One line that names the first reading that is not finite or is impossible, or `None`."""
    finite = np.isfinite(readings)
    if not finite.all():
        at = int(np.argmin(finite))
        return f"{_named(readings, at)}: a reading is a finite number; leave out what is missing."
    if impossible.any():
        at = int(np.argmax(impossible))
        return f"{_named(readings, at)}: {reason}"
    return None


def _named(readings: np.ndarray, at: int) -> str:
    """The reading at a place of the flattened array, with its survey where there is a batch (from 0)."""
    *survey, number = (int(index) for index in np.unravel_index(at, readings.shape))
    which = f" of survey {survey[0]}" if survey else ""
    return f"Reading {number}{which} (counted from 0) is {readings.flat[at]:g}"
