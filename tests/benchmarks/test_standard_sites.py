"""The standard sites: their fence and tank are those with which their numbers were published."""

import dataclasses

import pytest

from benchmarks.site_stops import KINDS
from benchmarks.standard_sites import standard_site
from dowsax.site import new_site, parse_site

OWN = {"geofence", "no_go", "text"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_standard_site_is_a_new_site_with_a_fence_and_a_tank(kind):
    """The fence is the area; the tank takes 400 m² of 30,000 m²."""
    standard, new = parse_site(standard_site(kind)), parse_site(new_site(kind))
    for field in dataclasses.fields(standard):
        assert (field.name in OWN) or repr(getattr(standard, field.name)) == repr(getattr(new, field.name))
    (fence,), (tank,) = standard.geofence, standard.no_go
    assert (fence.min(axis=0).tolist(), fence.max(axis=0).tolist()) == ([0.0, 0.0], [200.0, 150.0])
    assert tank.tolist() == [[90.0, 60.0], [110.0, 60.0], [110.0, 80.0], [90.0, 80.0]]
    assert standard.allowed_share == pytest.approx(1 - 400 / 30_000)
