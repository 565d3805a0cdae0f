"""A frame: all that is to be seen of a mission after one reading, in plain numbers."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dowsax.console.records import now
from dowsax.console.store import Draws

if TYPE_CHECKING:
    from dowsax.inference import Belief
    from dowsax.mission.advice import Advice
    from dowsax.mission.advisor import Advisor
    from dowsax.mission.course import Course
    from dowsax.mission.frame import Frame

NUM_DRAWS = 400
_PROBABILITIES = {"50": 0.5, "95": 0.95}
_DECIMALS = 4
"""Of metres: a tenth of a millimetre."""


def frame_of(advisor: "Advisor", advice: "Advice", taken: str | None = None) -> dict[str, Any]:
    """The frame of an advice that was given by this advisor; `taken` says when, now unless given."""
    from dowsax.mission.verdicts import Spent

    course: Course = advisor.course
    number = advice.number
    digest, reading = course.digest(number), course.readings[number - 1]
    spent = Spent.on(advisor.plan.start, course.readings[:number])
    body = {
        "number": number,
        "time": taken or now(),
        "reading": {
            "position": list(reading.position),
            "value": reading.value,
            "wind": None if reading.wind is None else list(reading.wind),
            "time": reading.time,
            "sensor": reading.sensor,
            "id": reading.id,
        },
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
        "spread": finite(max(digest.std[0], digest.std[1])),
        "mass": finite(digest.mass),
        "ess": finite(digest.ess),
        "fit": finite(digest.fit),
        "evidence": None if advice.evidence is None else finite(advice.evidence),
        "path_length": spent.distance,
    }
    return body | _degrees(body, advisor.plan.frame)


def _degrees(body: dict[str, Any], frame: "Frame") -> dict[str, Any]:
    """The places once more as latitude and longitude, where the site is on the globe."""
    if not frame.is_geographic:
        return {}
    places = {
        "reading": body["reading"]["position"],
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
    from dowsax.mission.regions import credible_regions

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
