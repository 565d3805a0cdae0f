"""Findings made by hand: a lawn-mower survey east of a source, with everything a site may have."""

import numpy as np

from dowsax.geo.local import LocalCoordinates
from dowsax.inference.posterior import Posterior, Trace
from dowsax.report.findings import Findings, regions_of
from dowsax.world import Parameter

PARAMETERS = (
    Parameter("x", "m", "source position, east"),
    Parameter("y", "m", "source position, north"),
    Parameter("q", "g/s", "release rate"),
    Parameter("b", "ppm", "background"),
)
CENTRE, SPREAD = np.array([61.0, 42.0, 0.8, 1.9]), np.array([3.0, 5.0, 0.2, 0.02])
ORIGIN = (51.2, -1.75)
FENCE = np.array([[0.0, 0.0], [150.0, -5.0], [160.0, 105.0], [5.0, 100.0]])
WOOD = np.array([[100.0, 10.0], [100.0, 30.0], [125.0, 35.0], [120.0, 8.0]])
AREA = (np.array([0.0, 0.0]), np.array([160.0, 100.0]))


def made_posterior(samples, weights=None, num_readings=60, fit=0.4):
    """A posterior of these draws, with a survey in rows and a trace that contracts."""
    fall = np.linspace(40, 3, num_readings)
    dimensions = samples.shape[1]
    positions = made_track(num_readings)
    trace = Trace(
        mean=np.zeros((num_readings, dimensions)), std=np.repeat(fall[:, None], dimensions, axis=1),
        credible_radius=2.4 * fall, ess=fall, stages=fall, acceptance_rate=fall, evaluations=fall,
    )  # fmt: skip
    weights = np.full(len(samples), 1 / len(samples)) if weights is None else weights
    values = 1.9 + 8 * np.exp(-np.sum(((positions - [75, 42]) / [30, 14]) ** 2, axis=1))
    return Posterior(
        PARAMETERS[:dimensions], samples, weights, positions, values, np.array(-30.0), np.array(fit), trace
    )


def made_track(num_readings):
    """(k, 2) [m], back and forth."""
    rows = np.arange(num_readings) // 12
    columns = np.arange(num_readings) % 12
    columns = np.where(rows % 2 == 0, columns, 11 - columns)
    return np.stack([12 + 11.0 * columns, 10 + 18.0 * rows], axis=1)


def made_findings(seed=0, samples=None, **changes):
    """The findings of a narrow belief, unless other draws are given."""
    random = np.random.default_rng(seed)
    if samples is None:
        samples = CENTRE + SPREAD * random.normal(size=(1500, 4))
    posterior = made_posterior(samples)
    number = len(posterior.readings)
    bearing = np.radians(260 + 12 * random.normal(size=number))
    parts = {
        "name": "Made survey & more",
        "posterior": posterior,
        "regions": regions_of(posterior, AREA),
        "positions": posterior.places,
        "values": posterior.readings,
        "unit": "ppm",
        "kind": "gas-plume",
        "coordinates": LocalCoordinates(ORIGIN),
        "area": AREA,
        "geofence": (FENCE,),
        "no_go": (WOOD,),
        "lines": np.arange(number) + 2,
        "time": 5.0 * np.arange(number),
        "altitude": np.full(number, 12.0),
        "wind": -3.2 * np.stack([np.sin(bearing), np.cos(bearing)], axis=1),
        "evidence": 8.2,
        "prior_interval": (np.array([5.0, 5.0, 0.0, 1.89]), np.array([155.0, 95.0, 10.0, 1.92])),
        "waypoints": np.array([[70.0, 60.0], [60.0, 50.0]]),
        "settings": {"preset": "default", "particles": 1500, "wind": "measured"},
    }
    return Findings(**(parts | changes))
