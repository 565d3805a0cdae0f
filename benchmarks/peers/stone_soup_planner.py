"""One decision of Stone Soup's planner: its own gas sensor, on a platform that moves on a grid.

Its reward is the divergence of belief and updated belief, the other way round than in Infotaxis, summed over
imagined readings. Besides the four moves it judges standing still.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
from stonesoup.movable.grid import NStepDirectionalGridMovable
from stonesoup.platform.base import Platform
from stonesoup.sensor.gas import GasIntensitySensor
from stonesoup.sensormanager import BruteForceSensorManager
from stonesoup.sensormanager.reward import ExpectedKLDivergence, MultiUpdateExpectedKLDivergence
from stonesoup.types.array import StateVectors
from stonesoup.types.state import ParticleState, State
from stonesoup.types.track import Track
from stonesoup.updater.particle import ParticleUpdater

START = datetime(2000, 1, 1)
AREA = np.array([[0.0, 25.0], [0.0, 25.0]])
NUM_CANDIDATES = 5


def as_state(particles: np.ndarray) -> ParticleState:
    """Θ, (n, 7), as the package has it: wind counted against the air in polar form, lifetime for length."""
    east, north, strength, wind_x, wind_y, diffusivity, length = particles.T
    speed = np.hypot(wind_x, wind_y)
    # λ² = ατ / (1 + |u|²τ/4α), solved for the lifetime τ.
    lifetime = length**2 / np.maximum(diffusivity - (length * speed) ** 2 / (4 * diffusivity), 1e-9)
    direction = np.arctan2(-wind_y, -wind_x)
    columns = [east, north, np.zeros_like(east), strength, speed, direction, diffusivity, lifetime]
    log_weight = np.full(len(particles), -np.log(len(particles)))
    return ParticleState(StateVectors(np.stack(columns)), log_weight=log_weight, timestamp=START)


def gas_sensor() -> GasIntensitySensor:
    """The benchmark's gas sensor in the package's own terms."""
    return GasIntensitySensor(
        min_noise=0.001,
        standard_deviation_percentage=0.2,
        missed_detection_probability=0.1,
        sensing_threshold=0.005,
    )


def planner(particles: np.ndarray, position: np.ndarray, num_readings: int) -> Callable[[], object]:
    """A call that makes one decision. A single reading is that of the mean, without noise; more are drawn."""
    updater = ParticleUpdater(measurement_model=None, resampler=None)
    if num_readings == 1:
        reward = ExpectedKLDivergence(updater=updater)
    else:
        reward = MultiUpdateExpectedKLDivergence(updater=updater, updates_per_track=num_readings)
    here = State(np.append(position, 0.0)[:, None], timestamp=START)
    movable = NStepDirectionalGridMovable(
        states=here, position_mapping=(0, 1, 2), action_mapping=(0, 1), action_space=AREA
    )
    manager = BruteForceSensorManager(
        platforms={Platform(movement_controller=movable, sensors=[gas_sensor()])},
        reward_function=reward,
        take_sensors_from_platforms=False,
    )
    track = Track([as_state(particles)])
    return lambda: manager.choose_actions({track}, START + timedelta(seconds=1))
