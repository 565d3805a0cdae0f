"""Kinds of field: those of the world, with its units, options and parameters."""

import pytest
from made_sites import site

from dowsax.site import build_model
from dowsax.site.kinds import KINDS, prior_parameters, world_unit
from dowsax.world import MODALITIES
from dowsax.world import kinds as world_kinds


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_a_model(kind):
    """A site that says nothing but area and kind has a prior on the area."""
    wind = "[wind]\nvelocity = [2.0, 0.0]\n" if KINDS[kind].among_buildings else ""
    parameters = build_model(site(wind, kind=kind)).prior.parameters
    assert [parameter.name for parameter in parameters[:2]] == ["x", "y"]
    facts = KINDS[kind]
    if kind in MODALITIES:
        assert facts.unit == MODALITIES[kind].unit
        return
    for unit in facts.units:
        physics = world_kinds.kind_of(kind, world_unit(unit))
        assert facts.uses_wind == (physics.windy or physics.among_obstacles)
        of_the_sensor = set() if facts.among_buildings else {"altitude"}
        of_the_sensor |= {"beam", "front_to_back"} if kind == "level" else set()
        assert set(facts.options) | of_the_sensor == set(physics.options)
        names = [parameter.name for parameter in physics.parameters]
        assert list(prior_parameters(kind, unit)) == names


def test_kinds_are_those_of_the_world():
    assert set(KINDS) == {*world_kinds.KINDS, *MODALITIES}
