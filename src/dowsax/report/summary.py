"""Findings as text for people."""

import math

import numpy as np

from dowsax.geo.formatting import count_digits, format_chance, format_factor, format_length, format_number
from dowsax.inference.posterior import INTERVAL_PROBABILITY
from dowsax.mission.advice import INCONCLUSIVE, SEARCHING
from dowsax.report.findings import LIKELY, MAX_LOG_EVIDENCE, MISFIT, NO_EVIDENCE, Findings
from dowsax.world.several_columns import single_name

_WIND_NAMES = ("ux", "uy")
_MAIN_PREFIXES = ("q", "level", "mx", "my", "mz", "background", *_WIND_NAMES)
"""The names of the main unknowns begin so: strength, background and wind."""
ITEM_PREFIX = "- "
"""Begins an item of a list that belongs to the sentence before it."""
_MISSION_PREFIXES = {SEARCHING: "Not sure yet", INCONCLUSIVE: "Cannot tell as closely as wanted"}
"""How the answer of a mission begins that has not found the source."""
OTHER_UNKNOWNS_TITLE = "What else was inferred"
"""Title of the section on all other unknowns."""
_BORDERLINE_FIT = 0.1
"""Of a right model one survey in ten, at most, fits worse than this."""
_EVIDENCE_WORDS = ((5.0, "very strong"), (3.0, "strong"), (1.0, "some"))
"""Minimum log evidence, and the word for it (Kass and Raftery, 1995)."""


def summary_text(findings: Findings) -> str:
    """Return a page of text: where, how strong, how sure, and what is not known."""
    lines = [findings.name, "=" * len(findings.name), "", verdict(findings), ""]
    for title, sentences in sections(findings):
        lines += [title, *(f"  {_indent(sentence)}" for sentence in sentences), ""]
    made = ", ".join(f"{name} {version}" for name, version in findings.versions.items())
    lines.append(f"Made with {made}; seed {findings.seed}.")
    return "\n".join(lines) + "\n"


def _indent(sentence: str) -> str:
    return f"  {sentence}" if sentence.startswith(ITEM_PREFIX) else sentence


def sections(findings: Findings) -> list[tuple[str, list[str]]]:
    """Return titles and sentences, in the order of a report."""
    parts = [
        ("Where", where(findings)),
        ("How strong, and what carries it", [*parameters(findings, main=True), *wind(findings)]),
        ("Is there a source", [*evidence(findings), fit(findings)]),
        ("What is not known", unknown(findings)),
        (OTHER_UNKNOWNS_TITLE, parameters(findings, main=False)),
        ("Readings", readings(findings)),
    ]
    return [(title, sentences) for title, sentences in parts if sentences]


def verdict(findings: Findings) -> str:
    """Return the answer in one sentence, after what makes it doubtful."""
    return f"{findings.caution} {_answer(findings)}".strip()


def _answer(findings: Findings) -> str:
    if findings.status == MISFIT:
        return (
            "Not to be trusted: no source fits these readings well. Check the units, the kind of field, the "
            "positions and the prior."
        )
    if findings.status == NO_EVIDENCE:
        return "Cannot tell: the readings do not show that there is a source here."
    if findings.status == INCONCLUSIVE:
        share = 100 * float(findings.covered or 0)
        return f"Cannot tell where yet: the 95 % region still covers {share:.0f} % of the area."
    if len(findings.sources) > 1:
        return _answer_of_several(findings)
    if len(findings.places) > 1:
        named = [
            f"{place(findings, each.position)} ({100 * each.probability:.0f} %, within "
            f"{format_length(each.radius)})"
            for each in findings.places
        ]
        likely = "The source is" if findings.is_sure else "Not settled: the source is likely"
        return f"{likely} in one of {len(named)} places: near {'; or '.join(named)}."
    where_, radius = place(findings, findings.estimate), format_length(findings.radius)
    doubt = "As it stands" if findings.caution else _MISSION_PREFIXES.get(findings.outcome)
    if doubt is not None:
        return f"{doubt}: with 95 % probability the source is within {radius} of {where_}."
    within = f"with 95 % probability within {radius} of there"
    if findings.status == LIKELY:
        settled = f"Likely near {where_}, but not settled: {within}{_shortfall(findings)}."
        return f"{settled}{_number(findings)}{_next_step(findings)}"
    return f"Located: the source is at {where_}, {within}.{_number(findings)}"


def _answer_of_several(findings: Findings) -> str:
    """Return where each of several sources is, and how sure their number is."""
    named = [
        f"{place(findings, source.position)} (95 %: within {format_length(source.radius)})"
        for source in findings.sources
    ]
    doubt = "As it stands" if findings.caution else _MISSION_PREFIXES.get(findings.outcome)
    if doubt is None:
        doubt = "Located" if findings.is_sure else "Likely, but not settled"
    number, where_ = len(named), "; and ".join(named)
    return f"{doubt}: {number} sources, at {where_}{_shortfall(findings)}.{_number(findings)}"


