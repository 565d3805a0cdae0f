"""What may be measured with each reading, or known of each sensor, besides place, value, time and wind.

One entry here, and a field of the same name in `Station`, are what columns of surveys, keys of live readings,
`[sensors]` and `[columns]` of the site file, logs, exports and the console need. What a model makes of it is
in `world.compose`; when a site uses it is in `site.site`.
"""

import math
from dataclasses import dataclass

from dowsax.world.units import spread_unit

READING_UNIT = "unit of the readings"
"""Stands for the unit of the site; of counts, it is counts per second."""


@dataclass(frozen=True)
class Quantity:
    """One number of a reading."""

    meaning: str
    unit: str
    """One of `site.units`, `READING_UNIT`, or nothing for a plain number."""
    aliases: str
    """Further names that loggers use."""
    example: float
    low: float = -math.inf
    high: float = math.inf
    excludes_low: bool = False
    default: float | None = None
    """Where neither the reading nor its sensor has one; `None` where it must be given."""


QUANTITIES: dict[str, Quantity] = {
    "background": Quantity(
        "what this sensor reads there without a source",
        READING_UNIT,
        "bg bkg bkgd bgd baseline background_level background_rate bg_rate",
        example=12.0,
    ),
    "efficiency": Quantity(
        "what this sensor reads of a source, relative to the sensor of the site",
        "",
        "eff relative_efficiency rel_eff sensitivity relative_sensitivity",
        example=1.2,
        low=0.0,
        excludes_low=True,
        default=1.0,
    ),
    "uncertainty": Quantity(
        "standard deviation of this reading, beyond the noise floor",
        READING_UNIT,
        "sigma value_std reading_std std_error standard_error stderr value_uncertainty",
        example=0.1,
        low=0.0,
        default=0.0,
    ),
    "heading": Quantity(
        "where the antenna points, clockwise from north",
        "deg",
        "antenna_heading antenna_azimuth azimuth antenna_bearing bearing boresight compass_heading yaw",
        example=90.0,
        low=-360.0,
        high=360.0,
    ),
}


def unit_of_quantity(name: str, reading_unit: str) -> str:
    """Return the unit of a quantity at a site whose readings have this unit."""
    unit = QUANTITIES[name].unit
    if unit != READING_UNIT:
        return unit
    if name == "uncertainty":
        return spread_unit(reading_unit)
    return "cps" if reading_unit == "counts" else reading_unit


def quantity_fault(name: str, number: float, reading_unit: str) -> str | None:
    """Return what is wrong with a number, to follow its name; `None` where nothing is."""
    quantity = QUANTITIES[name]
    # Counts are never negative.
    low = 0.0 if name == "background" and reading_unit == "counts" else quantity.low
    if number < low or (quantity.excludes_low and number == low):
        return f"must be {'>' if quantity.excludes_low else '>='} {low:g}; got {number:g}."
    return f"must be <= {quantity.high:g}; got {number:g}." if number > quantity.high else None
