"""A survey in words, for `dowsax site check`: its readings, and the meaning of each column."""

import numpy as np

from dowsax.site.describe import describe_wind
from dowsax.site.kinds import KINDS
from dowsax.site.measured import QUANTITIES, unit_of_quantity
from dowsax.site.site import Site
from dowsax.site.units import factor, known_unit
from dowsax.survey.columns import FAR_END_ROLES, UNIT_OF_ROLE, Column
from dowsax.survey.lint import lint_times
from dowsax.survey.repeats import add_up_counts
from dowsax.survey.survey import Survey

_MEANINGS = {
    "x": "to the east",
    "y": "to the north",
    "latitude": "degrees north",
    "longitude": "degrees east",
    **{role: "of the far end of a path" for pair in FAR_END_ROLES for role in pair},
    "wind_u": "where the air goes, to the east",
    "wind_v": "where the air goes, to the north",
    "wind_speed": "with the direction it comes from",
    "wind_from": "where the wind comes FROM, degrees clockwise from north: 270 is a west wind",
    "dwell": "how long each reading counted",
    "date": "of the times",
    **{name: quantity.meaning for name, quantity in QUANTITIES.items()},
}


def describe_survey(survey: Survey, site: Site) -> list[tuple[str, str]]:
    """Return headings and words about a survey of this site."""
    ends = (
        survey.positions if survey.far_ends is None else np.concatenate([survey.positions, survey.far_ends])
    )
    low, high = ends.min(axis=0), ends.max(axis=0)
    words = [
        ("readings", f"{len(survey.values)}, {survey.left_out} left out"),
        ("values", f"{survey.values.min():g} to {survey.values.max():g} {site.unit}".strip()),
        ("places", f"x {low[0]:.6g} to {high[0]:.6g} m, y {low[1]:.6g} to {high[1]:.6g} m"),
    ]
    if survey.coordinates.is_geographic:
        low_words, high_words = (survey.coordinates.format_position(corner) for corner in (low, high))
        words.append(("", f"from {low_words} to {high_words}"))
    if survey.far_ends is not None:
        lengths = np.linalg.norm(survey.far_ends - survey.positions, axis=1)
        lengths, points = lengths[lengths > 0], int((lengths == 0).sum())
        span = f"{len(lengths)} readings along {lengths.min():.3g} to {lengths.max():.3g} m"
        words.append(("paths", span + (f", {points} at points" if points else "")))
    if survey.time is not None:
        start = "" if survey.start is None else f"{survey.start:%Y-%m-%d %H:%M:%S} UTC, "
        words.append(("time", f"{start}{survey.time[-1]:g} s"))
    if survey.altitude is not None:
        words.append(("altitude", f"{survey.altitude.min():g} to {survey.altitude.max():g} m above ground"))
    if survey.wind is not None:
        words.append(("wind", f"on average {describe_wind(survey.wind.mean(axis=0))}"))
    if survey.sensor is not None:
        words.append(("sensors", ", ".join(survey.sensor_names)))
    return words + [("note", note) for note in _notes(survey, site)]


def _notes(survey: Survey, site: Site) -> list[str]:
    """Return the notes of `dowsax locate` on how the readings are counted, after those of the file."""
    used = add_up_counts(survey, site)
    return [*used.notes, *lint_times(site, np.asarray(used.stations().place), used.time)]


def describe_columns(survey: Survey, site: Site) -> list[tuple[str, str]]:
    """Return the role of each column and its meaning, and the columns that are not used."""
    words = []
    for role, column in survey.columns.items():
        parts = [f"{column.header!r}", *_unit(role, column, site), *_meaning(role, site)]
        parts += ["as mapped, not by its name"] if column.mapped else []
        words.append((role, ", ".join(parts) + _unused(role, site)))
    if survey.unused:
        words.append(("not used", ", ".join(repr(header) for header in survey.unused)))
    return words


def _unit(role: str, column: Column, site: Site) -> list[str]:
    """Return the unit of a column, and the factor of its conversion."""
    if role in QUANTITIES:
        wanted = unit_of_quantity(role, known_unit(site.unit) or site.unit)
    else:
        wanted = site.unit if role == "value" else UNIT_OF_ROLE.get(role)
    # A clock may as well be dates, and nobody takes degrees for anything else.
    if not wanted or (column.unit is None and (role == "time" or wanted == "deg")):
        return []
    if column.unit is None:
        return [f"in {wanted} (the header does not say)"]
    given = known_unit(column.unit) or column.unit
    if given == known_unit(wanted):
        return [f"in {given}"]
    times = factor(given, known_unit(wanted) or wanted)
    by = "the time counted" if times is None else f"{times:g}"
    return [f"from {given} to {wanted}, times {by}"]


def _meaning(role: str, site: Site) -> list[str]:
    if role != "altitude":
        return [_MEANINGS[role]] if role in _MEANINGS else []
    ground = site.sensor.ground
    return ["above ground"] if ground == 0 else [f"less the {ground:g} m of the ground"]


def _unused(role: str, site: Site) -> str:
    """Return why a column with a role is not used."""
    kind = KINDS[site.kind]
    if role == "altitude" and kind.is_benchmark:
        return "; not used for this kind"
    if role.startswith("wind") and not kind.uses_wind:
        return "; not used for this kind"
    if role.startswith("wind") and site.wind.mode != "measured":
        return f"; not used, as the wind of the site is {site.wind.mode}"
    return ""
