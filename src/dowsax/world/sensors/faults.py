"""Readings that a sensor can never give, named one by one for the person who typed them."""

import numpy as np


def first_fault(readings: np.ndarray, impossible: np.ndarray, reason: str) -> str | None:
    """One line that names the first reading that is not finite or is impossible, or `None`."""
    finite = np.isfinite(readings)
    if not finite.all():
        at = int(np.argmin(finite))
        return f"Reading {at + 1} is {readings[at]}: a reading is a finite number; leave out what is missing."
    if impossible.any():
        at = int(np.argmax(impossible))
        return f"Reading {at + 1} is {readings[at]:g}: {reason}"
    return None
