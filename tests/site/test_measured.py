"""Quantities that are measured along with a reading: their units."""

import pytest

from dowsax.site.measured import unit_of_quantity


@pytest.mark.parametrize(
    ("name", "reading_unit", "unit"),
    [
        ("uncertainty", "dBm", "dB"),
        ("uncertainty", "ppm", "ppm"),
        ("background", "dBm", "dBm"),
        ("background", "counts", "cps"),
        ("heading", "dBm", "deg"),
    ],
)
def test_the_unit_of_a_quantity(name, reading_unit, unit):
    """A standard deviation of levels is in decibels, whatever they are levels over."""
    assert unit_of_quantity(name, reading_unit) == unit
