"""The two ways to write a wind: velocity (where the air goes), and speed with the direction it comes FROM."""

import numpy as np


def wind_from(speed, direction) -> np.ndarray:
    r"""Return (u, v) [m/s], where the air goes, from a speed and the direction it comes FROM.

    $$(u, v) = -s\,(\sin d, \cos d)$$

    with d in degrees clockwise from north: 3 m/s from 270° (a west wind) is (3, 0). One wind, or k of them.
    """
    angle = np.radians(np.float64(direction))
    return -np.asarray(speed, np.float64)[..., None] * np.stack([np.sin(angle), np.cos(angle)], axis=-1)


def speed_and_direction(wind) -> tuple[np.ndarray, np.ndarray]:
    """Return speed [m/s] and direction FROM in [0, 360) degrees, 0 in calm air: inverse of `wind_from`."""
    wind = np.asarray(wind, np.float64)
    direction = np.degrees(np.arctan2(-wind[..., 0], -wind[..., 1])) % 360
    speed = np.asarray(np.hypot(wind[..., 0], wind[..., 1]))
    return speed, np.where((speed == 0) | (direction == 360), 0.0, direction)


def interpolate_wind(wind: np.ndarray, known: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the winds (k, 2) with unknown ones interpolated in time, and held constant at either end."""
    return np.stack([np.interp(time, time[known], wind[known, axis]) for axis in (0, 1)], axis=-1)
