"""Which column of a survey was read as what, in words: unit, conversion, and the convention of the wind."""

from dowsax.mission.columns import UNIT_OF_ROLE, Column
from dowsax.mission.site import Site
from dowsax.mission.site_kinds import KINDS
from dowsax.mission.survey import Survey
from dowsax.mission.units import factor, known_unit

_MEANINGS = {
    "x": "to the east",
    "y": "to the north",
    "latitude": "degrees north",
    "longitude": "degrees east",
    "wind_u": "where the air goes, to the east",
    "wind_v": "where the air goes, to the north",
    "wind_speed": "with the direction it comes from",
    "wind_from": "where the wind comes FROM, degrees clockwise from north: 270 is a west wind",
    "dwell": "how long each reading counted",
    "date": "of the times",
}


def column_words(survey: Survey, site: Site) -> list[tuple[str, str]]:
    """Of each column its role, and what it was taken for; then those that were not used."""
    words = []
    for role, column in survey.columns.items():
        parts = [f"{column.header!r}", *_unit(role, column, site), *_meaning(role, site)]
        parts += ["as was said, not by its name"] if column.mapped else []
        words.append((role, ", ".join(parts) + _unused(role, site)))
    if survey.unused:
        words.append(("not used", ", ".join(repr(header) for header in survey.unused)))
    return words


def _unit(role: str, column: Column, site: Site) -> list[str]:
    """The unit it is read in, and by what it is converted."""
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
    """Why a column that was recognised is of no account."""
    kind = KINDS[site.kind]
    if role == "altitude" and kind.is_benchmark:
        return "; of no account for this kind"
    if role.startswith("wind") and not kind.uses_wind:
        return "; of no account for this kind"
    if role.startswith("wind") and site.wind.mode != "measured":
        return f"; not used, as the wind of the site is {site.wind.mode}"
    return ""
