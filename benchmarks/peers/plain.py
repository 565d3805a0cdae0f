"""A plain bootstrap particle filter: reweight, resample when the weights collapse, never move a particle."""

import numpy as np

from benchmarks.peers import model
from benchmarks.peers.result import PeerResult, Stopwatch, normalise


def systematic(generator: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """Ancestor indices, (n,): one uniform, n equidistant points of the distribution function."""
    num_particles = len(weights)
    points = (np.arange(num_particles) + generator.uniform()) / num_particles
    return np.minimum(np.searchsorted(np.cumsum(weights), points), num_particles - 1)


def run(
    field: str,
    positions: np.ndarray,
    readings: np.ndarray,
    seed: int,
    *,
    num_particles: int = 20_000,
    ess_ratio: float = 0.5,
) -> PeerResult:
    """Resamples when ESS < `ess_ratio`·n."""
    generator = np.random.default_rng(seed)
    with Stopwatch() as stopwatch:
        particles = model.sample_prior(generator, num_particles)
        log_weights = np.zeros(num_particles)
        weights = normalise(log_weights)
        for position, reading in zip(positions, readings, strict=True):
            if 1 / np.sum(weights**2) < ess_ratio * num_particles:
                particles = particles[systematic(generator, weights)]
                log_weights = np.zeros(num_particles)
            log_weights = log_weights + model.log_likelihood(field, particles, position[None], [reading])
            weights = normalise(log_weights)
    return PeerResult(particles, weights, stopwatch.seconds)
