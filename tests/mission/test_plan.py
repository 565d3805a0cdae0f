"""How many particles a search at a site has."""

from dowsax.inference import PRESETS
from dowsax.mission.plan import Plan
from dowsax.site import parse_site

SITE = '[area]\nlow = [0.0, 0.0]\nhigh = [50.0, 40.0]\n[field]\nkind = "{}"\n'


def test_a_search_has_the_particles_of_the_site_then_of_the_kind_then_of_the_preset():
    def particles(kind: str, more: str = "") -> int:
        return Plan.of(parse_site(SITE.format(kind) + more, "site.toml")).preset.config.num_particles

    assert particles("level") == PRESETS["survey"].config.num_particles
    assert particles("magnetic-dipole") == 4096
    assert particles("magnetic-dipole", "[search]\nparticles = 64\n") == 64
    assert particles("magnetic-dipole", '[search]\npreset = "default"\n') == 4096
