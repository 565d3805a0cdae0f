"""Step 3 of reading a survey, what else was measured with each reading: background, efficiency and so on.

What a column does not say, the site may know of the sensor.
"""

import re
from collections.abc import Callable, Collection
from functools import partial

import numpy as np

from dowsax.site.kinds import why_no_quantity
from dowsax.site.measured import QUANTITIES, READING_UNIT, quantity_fault, unit_of_quantity
from dowsax.site.site import Site
from dowsax.site.units import factor, known_unit
from dowsax.survey.columns import fits_role
from dowsax.survey.lint import POSITIVE_KINDS
from dowsax.survey.quantities import Sheet, read_optional

_PERCENT = re.compile(r"([0-9]{1,9}(?:[.,][0-9]{1,9})?)\s*%")
_MIN_BACKGROUND_SHARE = 0.5
"""Of its known background: a reading below it says that one of the two is wrong."""


def unused_quantities(
    site: Site | None, mapped: Collection[str], wanted: Collection[str] | None = None
) -> dict[str, str]:
    """Return the quantities that a survey is not read for, each with the reason.

    Without a site only those in `mapped` are read; `wanted` limits what is.
    """
    if site is None:
        return {name: "no site says what it is for" for name in QUANTITIES if name not in mapped}
    unused = {name: words for name in QUANTITIES if (words := site.why_unused(name)) is not None}
    for name in QUANTITIES:
        if wanted is not None and name not in wanted:
            unused.setdefault(name, "a mission uses only what its site file asks for with each reading")
    return unused


def note_unused(sheet: Sheet, unused: dict[str, str]) -> None:
    """Note columns that hold a quantity of which the site, though not its kind, has no use."""
    site = sheet.site
    if site is None:
        return
    for name, reason in unused.items():
        if why_no_quantity(site.kind, name) is not None and name != "uncertainty":
            continue
        for header in sheet.unused:
            if fits_role(name, header):
                sheet.notes.append(f"The column {header!r} was not used: {reason}.")


def read_quantities(
    sheet: Sheet, sensor: np.ndarray | None, sensor_names: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """Return the quantities (k,) by name: those of the file, and those that the site requires.

    They are NaN in rows that are to be left out, as their cell is empty and nothing stands in for it.
    """
    site, found = sheet.site, {}
    for name in QUANTITIES:
        is_required = site is not None and name in site.required_quantities
        if name not in sheet.columns and not is_required:
            continue
        known = None if site is None else _known_of_sensors(sheet, site, name, sensor, sensor_names)
        unit = "" if site is None else known_unit(site.unit) or site.unit
        fault: Callable[[float], str | None] = partial(quantity_fault, name, reading_unit=unit)
        _refuse_percent(sheet, name)
        numbers = read_optional(sheet, name, known, fault, _scale(sheet, name), leaves_out=True)
        is_column = name in sheet.columns and not sheet.missing(name).all()
        if numbers is None or (np.isnan(numbers).any() and not is_column):
            if is_required:
                raise ValueError(_missing(sheet, name, sensor))
            continue
        found[name] = numbers
        sheet.notes.append(_note(sheet, name, numbers))
    return found


def _known_of_sensors(
    sheet: Sheet, site: Site, name: str, sensor: np.ndarray | None, names: tuple[str, ...]
) -> np.ndarray | None:
    """Return what the site knows of the sensor of each reading (k,), NaN where that is nothing."""
    default = QUANTITIES[name].default
    if sensor is None and len(names) == 1:
        sensor = np.zeros(len(sheet.rows.lines), int)
    if sensor is None:
        has_own = any(name in constants for constants in site.sensors.values())
        return None if has_own else sheet.fill(default)
    usual = np.nan if default is None else default
    of_each = np.array([site.sensors.get(one, {}).get(name, usual) for one in names])
    return of_each[sensor]


def _refuse_percent(sheet: Sheet, name: str) -> None:
    """Raise a ValueError for a plain number that is written in percent."""
    if name not in sheet.columns or QUANTITIES[name].unit != "":
        return
    for row, cell in enumerate(sheet.cells(name)):
        percent = _PERCENT.fullmatch(cell.strip())
        if percent is not None:
            share = float(percent[1].replace(",", ".")) / 100
            raise ValueError(
                f"{sheet.where(name, row)}: {cell.strip()!r} is no plain number; write {share:g}, or leave "
                "the sign out and put the unit (%) into the header."
            )


def _scale(sheet: Sheet, name: str) -> float:
    """Return the factor from the unit of a column to that of the site."""
    column, site = sheet.columns.get(name), sheet.site
    if column is None or site is None or QUANTITIES[name].unit not in (READING_UNIT, ""):
        return 1.0
    wanted = unit_of_quantity(name, known_unit(site.unit) or site.unit)
    spelling = column.unit
    if spelling is None and wanted == site.unit:
        # A column without a unit beside a value with one has the same.
        spelling = sheet.columns["value"].unit
    if spelling is None or not site.unit:
        return 1.0
    given = known_unit(spelling)
    if QUANTITIES[name].unit == "":
        scale = 0.01 if given == "vol%" else None
    else:
        scale = None if given is None else factor(given, wanted)
    if scale is None:
        raise ValueError(
            f"{sheet.header}, column {column.header!r}: the unit {spelling!r} of the {name} does not become "
            f"{wanted or 'a plain number'} by a factor; convert the column, or correct its header."
        )
    return scale


def _missing(sheet: Sheet, name: str, sensor: np.ndarray | None) -> str:
    """Return the error for a quantity that the site requires."""
    site = sheet.site
    assert site is not None
    if sensor is None and any(name in constants for constants in site.sensors.values()):
        return (
            f"{sheet.header}: the site knows the {name} of each sensor, and no column says which it was; "
            f"add a column sensor, or a column {name}."
        )
    return (
        f"{sheet.header}: no {name} of each reading, which the site asks for; add a column {name}, name it "
        "under [columns], or give it for every sensor in [sensors] of the site file."
    )


def _note(sheet: Sheet, name: str, numbers: np.ndarray) -> str:
    """Return a sentence that says what was used."""
    column, site, low, high = sheet.columns.get(name), sheet.site, np.nanmin(numbers), np.nanmax(numbers)
    origin = "from the site file, by its sensor" if column is None else f"from the column {column.header!r}"
    unit = "" if site is None else unit_of_quantity(name, known_unit(site.unit) or site.unit)
    span = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
    return f"The {name} of each reading is known, {origin}: {f'{span} {unit}'.strip()}."


def lint_background(
    site: Site, values: np.ndarray, dwell: np.ndarray | None, background: np.ndarray | None
) -> list[str]:
    """Return a question where readings are far below their known background."""
    if background is None or site.kind not in POSITIVE_KINDS:
        return []
    expected = background if dwell is None or site.kind != "radiation" else background * dwell
    # Beyond the noise of the counts.
    noise = 4 * np.sqrt(expected) if site.kind == "radiation" else 0.0
    low = int(np.sum(values + noise < _MIN_BACKGROUND_SHARE * expected))
    if low == 0:
        return []
    count = "1 reading is below half of its" if low == 1 else f"{low} readings are below half of their"
    unit = "counts per second" if site.kind == "radiation" else site.unit
    return [f"{count} known background: check whether that is in {unit}, as it is taken to be."]
