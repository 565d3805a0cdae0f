"""Units: factors there and back, the spellings of loggers, and what no factor converts."""

import itertools

import pytest

from dowsax.site.units import UNITS, factor, known_unit


@pytest.mark.parametrize("dimension", UNITS)
def test_factors_are_inverse_and_chain(dimension):
    units = UNITS[dimension]
    for one, other in itertools.product(units, repeat=2):
        assert factor(one, other) * factor(other, one) == pytest.approx(1.0)
        assert all(
            factor(one, third) == pytest.approx(factor(one, other) * factor(other, third)) for third in units
        )


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        ("ppb", "ppm", 1e-3),
        ("g/m³", "mg/m³", 1e3),
        ("µT", "nT", 1e3),
        ("km/h", "m/s", 1 / 3.6),
        ("kn", "m/s", 0.514444),
        ("ft", "m", 0.3048),
        ("min", "s", 60.0),
        ("dBm", "dB", 1.0),
    ],
)
def test_known_factors(given, wanted, expected):
    assert factor(given, wanted) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("given", "wanted"), [("ppm", "mg/m³"), ("cps", "counts"), ("dBm", "dB(A)"), ("°C", "K"), ("?", "m")]
)
def test_no_factor_does_it(given, wanted):
    assert factor(given, wanted) is None


@pytest.mark.parametrize(
    ("spelling", "unit"),
    [
        ("PPM", "ppm"),
        ("ug/m3", "µg/m³"),
        ("μg/m³", "µg/m³"),
        ("uSv/h", "µSv/h"),
        ("dbA", "dB(A)"),
        ("kts", "kn"),
    ],
)
def test_spellings(spelling, unit):
    assert known_unit(spelling) == unit


def test_case_matters_where_both_are_units():
    assert (known_unit("mT"), known_unit("T"), known_unit("smoots")) == ("mT", "T", None)
