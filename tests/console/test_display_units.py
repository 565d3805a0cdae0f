"""Units of the page, against numbers that others have published."""

import pytest

from dowsax.console.display_units import display_units


def sizes(unit, gas=None):
    return {
        name: {item["name"]: item["size"] for item in units}
        for name, units in display_units(unit, gas).items()
    }


def test_lengths_and_speeds_are_those_of_the_international_yard_and_mile():
    """A foot has 0.3048 m and a mile 1609.344 m (1959); a knot is 1852 m an hour."""
    units = sizes("K")
    assert units["length"] == {"m": 1.0, "ft": pytest.approx(0.3048, rel=1e-12)}
    speeds = {"m/s": 1.0, "kn": pytest.approx(0.514444, rel=1e-6), "mph": pytest.approx(0.44704, rel=1e-12)}
    assert units["speed"] == speeds
    assert units["value"] == {"K": 1.0}


@pytest.mark.parametrize(
    ("gas", "milligrams"),
    # 1 ppm at 15 °C and 1 atm: molar mass / 23.645 L/mol.
    [("methane", 0.6785), ("carbon monoxide", 1.1845), ("hydrogen sulfide", 1.4414), (28.97, 1.2252)],
)
def test_a_known_gas_is_shown_by_volume_and_by_mass(gas, milligrams):
    units = sizes("ppm", gas)["value"]
    assert list(units) == ["ppm", "ppb", "mg/m³"]
    assert units["ppb"] == pytest.approx(1e-3, rel=1e-12)
    assert 1 / units["mg/m³"] == pytest.approx(milligrams, rel=2e-4)
    back = sizes("mg/m³", gas)["value"]
    assert back["ppm"] == pytest.approx(milligrams, rel=2e-4)
    assert back["ppm"] * units["mg/m³"] == pytest.approx(1.0, rel=1e-12)


def test_the_unit_of_the_site_is_first_however_it_is_spelt():
    assert list(sizes("mg/m3", "methane")["value"]) == ["mg/m3", "ppm", "ppb"]
    assert next(iter(sizes("ppmv", "methane")["value"])) == "ppmv"


def test_without_the_gas_no_volume_is_a_mass():
    assert list(sizes("ppm")["value"]) == ["ppm", "ppb"]
    assert list(sizes("mg/m³")["value"]) == ["mg/m³"]
