"""Findings in plain words, for people, and in plain numbers, for programs."""

import math
from typing import Any

import numpy as np

from dowsax.geo.formatting import chance, metres, times
from dowsax.inference.posterior import INTERVAL_PROBABILITY
from dowsax.mission.advice import INCONCLUSIVE, SEARCHING
from dowsax.report.findings import BEYOND, Findings

_QUANTILES = (0.025, 0.05, 0.5, 0.95, 0.975)
"""In numbers for programs: the ends of the intervals that hold 90 and 95 %, and the median."""
_WIND = ("ux", "uy")
_MAIN = ("q", "level", "mx", "my", "mz", "background", *_WIND)
"""How the names of those unknowns begin that people ask for first: strength, background and wind."""
ITEM = "- "
"""What belongs to the sentence before it begins with this."""
_UNDECIDED = {SEARCHING: "Not sure yet", INCONCLUSIVE: "Cannot tell as closely as wanted"}
"""How the answer of a mission begins that has not found the source."""
OTHERS = "What else was inferred"
"""The title of the section on all other unknowns."""
_DISCERNIBLE = ((5.0, "very strong"), (3.0, "strong"), (1.0, "some"))
"""Least log evidence, and the word for it (Kass and Raftery, 1995)."""


def summary_text(findings: Findings) -> str:
    """A page of plain text: where, how strong, how sure, and what is not known."""
    lines = [findings.name, "=" * len(findings.name), "", verdict(findings), ""]
    for title, sentences in sections(findings):
        lines += [title, *(f"  {_indented(sentence)}" for sentence in sentences), ""]
    made = ", ".join(f"{name} {version}" for name, version in findings.versions.items())
    lines.append(f"Made with {made}; seed {findings.seed}.")
    return "\n".join(lines) + "\n"


def _indented(sentence: str) -> str:
    return f"  {sentence}" if sentence.startswith(ITEM) else sentence


def sections(findings: Findings) -> list[tuple[str, list[str]]]:
    """Titles and sentences, in the order of a report."""
    told = [
        ("Where", where(findings)),
        ("How strong, and what carries it", [*parameters(findings, main=True), *wind(findings)]),
        ("Is there a source", [evidence(findings), fit(findings)]),
        ("What is not known", unknown(findings)),
        (OTHERS, parameters(findings, main=False)),
        ("Readings", readings(findings)),
    ]
    return [(title, sentences) for title, sentences in told if sentences]


def verdict(findings: Findings) -> str:
    """The answer in one sentence, and before it what makes it doubtful."""
    return f"{findings.caution} {_answer(findings)}".strip()


def _answer(findings: Findings) -> str:
    if findings.status == "misfit":
        return (
            "Not to be trusted: no source fits these readings well. Check the units, the kind of field, the "
            "positions and the prior."
        )
    if findings.status == "no evidence":
        return "Cannot tell: the readings do not show that there is a source here."
    if findings.status == "unclear":
        share = 100 * float(findings.covered or 0)
        return f"Cannot tell where yet: the 95 % region still covers {share:.0f} % of the area."
    if len(findings.places) > 1:
        named = [
            f"{place(findings, each.position)} ({100 * each.probability:.0f} %)" for each in findings.places
        ]
        likely = "The source is" if findings.is_sure else "Not settled: the source is likely"
        return f"{likely} in one of {len(named)} places: near {'; or '.join(named)}."
    where_, radius = place(findings, findings.estimate), metres(findings.radius)
    doubt = "As it stands" if findings.caution else _UNDECIDED.get(findings.outcome)
    if doubt is not None:
        return f"{doubt}: with 95 % probability the source is within {radius} of {where_}."
    told = f"with 95 % probability within {radius} of there"
    if findings.status == "likely":
        return f"Likely near {where_}, but not settled: {told}{_lacking(findings)}."
    return f"Located: the source is at {where_}, {told}."


