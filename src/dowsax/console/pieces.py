"""A belief in several separate places, as clients see it: each with its probability, not their mean."""

from typing import Any

import numpy as np

from dowsax.geo.formatting import format_estimate, format_length
from dowsax.geo.local import LocalCoordinates
from dowsax.mission.decision import describe_disc
from dowsax.report.regions import Region


def find_pieces(region: Region, positions: np.ndarray, weights: np.ndarray) -> list[dict[str, Any]]:
    """Return the pieces of a region as JSON, the likeliest first; none where it is whole."""
    found = region.pieces(positions, weights / weights.sum())
    return [
        {"centre": piece.position.tolist(), "radius": piece.radius, "probability": piece.probability}
        for piece in found
    ]


def describe_pieces(snapshot: dict[str, Any], coordinates: LocalCoordinates) -> str:
    """Return the reason of a snapshot with its pieces in place of the disc about their mean.

    Only a search that goes on, or has ended without an answer, says where that disc is.
    """
    pieces, why = snapshot["pieces"], snapshot["why"]
    mean, radius = snapshot["estimate"]["mean"][:2], snapshot["radius"]
    if not pieces or radius is None or None in mean:
        return why
    named = [
        f"near {format_estimate(coordinates, piece['centre'])} "
        f"({100 * piece['probability']:.0f} %, within {format_length(piece['radius'])})"
        for piece in pieces
    ]
    several = f"the source is in one of {len(named)} places: {'; or '.join(named)}"
    return why.replace(describe_disc(coordinates, [tuple(mean)], radius), several)
