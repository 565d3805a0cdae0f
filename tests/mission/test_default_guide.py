"""Who advises where nobody has chosen: the best policy where it was trained for the site, else a planner."""

import pytest

from dowsax.mission.candidates import Reach, Steps
from dowsax.mission.geometry import Bounds
from dowsax.mission.guides import guide_for
from dowsax.policies.shipped import BEST, known
from dowsax.world import FOUR_MOVES, MODALITIES, benchmark_model

SQUARE, SMALL = (FOUR_MOVES.low, FOUR_MOVES.high), ((0.0, 0.0), (9.0, 9.0))


@pytest.mark.parametrize("field", MODALITIES)
def test_is_the_best_policy_at_the_benchmark(field):
    assert BEST in known()
    assert guide_for(benchmark_model(field), Reach(Bounds(), SQUARE, Steps(1.0, 4))).name == BEST


@pytest.mark.parametrize(("area", "steps"), [(SQUARE, Steps(2.0, 8)), (SMALL, Steps(1.0, 4))])
def test_is_a_planner_where_steps_or_area_are_others(area, steps):
    assert guide_for(benchmark_model("gas"), Reach(Bounds(), area, steps)).name == "infotaxis"
