"""Several sources in the answers of a mission: the estimate source by source, and the disc of each."""

from typing import Any

import jax
import numpy as np

from dowsax.inference import Belief
from dowsax.inference.sources import Published
from dowsax.mission.advice import Disc, Estimate
from dowsax.mission.tracker import REGION_PROBABILITY, Digest, Tracker
from dowsax.world import Prior, source_columns


def estimate_of(prior: Prior, digest: Digest) -> Estimate:
    """Return mean and interval of each parameter; of several sources, the strongest first."""
    parameters, columns = prior.parameters, source_columns(prior)
    rows = [np.asarray(row, np.float64) for row in (digest.mean, digest.low, digest.high)]
    if columns is not None:
        order = Published.of(parameters, columns, int(digest.number), rows[0])
        parameters, rows = order.parameters, [row[order.columns] for row in rows]
    names, units = (tuple(getattr(item, part) for item in parameters) for part in ("name", "unit"))
    return Estimate(names, units, *(tuple(map(float, row)) for row in rows))


def theta_of(prior: Prior, estimate: Estimate) -> np.ndarray:
    """Return the Θ of the filter whose numbers are the means of an estimate; inverts `estimate_of`."""
    columns = source_columns(prior)
    if columns is None:
        return np.asarray(estimate.mean)
    names = [parameter.name for parameter in prior.parameters]
    theta = np.array(prior.sample(jax.random.key(0)), np.float64)
    for name, mean in zip(estimate.names, estimate.mean, strict=True):
        theta[names.index(name if name in names else f"{name}1")] = mean
    if columns.number_column is not None:
        places = [name for name in estimate.names if name == "x" or (name[0] == "x" and name[1:].isdecimal())]
        theta[columns.number_column] = len(places)
    return theta


def number_chances(prior: Prior, digest: Digest) -> dict[str, Any]:
    """Return the probabilities of the number of sources in an advice; nothing where it is known."""
    columns = source_columns(prior)
    if columns is None or columns.number_column is None:
        return {}
    return {name: float(getattr(digest, name)) for name in ("number_probability", "more_probability")}


def source_discs(tracker: Tracker, belief: Belief, digest: Digest) -> tuple[Disc, ...]:
    """Return the disc of each of several sources that holds it with 95 %, if there are as many.

    In the order of the estimate; nothing for one source.
    """
    prior = tracker.model.prior
    columns = source_columns(prior)
    if columns is None or digest.number == 1:
        return ()
    belief = tracker.widen(belief, float(digest.redundancy))
    particles, weights = np.asarray(belief.particles, np.float64), np.exp(np.asarray(belief.log_weights))
    if columns.number_column is not None:
        weights = weights * (particles[:, columns.number_column] == int(digest.number))
    order = Published.of(prior.parameters, columns, int(digest.number), np.asarray(digest.mean))
    discs = []
    for own in order.sources:
        places = particles[:, order.columns[list(own[:2])]]
        centre = np.average(places, axis=0, weights=weights)
        distances = np.linalg.norm(places - centre, axis=1)
        ranked = np.argsort(distances)
        running = np.cumsum(weights[ranked])
        at = min(int(np.searchsorted(running, REGION_PROBABILITY * running[-1])), len(ranked) - 1)
        x, y = centre
        discs.append(Disc((float(x), float(y)), float(distances[ranked[at]])))
    return tuple(discs)