def _lacking(findings: Findings) -> str:
    """What is missing for a source to count as located."""
    told = ""
    if findings.rule is not None and not findings.is_near_enough:
        told = f", where {metres(findings.rule.radius)} is asked for (radius in [search] of the site)"
    if not findings.is_evident and findings.evidence is not None:
        told += f"; and the readings are only {times(findings.evidence)} likelier with a source than without"
    return told


def place(findings: Findings, position: np.ndarray) -> str:
    """A position in words: degrees where they are known, else metres."""
    if findings.frame.is_geographic:
        return findings.frame.words(position)
    return f"{position[0]:.2f} m east, {position[1]:.2f} m north"


def where(findings: Findings) -> list[str]:
    """Position, its spread, and the regions."""
    x, y = findings.estimate
    east, north = findings.posterior.std[:2]
    spread = f"x = {_with_spread(x, east)} m east, y = {_with_spread(y, north)} m north"
    told = [f"{spread} (± one standard deviation)."]
    if findings.frame.origin is not None:
        latitude, longitude = findings.frame.origin
        told = [
            f"{place(findings, findings.estimate)} (WGS84), ± {metres(east)} from west to east and ± "
            f"{metres(north)} from south to north (one standard deviation).",
            f"In metres from {latitude:.7f}, {longitude:.7f}: {spread}.",
        ]
    for probability, region in sorted(findings.regions.items()):
        pieces = len(region.patches)
        apart = "" if pieces == 1 else f" in {pieces} separate pieces"
        told.append(f"{100 * probability:.0f} % region: {square_metres(region.area)}{apart}.")
    if findings.status == "no evidence":
        told.insert(0, "If there is a source at all, which the readings do not show:")
    if len(findings.places) > 1:
        told.append("The belief has several places; the mean above may lie between them.")
    return told


def parameters(findings: Findings, *, main: bool) -> list[str]:
    """Unknowns other than the position, with unit and interval: the main ones, or all the others.

    The number is the median: the mean of a rate that may be a hundred times as large is no rate one expects.
    """
    posterior = findings.posterior
    low, high = posterior.interval(INTERVAL_PROBABILITY)
    numbers = zip(posterior.parameters, low, posterior.quantile(0.5), high, strict=True)
    return [
        f"{_capital(parameter.meaning or parameter.name)}: {plain(middle)}{_unit(parameter.unit)} "
        f"(95 %: {plain(least)} to {plain(most)})."
        for parameter, least, middle, most in list(numbers)[2:]
        if parameter.name.startswith(_MAIN) == main
    ]


def wind(findings: Findings) -> list[str]:
    """The wind as it was measured, or as it was inferred, with where it comes from."""
    names = findings.posterior.names
    if findings.wind is not None:
        mean = np.mean(findings.wind, axis=0)
        return [f"Wind as measured, on average {wind_words(mean)}."]
    if all(name in names for name in _WIND):
        return [
            f"So the wind is {wind_words(findings.posterior.mean[[names.index(name) for name in _WIND]])}."
        ]
    return []


def wind_words(velocity: np.ndarray) -> str:
    """Speed, and the direction it comes FROM, of a velocity (2,) [m/s] where the air goes."""
    speed = float(np.hypot(*velocity))
    bearing = math.degrees(math.atan2(-velocity[0], -velocity[1])) % 360
    return f"{speed:.1f} m/s from {bearing:.0f}°"


def evidence(findings: Findings) -> str:
    """How much the readings speak for a source against none."""
    if findings.evidence is None:
        return "Evidence for a source against none was not computed."
    if findings.evidence >= BEYOND:
        return "Nothing but a source explains the readings."
    size = abs(findings.evidence)
    word = next((word for least, word in _DISCERNIBLE if size >= least), None)
    if word is None:
        return "The readings do not tell a source from none."
    side = "with a source than without" if findings.evidence > 0 else "without a source than with one"
    against = "for" if findings.evidence > 0 else "against"
    return f"{word.capitalize()} evidence {against} a source: the readings are {times(size)} likelier {side}."


