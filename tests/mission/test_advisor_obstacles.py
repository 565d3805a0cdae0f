"""A mission around obstacles: what the advice says of the way, and what the budget counts."""

import numpy as np
import pytest
from made_missions import FENCE, MODEL, SIDE, hill_site, read

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Bounds
from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.checks import NeedsConfirmation, require_plausible_place
from dowsax.mission.messages import answer
from dowsax.site.obstacles import Obstacle
from dowsax.site.schema import Budget, StepSetting
from dowsax.survey.reading import Reading

WALL = np.array([[4.0, -1.0], [6.0, -1.0], [6.0, 12.0], [4.0, 12.0]])
HERE, BEHIND = (2.0, 2.0), (8.0, 2.0)
BOUNDS = Bounds((FENCE,), (), (WALL,), ((0.0, 0.0), (SIDE, SIDE)))
WAY = [HERE, (4.0, 12.0), (6.0, 12.0), BEHIND]
LENGTH = 2 + 2 * 104**0.5
"""[m], up to the end of the wall, over it and down again."""


def advisor(**changes):
    """One may read on both sides of a wall, at two places."""
    points = [BEHIND, (2.5, 2.0)]
    parts = {"step": StepSetting(points=points), "no_go": (), "obstacles": (Obstacle(WALL, "wall"),)}
    return Advisor(hill_site(**(parts | changes)), "infotaxis", seed=4, model=MODEL, warm_up=False)


@pytest.fixture(scope="module")
def mission():
    one = advisor(step=StepSetting(points=[BEHIND]), coordinates=LocalCoordinates((52.1, 5.1)))
    return one, one.observe(HERE, read(0, HERE), time=0.0)


def test_advice_says_the_way_around(mission):
    one, advice = mission
    assert advice.next_position == BEHIND
    assert advice.next_way == ((4.0, 12.0), (6.0, 12.0))
    assert advice.distance == pytest.approx(LENGTH) == pytest.approx(BOUNDS.way_lengths(HERE, [BEHIND])[0])
    assert advice.bearing == pytest.approx(np.degrees(np.arctan2(2, 10)))
    assert "Next: 22.4 m around what is in the way, first to the north-northeast, by " in advice.why
    assert Advice.from_json(advice.to_json()) == advice
    message = advice.message(one.plan.coordinates)
    assert message["next_way"] == ((4.0, 12.0), (6.0, 12.0))
    degrees = [(corner["latitude"], corner["longitude"]) for corner in message["degrees"]["next_way"]]
    metres = one.plan.coordinates.to_metres(*np.transpose(degrees))
    np.testing.assert_allclose(metres, message["next_way"], atol=1e-3)


def test_the_distance_walked_goes_around(mission):
    one, _ = mission
    one.observe(BEHIND, read(1, BEHIND), time=60.0)
    assert one.state.measures(one.plan)["path_length"] == pytest.approx(LENGTH)


def test_a_straight_way_has_no_corners():
    advice = advisor(obstacles=()).observe(HERE, read(0, HERE), time=0.0)
    assert advice.next_way == ()
    assert "next_way" not in advice.to_json()


@pytest.mark.parametrize(("distance", "goes"), [(LENGTH - 0.1, False), (LENGTH + 0.1, True)])
def test_a_budget_for_the_straight_way_alone_is_too_small(distance, goes):
    one = advisor(step=StepSetting(points=[BEHIND]), budget=Budget(readings=40, distance=distance))
    assert (one.observe(HERE, read(0, HERE), time=0.0).next_position is not None) == goes


def test_a_reading_in_an_opaque_obstacle_waits_for_confirmation():
    """It does not count until it is confirmed, and is warned of then."""
    one, inside = advisor(), '"x": 5.0, "y": 5.0, "value": 0.3'
    asked = answer(one, f"{{{inside}}}")
    assert asked["confirm"] is False
    assert asked["error"].startswith("The position (5, 5) m is in the opaque obstacle 'wall': check it")
    assert one.readings == ()
    confirmed = answer(one, f'{{{inside}, "confirm": true}}')
    assert any("in an obstacle" in warning for warning in confirmed["warnings"])
    assert len(one.readings) == 1
    # Nor may a correction move a reading there.
    assert answer(one, '{"x": 2.0, "y": 2.0, "value": 0.3}')["number"] == 2
    assert answer(one, '{"correct": true, "number": 2, "x": 5.0, "y": 6.0}')["confirm"] is False


def test_a_reading_in_an_obstacle_that_lets_something_through_counts():
    one = advisor(obstacles=(Obstacle(WALL, "hedge", 0.1),))
    assert any("in an obstacle" in warning for warning in one.observe((5.0, 5.0), 0.3).warnings)


def test_what_a_sensor_above_an_obstacle_reads_counts():
    one = advisor(obstacles=(Obstacle(WALL, "shed", height=3.0),))
    require_plausible_place(one.plan, Reading((5.0, 5.0), 0.3, altitude=4.0))
    with pytest.raises(NeedsConfirmation, match="in the opaque obstacle 'shed'"):
        require_plausible_place(one.plan, Reading((5.0, 5.0), 0.3, altitude=2.0))
