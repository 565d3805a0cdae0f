"""Searches made by hand or from a model whose posterior is known, without any filter."""

import numpy as np

from dowsax.evaluate.trace import Episode, Row


def search(spread, error, *, mass=None, theta=(1.0, 2.0), seconds=1.0, max_readings=200) -> Episode:
    """A search of unit steps with this spread and error at its readings."""
    number = len(spread)
    column = lambda values: np.asarray(values, np.float32)  # noqa: E731
    nothing, places = np.zeros(number, np.float32), np.zeros((number, 2), np.float32)
    mass = nothing if mass is None else column(mass)
    path_length = np.arange(number, dtype=np.float32)
    rows = Row(
        places, nothing, path_length, places, column(error), column(spread), mass, nothing, nothing, nothing
    )
    return Episode(column(theta), column(theta), rows, seconds, max_readings)


def gaussian_searches(num_searches: int, num_readings: int, *, seed: int, confidence: float = 1.0):
    r"""Searches whose readings are the source plus Gaussian noise, so that the belief is Gaussian and known.

    Source $\sim N(0, 4^2 I)$ m, noise of a known standard deviation between 1 and 3 m that differs between
    searches. $P(|s - \mu| \le 1) = 1 - e^{-1/2\sigma^2}$. A belief more confident than 1 claims a σ that is
    too small by this factor.
    """
    generator = np.random.default_rng(seed)
    noise = generator.uniform(1.0, 3.0, num_searches)[:, None]
    sources = generator.normal(scale=4.0, size=(num_searches, 1, 2))
    readings = sources + noise[:, :, None] * generator.normal(size=(num_searches, num_readings, 2))
    numbers = np.arange(1, num_readings + 1)
    variance = 1 / (1 / 16 + numbers / noise**2)
    means = np.cumsum(readings, axis=1) * (variance / noise**2)[:, :, None]
    errors = np.linalg.norm(means - sources, axis=2)
    claimed = variance / confidence**2
    masses = -np.expm1(-0.5 / claimed)
    return [
        search(spread, error, mass=mass, theta=source[0], max_readings=num_readings)
        for spread, error, mass, source in zip(np.sqrt(claimed), errors, masses, sources, strict=True)
    ]
