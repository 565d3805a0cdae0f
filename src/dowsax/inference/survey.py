"""A survey as it comes from a user: checked before anything is computed, with errors that say what to do."""

import numpy as np

from dowsax.world import Checked, Sensor


def checked_survey(positions, readings, sensor: Sensor) -> tuple[np.ndarray, np.ndarray]:
    """Positions (k, 2) or (b, k, 2) and readings (k,) or (b, k) as float32, or a ValueError in one line."""
    positions, readings = _numbers("positions", positions), _numbers("readings", readings)
    if positions.ndim not in (2, 3) or positions.shape[-1] != 2:
        raise ValueError(
            f"Positions have the shape (k, 2), or (b, k, 2) for a batch of surveys; got {positions.shape}."
        )
    if readings.shape != positions.shape[:-1]:
        raise ValueError(
            f"There must be one reading for each position: expected the shape {positions.shape[:-1]} "
            f"for the readings, got {readings.shape}."
        )
    if readings.size == 0:
        raise ValueError("The survey is empty: give at least one position with its reading.")
    _require_finite("position", np.asarray(np.isfinite(positions).all(axis=-1)), positions)
    _require_finite("reading", np.isfinite(readings), readings)
    fault = sensor.fault(readings) if isinstance(sensor, Checked) else None
    if fault is not None:
        raise ValueError(fault)
    return positions.astype(np.float32), readings.astype(np.float32)


def _numbers(name: str, values) -> np.ndarray:
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise ValueError(f"Some {name} are masked: leave those readings out before locating.")
    try:
        if np.iscomplexobj(values):
            raise TypeError
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"The {name} must be an array of numbers, every row of the same length.") from None


def _require_finite(what: str, finite: np.ndarray, values: np.ndarray) -> None:
    finite = finite & (np.abs(values).reshape(*finite.shape, -1).max(axis=-1) < 1e30)
    if finite.all():
        return
    at = tuple(int(index) for index in np.argwhere(~finite)[0])
    where = f"survey {at[0]}, {what} {at[1]}" if len(at) == 2 else f"{what} {at[0]}"
    raise ValueError(
        f"Not a usable number: {where} (counted from 0) is {values[at]}. Remove it or measure again."
    )
