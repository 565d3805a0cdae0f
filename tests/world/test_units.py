"""Units of concentration, against numbers from tables."""

import pytest

from dowsax.world.units import per_gram, spread_unit


@pytest.mark.parametrize(("unit", "factor"), [("g/m3", 1), ("mg/m³", 1e3), ("µg/m3", 1e6), ("kg/m3", 1e-3)])
def test_masses(unit, factor):
    assert per_gram(unit) == factor


@pytest.mark.parametrize(
    ("unit", "spread"), [("dBm", "dB"), ("dB(A)", "dB"), ("dB", "dB"), ("ppm", "ppm"), ("", "")]
)
def test_levels_spread_by_decibels(unit, spread):
    assert spread_unit(unit) == spread


def test_shares_depend_on_the_gas():
    """At 15 °C one ppm of methane is 0.678 mg/m³, and of sulfur dioxide 2.71."""
    assert 1e3 / per_gram("ppm", "methane") == pytest.approx(0.678, abs=5e-4)
    assert 1e3 / per_gram("ppm", 64.066) == pytest.approx(2.71, abs=5e-3)
    assert per_gram("ppb", "methane") == pytest.approx(1e3 * per_gram("ppm", "methane"))
    assert per_gram("ppm") is None
    assert per_gram("volts", "methane") is None


@pytest.mark.parametrize("gas", ["phlogiston", -1.0])
def test_refuses_what_is_no_gas(gas):
    with pytest.raises(ValueError, match="gas"):
        per_gram("ppm", gas)