def _number(findings: Findings) -> str:
    """Return a sentence on the number of sources, where it is not known."""
    posterior = findings.posterior
    if not posterior.number_probabilities:
        return ""
    words = f" That there {'is' if posterior.num_sources == 1 else 'are'} {posterior.num_sources} has a "
    words += f"probability of {posterior.number_probability:.2g}"
    if not posterior.more_probability:
        return f"{words}."
    return f"{words}; there may be one more, with a probability of {posterior.more_probability:.2g}."


def _shortfall(findings: Findings) -> str:
    """Return what is missing for a source to count as located."""
    words = ""
    rule = findings.rule
    if rule is not None and not findings.is_near_enough and findings.radius <= rule.radius:
        words = "; how many there are is not settled"
    elif rule is not None and not findings.is_near_enough:
        words = f", where {format_length(rule.radius)} is asked for (radius in [search] of the site)"
    if not findings.is_evident and findings.evidence is not None:
        factor = format_factor(findings.evidence)
        words += f"; and the readings are only {factor} likelier with a source than without"
    return words


def _next_step(findings: Findings) -> str:
    """Return what to do about a source that is likely, but not settled; of a mission its advice says it."""
    if findings.outcome or findings.rule is None:
        return ""
    site = findings.settings.get("site") or "SITE"
    return f" Further readings near there may settle it: `dowsax advise --site {site} --log LOG` says where."


def place(findings: Findings, position: np.ndarray) -> str:
    """Return a position as text: degrees where the site has an origin, else metres."""
    if findings.coordinates.is_geographic:
        return findings.coordinates.format_position(position)
    return f"{position[0]:.2f} m east, {position[1]:.2f} m north"


def where(findings: Findings) -> list[str]:
    """Return sentences on the position, its spread, and the regions."""
    if len(findings.sources) > 1:
        return _where_several(findings)
    if len(findings.places) > 1:
        return _where_in_pieces(findings)
    x, y = findings.estimate
    east, north = findings.spread
    spread = f"x = {_with_spread(x, east)} m east, y = {_with_spread(y, north)} m north"
    sentences = [f"{spread} (± one standard deviation)."]
    if findings.coordinates.origin is not None:
        latitude, longitude = findings.coordinates.origin
        sentences = [
            f"{place(findings, findings.estimate)} (WGS84), ± {format_length(east)} from west to east and ± "
            f"{format_length(north)} from south to north (one standard deviation).",
            f"In metres from {latitude:.7f}, {longitude:.7f}: {spread}.",
        ]
    return [*_if_any(findings), *sentences, *_regions(findings)]


def _where_in_pieces(findings: Findings) -> list[str]:
    """Return sentences on separate places where the source may be; their mean lies between them."""
    sentences = [
        f"Place {number}, with a probability of {100 * each.probability:.0f} %: "
        f"{place(findings, each.position)}, within {format_length(each.radius)} (95 %)."
        for number, each in enumerate(findings.places, start=1)
    ]
    return [*_if_any(findings), *sentences, *_regions(findings)]


def _if_any(findings: Findings) -> list[str]:
    if findings.status != NO_EVIDENCE:
        return []
    return ["If there is a source at all, which the readings do not show:"]


def _regions(findings: Findings) -> list[str]:
    """Return a sentence on the size of each region."""
    sentences = []
    for probability, region in sorted(findings.regions.items()):
        pieces = len(region.patches)
        apart = "" if pieces == 1 else f" in {pieces} separate pieces"
        sentences.append(f"{100 * probability:.0f} % region: {format_area(region.area)}{apart}.")
    return sentences


def _where_several(findings: Findings) -> list[str]:
    """Return sentences on the position of each source, and on the regions of all of them together."""
    sentences = []
    for number, source in enumerate(findings.sources, start=1):
        (x, y), (east, north) = source.position, source.std
        spread = f"x = {_with_spread(x, east)} m east, y = {_with_spread(y, north)} m north"
        degrees = f"{place(findings, source.position)}, " if findings.coordinates.is_geographic else ""
        sentences.append(f"Source {number}: {degrees}{spread} (± one standard deviation).")
    for probability, region in sorted(findings.regions.items()):
        share = f"{100 * probability:.0f} % region of all sources together"
        sentences.append(f"{share}: {format_area(region.area)} in {len(region.patches)} pieces.")
    return sentences


def parameters(findings: Findings, *, main: bool) -> list[str]:
    """Return sentences on the unknowns besides the position, with unit and interval: the main, or the others.

    The number is the median: the mean of a skewed distribution is no typical value.
    """
    posterior = findings.posterior
    low, high = posterior.interval(INTERVAL_PROBABILITY)
    numbers = zip(posterior.parameters, low, posterior.quantile(0.5), high, strict=True)
    return [
        f"{_capital(parameter.meaning or parameter.name)}: "
        f"{format_interval(least, middle, most, _unit(parameter.unit))}."
        for parameter, least, middle, most in numbers
        if single_name(parameter.name) not in ("x", "y") and parameter.name.startswith(_MAIN_PREFIXES) == main
    ]


