"""Messages about readings that a sensor can never give."""

import numpy as np


def first_fault(readings: np.ndarray, impossible: np.ndarray, reason: str) -> str | None:
    """Return one line about the first reading that is not finite or is impossible, or `None`."""
    finite = np.isfinite(readings)
    if not finite.all():
        at = int(np.argmin(finite))
        return f"{_name(readings, at)}: a reading is a finite number; leave out what is missing."
    if impossible.any():
        at = int(np.argmax(impossible))
        return f"{_name(readings, at)}: {reason}"
    return None


def _name(readings: np.ndarray, at: int) -> str:
    """Return the name of a reading by its index in the flattened array, with its survey in a batch."""
    *survey, number = (int(index) for index in np.unravel_index(at, readings.shape))
    which = f" of survey {survey[0]}" if survey else ""
    return f"Reading {number}{which} (counted from 0) is {readings.flat[at]:g}"
