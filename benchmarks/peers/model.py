r"""The pinned model in plain numpy, float64, written without any of dowsax's code: an oracle.

Θ = (x, y, q, ux, uy, α, λ), particles (n, 7). All logarithms are natural.
"""

import numpy as np
from scipy.special import gammaln, ndtr

FIELDS = ("temperature", "concentration", "magnetic", "electric", "gas", "energy", "noise")

STAND_OFF = 0.1
POSITION_RANGE = (5.0, 20.0)
STRENGTH_RANGE = (10.0, 3000.0)
MAX_SPEED = 6.0
DIFFUSIVITY_RANGE = (1.0, 5.0)
MAX_DECAY_LENGTH = 8.0
GAS_THRESHOLD = 0.005
GAS_DETECTION = 0.9

# P(λ·s ≤ 2α) = E[(α/24)(1 + log(24/α))], α ~ U(1, 5), in closed form: about 0.375.
SUPPORT_SHARE = (12 * (1 + np.log(24)) - (12.5 * np.log(5) - 6)) / 96


def log_field(particles: np.ndarray, position: np.ndarray) -> np.ndarray:
    r"""$\log \phi(p; \Theta) = \log\frac{q}{4\pi\alpha d} - d/\lambda + \Delta\cdot u/(2\alpha)$, (n,)."""
    east, north, strength, wind_x, wind_y, diffusivity, decay_length = particles.T
    offset_x, offset_y = position[0] - east, position[1] - north
    distance = np.sqrt(offset_x**2 + offset_y**2 + STAND_OFF**2)
    drift = (offset_x * wind_x + offset_y * wind_y) / (2 * diffusivity)
    return np.log(strength / (4 * np.pi * diffusivity * distance)) - distance / decay_length + drift


