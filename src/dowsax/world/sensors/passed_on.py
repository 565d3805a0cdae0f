"""What a sensor around another one passes on: what only some sensors know of themselves."""

import jax.numpy as jnp
import numpy as np

from dowsax.types import Scalar
from dowsax.world.base import Checked, Mixed, Sensor


def log_unit(sensor: Sensor, reading: Scalar) -> Scalar:
    """That of a mixed sensor; others have densities alone, in one unit."""
    return sensor.log_unit(reading) if isinstance(sensor, Mixed) else jnp.zeros_like(reading)


def fault(sensor: Sensor, readings: np.ndarray) -> str | None:
    """What a sensor that knows says of readings that it can never give."""
    return sensor.fault(readings) if isinstance(sensor, Checked) else None