def fit(findings: Findings) -> str:
    """Whether the model explains the readings."""
    share = float(findings.posterior.fit)
    if not findings.posterior.fits:
        return f"No source explains the readings: by chance a right model would fit so badly {chance(share)}."
    return f"The model explains the readings: of surveys simulated by it, {100 * share:.0f} % fit worse."


def unknown(findings: Findings) -> list[str]:
    """What the readings leave open."""
    told = []
    meanings = {
        parameter.name: parameter.meaning or parameter.name for parameter in findings.posterior.parameters
    }
    if findings.not_learnt:
        told.append("The readings say little or nothing of these; what is told of them is what was put in:")
        told += [f"{ITEM}{meanings[name]}" for name in findings.not_learnt]
    if findings.evidence is None:
        told.append("Whether there is a source at all: one was taken for granted.")
    told.append(
        "Errors of what was taken as given (kind of field, prior ranges, positions) are not in the intervals."
    )
    return told


def readings(findings: Findings) -> list[str]:
    """What the answer is made from."""
    low, high = float(np.min(findings.values)), float(np.max(findings.values))
    number = len(findings.values)
    span = f"{plain(low, 4)} to {plain(high, 4)}{_unit(findings.unit)}"
    told = [f"{number} reading{'s' * (number > 1)} from {span}."]
    if number > 1:
        length = float(np.linalg.norm(np.diff(findings.positions, axis=0), axis=1).sum())
        told.append(f"Length of the track: {metres(length)}.")
    return told + list(findings.notes)


def square_metres(area: float) -> str:
    """An area in words."""
    return f"{area / 1e6:.3g} km²" if area >= 1e5 else f"{plain(area)} m²"


def plain(number: float, digits: int = 3) -> str:
    """A number to so many digits, as people write it: no powers of ten below a million."""
    rounded = float(f"{number:.{digits}g}")
    return f"{rounded:,.0f}" if 10**digits <= abs(rounded) < 1e6 else f"{number:.{digits}g}"


def summary_numbers(findings: Findings) -> dict[str, Any]:
    """The findings in few numbers, as JSON can hold them."""
    posterior = findings.posterior
    degrees = findings.degrees(findings.estimate[None])
    latitude, longitude = (None, None) if degrees is None else map(float, degrees[0])
    quantiles = np.stack([posterior.quantile(share) for share in _QUANTILES])
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
            "std": posterior.std[:2].tolist(),
            "radius_95": findings.radius,
        },
        "origin": None if findings.frame.origin is None else list(findings.frame.origin),
        "parameters": [
            {
                "name": parameter.name,
                "unit": parameter.unit,
                "meaning": parameter.meaning,
                "mean": float(posterior.mean[column]),
                "std": float(posterior.std[column]),
                "quantiles": dict(zip(map(str, _QUANTILES), quantiles[:, column].tolist(), strict=True)),
                "learnt": parameter.name not in findings.not_learnt,
            }
            for column, parameter in enumerate(posterior.parameters)
        ],
        "regions": [
            {"probability": probability, "area": region.area, "pieces": len(region.patches)}
            for probability, region in sorted(findings.regions.items())
        ],
        "log_evidence_for_a_source": _finite(findings.evidence),
        "log_evidence": _finite(float(posterior.log_evidence)),
        "fit": float(posterior.fit),
        "fits": bool(posterior.fits),
        "readings": len(findings.values),
        "particles": len(posterior.weights),
        "notes": list(findings.notes),
        "settings": dict(findings.settings),
        "seed": findings.seed,
        "versions": dict(findings.versions),
    }


def _with_spread(value: float, spread: float) -> str:
    """Value ± spread, both to the second digit of the spread."""
    digits = 0 if spread <= 0 else min(max(1 - math.floor(math.log10(spread)), 0), 4)
    return f"{value:.{digits}f} ± {spread:.{digits}f}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""


def _finite(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)
