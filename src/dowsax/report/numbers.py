"""Findings as numbers for programs."""

from typing import Any

import numpy as np

from dowsax.files import finite
from dowsax.geo.local import LocalCoordinates
from dowsax.inference import Posterior
from dowsax.inference.sources import estimate_sources
from dowsax.report.findings import Findings
from dowsax.report.summary import verdict
from dowsax.world.several_columns import single_name

QUANTILES = (0.025, 0.05, 0.5, 0.95, 0.975)
"""The ends of the intervals that hold 90 and 95 %, and the median."""


def summary_numbers(findings: Findings) -> dict[str, Any]:
    """Return the findings as JSON can hold them."""
    posterior = findings.posterior
    degrees = findings.degrees(findings.estimate[None])
    latitude, longitude = (None, None) if degrees is None else map(float, degrees[0])
    quantiles = np.stack([posterior.quantile(share) for share in QUANTILES])
    return {
        "name": findings.name,
        "kind": findings.kind,
        "unit": findings.unit,
        "verdict": verdict(findings),
        "status": findings.status,
        "position": {
            "x": float(findings.estimate[0]),
            "y": float(findings.estimate[1]),
            "latitude": latitude,
            "longitude": longitude,
            "std": findings.spread.tolist(),
            "radius_95": findings.sources[0].radius,
        },
        **several_numbers(posterior, findings.coordinates),
        "origin": None if findings.coordinates.origin is None else list(findings.coordinates.origin),
        "parameters": [
            {
                "name": parameter.name,
                "unit": parameter.unit,
                "meaning": parameter.meaning,
                "mean": float(posterior.mean[column]),
                "std": float(posterior.std[column]),
                "quantiles": dict(zip(map(str, QUANTILES), quantiles[:, column].tolist(), strict=True)),
                "learnt": parameter.name not in findings.not_learnt,
            }
            for column, parameter in enumerate(posterior.parameters)
        ],
        "regions": [
            {"probability": probability, "area": region.area, "pieces": len(region.patches)}
            for probability, region in sorted(findings.regions.items())
        ],
        "log_evidence_for_a_source": finite(findings.evidence),
        "log_evidence": finite(float(posterior.log_evidence)),
        "fit": float(posterior.fit),
        "fits": bool(posterior.fits),
        "readings": len(findings.values),
        "particles": len(posterior.weights),
        "notes": list(findings.notes),
        "settings": dict(findings.settings),
        "seed": findings.seed,
        "versions": dict(findings.versions),
    }


def several_numbers(
    posterior: Posterior, coordinates: LocalCoordinates | None = None
) -> dict[str, list[dict[str, Any]] | dict[str, float]]:
    """Return each of several sources as JSON can hold it, and how probable each number of them is.

    Nothing for one source, if no other number was thought possible.
    """
    if posterior.num_sources == 1 and not posterior.number_probabilities:
        return {}
    quantiles = np.stack([posterior.quantile(share) for share in QUANTILES])
    found = []
    for source in estimate_sources(posterior):
        body: dict[str, Any] = {"x": float(source.position[0]), "y": float(source.position[1])}
        if coordinates is not None and coordinates.is_geographic:
            body["latitude"], body["longitude"] = map(float, coordinates.to_degrees(source.position[None])[0])
        own = {
            single_name(posterior.names[column]): dict(
                zip(map(str, QUANTILES), quantiles[:, column].tolist(), strict=True)
            )
            for column in source.columns[2:]
        }
        found.append(body | {"std": source.std.tolist(), "radius_95": source.radius, "quantiles": own})
    chances = posterior.number_probabilities or {posterior.num_sources: 1.0}
    return {
        "sources": found,
        "number_probabilities": {str(number): chance for number, chance in chances.items()},
    }
