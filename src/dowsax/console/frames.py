"""A frame: all that is to be seen of a mission after one reading, in plain numbers."""

import math
from typing import Any

import numpy as np

from dowsax.console.draws import Draws
from dowsax.geo.local import LocalCoordinates
from dowsax.inference import Belief
from dowsax.mission.advice import Advice
from dowsax.mission.log import Step
from dowsax.report.regions import credible_regions

NUM_DRAWS = 400
_PROBABILITIES = {"50": 0.5, "95": 0.95}
_OF_READING = ("position", "value", "wind", "time", "sensor", "id")
_DECIMALS = 4
"""Of metres: a tenth of a millimetre."""


def frame_of(step: "Step", frame: "LocalCoordinates | None") -> dict[str, Any]:
    """The frame of a step of a mission; `frame` says where the site is on the globe, where that is asked for.

    The reading is that of the step: `None` for one that is withdrawn, and `corrects` says which.
    """
    advice, reading, measures = Advice.from_json(step.advice), step.reading, step.measures
    body = {
        "number": step.number,
        "time": step.received,
        "reading": None if reading is None else {name: reading[name] for name in _OF_READING},
        "corrects": step.corrects,
        "reason": step.reason,
        "status": advice.status,
        "why": advice.why,
        "next": None if advice.next_position is None else list(advice.next_position),
        "bearing": advice.bearing,
        "distance": advice.distance,
        "estimate": {
            "names": list(advice.estimate.names),
            "units": list(advice.estimate.units),
            "mean": list(map(finite, advice.estimate.mean)),
            "low": list(map(finite, advice.estimate.low)),
            "high": list(map(finite, advice.estimate.high)),
        },
        "radius": finite(advice.region.radius),
        "evidence": None if advice.evidence is None else finite(advice.evidence),
        **{name: measures.get(name) for name in ("spread", "mass", "ess", "fit", "path_length")},
    }
    return body if frame is None else body | _degrees(body, frame)


def _degrees(body: dict[str, Any], frame: "LocalCoordinates") -> dict[str, Any]:
    """The places once more as latitude and longitude, where the site is on the globe."""
    if not frame.is_geographic:
        return {}
    places = {
        "reading": None if body["reading"] is None else body["reading"]["position"],
        "estimate": body["estimate"]["mean"][:2],
        "next": body["next"],
    }
    known = {name: place for name, place in places.items() if place is not None and None not in place}
    degrees = frame.to_degrees(list(known.values())).tolist()
    return {"degrees": dict(zip(known, degrees, strict=True))}


def draws_of(belief: "Belief") -> Draws:
    """Draws of Θ, each standing for the same share of the weight: the same ones whenever they are asked for.

    Systematic resampling with the offset 1/2, so that the particles are told as evenly as can be.
    """
    log_weights = np.asarray(belief.log_weights, np.float64)
    weights = np.exp(log_weights - log_weights.max())
    running = np.cumsum(weights)
    shares = (np.arange(NUM_DRAWS) + 0.5) / NUM_DRAWS * running[-1]
    chosen = np.minimum(np.searchsorted(running, shares), len(weights) - 1)
    return Draws(np.asarray(belief.particles, np.float32)[chosen])


def with_places(frame: dict[str, Any], draws: Draws, area: list[list[float]]) -> dict[str, Any]:
    """The frame with the positions of the draws and the regions that they make [m]."""
    positions = draws.thetas[:, :2].astype(np.float64)
    return frame | {
        "particles": np.round(positions, _DECIMALS).tolist(),
        "regions": _regions(positions, area),
    }


def _regions(positions: np.ndarray, area: list[list[float]]) -> dict[str, list]:
    """By their probability in per cent: polygons, each a list of rings, the border first.

    A particle that was drawn several times is one with so many times the weight, as it is in the belief: so
    the regions are smoothed as those of reports are, which have the belief itself.
    """
    low, high = (np.asarray(corner, np.float64) for corner in area)
    places, weights = np.unique(positions, axis=0, return_counts=True)
    made = credible_regions(places, weights, tuple(_PROBABILITIES.values()), (low, high))
    return {
        name: [
            [ring.tolist() for ring in (patch.border, *patch.holes)] for patch in made[probability].patches
        ]
        for name, probability in _PROBABILITIES.items()
    }


def finite(number: Any) -> float | None:
    """The number as JSON can hold it: `None` stands for what is not finite."""
    value = float(number)
    return value if math.isfinite(value) else None