def wind(findings: Findings) -> list[str]:
    """Return a sentence on the measured or inferred wind."""
    names = findings.posterior.names
    if findings.wind is not None:
        mean = np.mean(findings.wind, axis=0)
        return [f"Wind as measured, on average {format_wind(mean)}."]
    if all(name in names for name in _WIND_NAMES):
        velocity = findings.posterior.mean[[names.index(name) for name in _WIND_NAMES]]
        return [f"So the wind is {format_wind(velocity)}."]
    return []


def format_wind(velocity: np.ndarray) -> str:
    """Return speed, and the direction it comes FROM, of a velocity (2,) [m/s] where the air goes."""
    speed = float(np.hypot(*velocity))
    bearing = math.degrees(math.atan2(-velocity[0], -velocity[1])) % 360
    return f"{speed:.1f} m/s from {bearing:.0f}°"


def evidence(findings: Findings) -> list[str]:
    """Return sentences on the evidence for a source, or for several, against none."""
    if findings.evidence is None:
        return ["Evidence for a source against none was not computed."]
    if findings.evidence >= MAX_LOG_EVIDENCE:
        return ["Nothing but a source explains the readings."]
    if findings.is_stuck and findings.evidence < 0:
        return ["No evidence against a source either: a stuck sensor says nothing about that."]
    number, size = len(findings.sources), abs(findings.evidence)
    word = next((word for least, word in _EVIDENCE_WORDS if size >= least), None)
    if word is None:
        return ["The readings do not tell a source from none."]
    what, one = ("a source", "one") if number == 1 else (f"{number} sources", f"{number} sources")
    side = f"with {what} than without" if findings.evidence > 0 else f"without a source than with {one}"
    against = "for" if findings.evidence > 0 else "against"
    strength, factor = word.capitalize(), format_factor(size)
    sentences = [f"{strength} evidence {against} {what}: the readings are {factor} likelier {side}."]
    if number > 1 and not findings.posterior.number_probabilities:
        sentences.append(
            f"That compares {number} sources with none at all. That there are {number} was given, and not "
            f'compared with another number: `sources = "1-{number}"` does.'
        )
    return sentences


def fit(findings: Findings) -> str:
    """Return a sentence on whether the model explains the readings, reading by reading.

    What the answer begins with, such as a reversed wind, this check need not see.
    """
    share = float(findings.posterior.fit)
    if not findings.posterior.fits:
        chance = format_chance(share)
        return f"No source explains the readings: by chance a right model would fit so badly {chance}."
    worse = f"the survey fits worse than about {100 - math.ceil(100 * share)} of 100 surveys of a right model"
    if share < _BORDERLINE_FIT:
        mind = "; mind the warning above" if findings.caution else ""
        return f"The fit is borderline: {worse}{mind}."
    if findings.caution:
        return "Reading by reading no misfit is seen, but mind the warning above."
    return "No misfit is seen: nothing in the errors of the readings is unusual for a right model."


def unknown(findings: Findings) -> list[str]:
    """Return sentences on what the readings leave open."""
    sentences = []
    meanings = {
        parameter.name: parameter.meaning or parameter.name for parameter in findings.posterior.parameters
    }
    if findings.not_learnt:
        sentences.append("The readings say little or nothing about these; what is reported is the prior:")
        sentences += [f"{ITEM_PREFIX}{meanings[name]}" for name in findings.not_learnt]
    if findings.evidence is None:
        sentences.append("Whether there is a source at all: one was taken for granted.")
    sentences.append(
        "Errors of what was taken as given (kind of field, prior ranges, positions) are not in the intervals."
    )
    return sentences


def readings(findings: Findings) -> list[str]:
    """Return sentences on the readings."""
    low, high = float(np.min(findings.values)), float(np.max(findings.values))
    number = len(findings.values)
    span = f"{format_number(low, 4)} to {format_number(high, 4)}{_unit(findings.unit)}"
    sentences = [f"{number} reading{'s' * (number > 1)} from {span}."]
    if findings.is_path.any():
        sentences.append(f"{int(findings.is_path.sum())} of them are means along a path.")
    ways = [track.places for track in findings.tracks if len(track.places) > 1]
    if ways:
        length = sum(float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum()) for way in ways)
        what = "track" if len(ways) == 1 else "tracks"
        sentences.append(f"Length of the {what}: {format_length(length)}.")
    return sentences + list(findings.notes)


def format_area(area: float) -> str:
    """Return an area with its unit."""
    return f"{area / 1e6:.3g} km²" if area >= 1e5 else f"{format_number(area)} m²"


def format_interval(low: float, middle: float, high: float, unit: str = "") -> str:
    """Return a number with its 95 % interval, to as many digits as its ends need to differ."""
    digits = count_digits(low, high)
    least, number, most = (format_number(each, digits) for each in (low, middle, high))
    return f"{number}{unit} (95 %: {least} to {most})"


def _with_spread(value: float, spread: float) -> str:
    """Return value ± spread, both to the second digit of the spread."""
    digits = 0 if spread <= 0 else min(max(1 - math.floor(math.log10(spread)), 0), 4)
    return f"{value:.{digits}f} ± {spread:.{digits}f}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""
