"""Problems drawn at random: one family shares a program, and no site is one of those of the tables."""

import pytest

from benchmarks.drawn_problems import SQUARE, DrawConfig, draw_family, draw_site
from benchmarks.random_sites import KINDS, NUM_SITES
from benchmarks.random_sites import draw_site as draw_test_site
from dowsax.learn.stacked import StackedProblems
from dowsax.site import parse_site
from dowsax.world import MODALITIES

CONFIG = DrawConfig(problems=4, particles=16, max_readings=100)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("kind", ["magnetic-dipole", "radiation", "level", "gas-plume"])
def test_a_family_shares_one_program(kind):
    problems = draw_family(kind, CONFIG)
    stacked = StackedProblems.of(problems)
    assert stacked.number == len(problems) == 4
    assert len({problem.actions.high for problem in problems}) == 4
    assert {problem.preset.config.num_particles for problem in problems} == {16}


@pytest.mark.parametrize("kind", KINDS)
def test_sites_are_drawn_again_by_their_number_and_are_no_test_sites(kind):
    tests = [parse_site(draw_test_site(number), "test.toml") for number in range(NUM_SITES)]
    areas = {site.area for site in tests}
    for number in range(6):
        site = draw_site(kind, number, CONFIG)
        assert site.area == draw_site(kind, number, CONFIG).area
        assert site.area not in areas
        assert site.bounds.allow([site.start])[0]
        areas.add(site.area)


def test_the_square_has_the_seven_fields():
    assert len(draw_family(SQUARE, CONFIG)) == len(MODALITIES)
