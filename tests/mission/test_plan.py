"""How many particles a search at a site has, and which models it takes."""

import equinox as eqx
import pytest

from dowsax.inference import PRESETS
from dowsax.mission.plan import Plan
from dowsax.site import parse_site
from dowsax.world import PlumePrior, benchmark_model

SITE = '[area]\nlow = [0.0, 0.0]\nhigh = [50.0, 40.0]\n[field]\nkind = "{}"\n'


def test_a_search_has_the_particles_of_the_site_then_of_the_kind_then_of_the_preset():
    def particles(kind: str, more: str = "") -> int:
        return Plan.of(parse_site(SITE.format(kind) + more, "site.toml")).preset.config.num_particles

    assert particles("level") == PRESETS["survey"].config.num_particles
    assert particles("magnetic-dipole") == 4096
    assert particles("magnetic-dipole", "[search]\nparticles = 64\n") == 64
    assert particles("magnetic-dipole", '[search]\npreset = "default"\n') == 4096


class Swapped(PlumePrior):
    """A prior that calls other columns the position."""

    @property
    def position_columns(self) -> tuple[int, ...]:
        return (1, 0)


def test_a_mission_refuses_a_model_whose_position_is_elsewhere():
    site, model = parse_site(SITE.format("gas"), "site.toml"), benchmark_model("gas")
    other = eqx.tree_at(lambda at: at.prior, model, Swapped())
    Plan.of(site, model)
    with pytest.raises(ValueError, match="first two parameters are the position"):
        Plan.of(site, other)


def test_more_searchers_have_the_numbers_that_are_free():
    team = '[[searcher]]\nname = "drone"\n[[searcher]]\nname = "3"\n'
    plan = Plan.of(parse_site(SITE.format("level") + team, "site.toml"))
    assert list(plan.with_searchers(3).searchers) == ["drone", "3", "4"]
    assert list(plan.with_searchers(4).searchers) == ["drone", "3", "4", "5"]
    assert list(plan.with_searchers(1).searchers) == []