def normal_log_prob(value: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Log density of Normal(mean, standard deviation)."""
    return -0.5 * ((value - mean) / scale) ** 2 - np.log(scale) - 0.5 * np.log(2 * np.pi)


def gas_log_prob(reading: float, intensity: np.ndarray) -> np.ndarray:
    """A point mass at 0 (nothing above the threshold, or a miss) and a density above the threshold."""
    scale = 0.20 * intensity + 0.001
    if reading == 0:
        missed = (1 - GAS_DETECTION) + GAS_DETECTION * ndtr((GAS_THRESHOLD - intensity) / scale)
        return np.log(missed)
    if reading <= GAS_THRESHOLD:
        return np.full(intensity.shape, -np.inf)
    return np.log(GAS_DETECTION) + normal_log_prob(reading, intensity, scale)


def concentration_log_prob(reading: float, intensity: np.ndarray) -> np.ndarray:
    """Log-normal: the density of the reading itself, 1/z included."""
    if reading <= 0:
        return np.full(intensity.shape, -np.inf)
    log_reading = np.log(reading)
    return normal_log_prob(log_reading, np.log(intensity + 0.001), 0.25) - log_reading


def energy_log_prob(reading: float, intensity: np.ndarray) -> np.ndarray:
    """Poisson counts, dwell 1, background 1."""
    rate = intensity + 1.0
    return reading * np.log(rate) - rate - gammaln(reading + 1)


SENSORS = {
    "temperature": lambda reading, c: normal_log_prob(reading, c, 0.10 * c + 0.01),
    "concentration": concentration_log_prob,
    "magnetic": lambda reading, c: normal_log_prob(reading, c, 0.05 * c + 0.001),
    "electric": lambda reading, c: normal_log_prob(reading, c, 0.10 * c + 0.10),
    "gas": gas_log_prob,
    "energy": energy_log_prob,
    "noise": lambda reading, c: normal_log_prob(reading, 10 * np.log10(c + 0.001), 1.0),
}
"""log p(z | c) for each field: a reading and the intensities (n,) give (n,)."""


def log_likelihood(
    field: str, particles: np.ndarray, positions: np.ndarray, readings: np.ndarray
) -> np.ndarray:
    r"""$\sum_t \log p(z_t \mid \Theta_i)$, (n,). Outside the support it may be anything, NaN included."""
    total = np.zeros(len(particles))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for position, reading in zip(positions, readings, strict=True):
            total += SENSORS[field](float(reading), np.exp(log_field(particles, position)))
    return total


def in_support(particles: np.ndarray) -> np.ndarray:
    """Which particles the prior can give, the joint condition λ·s ≤ 2α included, (n,)."""
    position, strength, diffusivity, decay_length = (particles[:, c] for c in (slice(0, 2), 2, 5, 6))
    speed = np.hypot(particles[:, 3], particles[:, 4])
    return (
        np.all((position > POSITION_RANGE[0]) & (position < POSITION_RANGE[1]), axis=1)
        & (strength > STRENGTH_RANGE[0])
        & (strength < STRENGTH_RANGE[1])
        & (speed < MAX_SPEED)
        & (diffusivity > DIFFUSIVITY_RANGE[0])
        & (diffusivity < DIFFUSIVITY_RANGE[1])
        & (decay_length > 0)
        & (decay_length < MAX_DECAY_LENGTH)
        & (decay_length * speed <= 2 * diffusivity)
    )


def log_prior(particles: np.ndarray) -> np.ndarray:
    """Normalised log density of Θ with Cartesian wind (hence 1/s), −∞ outside the support, (n,)."""
    position_area = (POSITION_RANGE[1] - POSITION_RANGE[0]) ** 2
    volume = position_area * (STRENGTH_RANGE[1] - STRENGTH_RANGE[0]) * 2 * np.pi * MAX_SPEED
    volume *= (DIFFUSIVITY_RANGE[1] - DIFFUSIVITY_RANGE[0]) * MAX_DECAY_LENGTH * SUPPORT_SHARE
    with np.errstate(divide="ignore"):
        log_speed = np.log(np.hypot(particles[:, 3], particles[:, 4]))
    return np.where(in_support(particles), -np.log(volume) - log_speed, -np.inf)


def sample_prior(generator: np.random.Generator, num_particles: int) -> np.ndarray:
    """Exact draws, (n, 7): the joint condition by rejection, which keeps three draws in eight."""
    kept = np.empty((0, 7))
    while len(kept) < num_particles:
        count = 3 * (num_particles - len(kept)) + 16
        speed = generator.uniform(0, MAX_SPEED, count)
        direction = generator.uniform(0, 2 * np.pi, count)
        columns = (
            generator.uniform(*POSITION_RANGE, count),
            generator.uniform(*POSITION_RANGE, count),
            generator.uniform(*STRENGTH_RANGE, count),
            speed * np.cos(direction),
            speed * np.sin(direction),
            generator.uniform(*DIFFUSIVITY_RANGE, count),
            generator.uniform(0, MAX_DECAY_LENGTH, count),
        )
        drawn = np.stack(columns, axis=1)
        kept = np.concatenate([kept, drawn[in_support(drawn)]])
    return kept[:num_particles]


def to_coordinates(particles: np.ndarray) -> np.ndarray:
    """Θ → (x, y, log q, ux, uy, log α, log λ), in which random walks mix best."""
    coordinates = particles.copy()
    coordinates[:, [2, 5, 6]] = np.log(particles[:, [2, 5, 6]])
    return coordinates


def from_coordinates(coordinates: np.ndarray) -> np.ndarray:
    """The inverse of `to_coordinates`."""
    particles = coordinates.copy()
    # A proposal far outside the support must not overflow: e^50 is as impossible as anything beyond.
    particles[:, [2, 5, 6]] = np.exp(np.clip(coordinates[:, [2, 5, 6]], -50.0, 50.0))
    return particles


def log_prior_coordinates(coordinates: np.ndarray) -> np.ndarray:
    r"""The prior's density in the coordinates: $\log p(\Theta) + \log q + \log\alpha + \log\lambda$, (n,)."""
    return log_prior(from_coordinates(coordinates)) + coordinates[:, [2, 5, 6]].sum(axis=1)
