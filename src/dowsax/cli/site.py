"""`dowsax site`: write a site file to start from, or check one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from dowsax.cli.console import say, waiting
from dowsax.cli.locate import name_line, parse_pairs
from dowsax.cli.outputs import require_writable
from dowsax.files import replace_text
from dowsax.inference.arguments import check_survey
from dowsax.mission.plan import Plan
from dowsax.mission.problem import find_simulation_fault
from dowsax.site import Site, build_model, new_site, read_site
from dowsax.site.describe import describe_site, describe_unknowns
from dowsax.survey import Survey, read_survey
from dowsax.survey.describe import describe_columns, describe_survey

site = App(name="site", help="Write a site file to start from, or check one.")


@site.command
def new(
    path: Path = Path("site.toml"),
    *,
    kind: str = "gas-plume",
    overwrite: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write a site file with every key explained.

    Parameters
    ----------
    path
        File to write.
    kind
        Kind of field: gas-plume, radiation, level, magnetic-dipole, or a benchmark field.
    overwrite
        Overwrite an existing file.
    """
    text = new_site(kind)
    require_writable(path)
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: give another name, or --overwrite.")
    replace_text(path, text)
    say(f"Wrote {path}: change it with any text editor, then `dowsax site check {path}`.")


@site.command
def check(
    path: Path,
    survey: Path | None = None,
    *,
    column: Annotated[list[str] | None, Parameter(negative="")] = None,
    row: Annotated[list[str] | None, Parameter(negative="")] = None,
) -> None:
    """Check a site file, and a survey of the site, and print what they say.

    Parameters
    ----------
    path
        Site file.
    survey
        CSV file of readings at this site. Default: none.
    column
        Column of the survey for a quantity, as in value=ch4; may be repeated.
    row
        Read only rows with this text in a column, as in event=3; may be repeated.
    """
    columns, rows = parse_pairs("--column", column), parse_pairs("--row", row)
    with waiting(f"Reading {path}"):
        place = read_site(path)
        readings = None if survey is None else _read_survey(survey, place, columns, rows)
        words = describe_site(place)
        unknown = describe_unknowns(place, () if readings is None else readings.quantities)
        fault = find_simulation_fault(Plan.of(place))
        words += [] if fault is None else [("to check", fault)]
        if place.map is not None and not (path.parent / place.map.file).is_file():
            words.append(("to check", f"{place.map.file} in [map] does not exist: check its path."))
    _print_words(f"Site {path}", words)
    _print_unknown(unknown)
    if readings is not None:
        _print_words(f"Survey {survey}", describe_survey(readings, place))
        _print_words(f"Columns of {survey}", describe_columns(readings, place))


def _read_survey(path: Path, site: Site, columns: Mapping[str, str], rows: Mapping[str, str]) -> Survey:
    """Return the survey, or raise a ValueError for readings that the sensor of the site cannot give."""
    survey = read_survey(path, site, columns, rows)
    try:
        sensor = build_model(site, survey.sensor_names or ("each",), survey.quantities).sensor
        check_survey(survey.positions, survey.values, sensor)
    except ValueError as error:
        raise ValueError(name_line(str(error), path, survey)) from None
    return survey


def _print_words(title: str, words: list[tuple[str, str]]) -> None:
    say(title)
    for heading, sentence in words:
        say(f"  {heading:<12}{sentence}")


def _print_unknown(unknown: list[tuple[str, str, str, str]]) -> None:
    say("Unknown beforehand")
    width = max(12, *(len(name) + 1 for name, *_ in unknown))
    for name, unit, meaning, distribution in unknown:
        described = f"{meaning} [{unit}]" if unit else meaning
        say(f"  {name:<{width}}{described}" + (f"; {distribution}" if distribution else ""))
