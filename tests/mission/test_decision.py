"""The status of a mission, and its reasons."""

import math
from dataclasses import replace

import numpy as np
import pytest
from made_missions import MODEL, hill_site

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Bounds
from dowsax.mission.advice import (
    FOUND,
    INCONCLUSIVE,
    SEARCHING,
)
from dowsax.mission.advisor import Advisor
from dowsax.mission.decision import (
    BudgetUse,
    StatusInputs,
    budget_left,
    check_heights,
    check_stuck_sensor,
    describe_redundancy,
    explain_status,
    status_of,
)
from dowsax.mission.plan import Plan
from dowsax.site.schema import Budget
from dowsax.survey.reading import Reading
from dowsax.world import Jump


def advisor(**changes):
    return Advisor(hill_site(**changes), "infotaxis", seed=4, model=MODEL, warm_up=False)


def test_status_follows_the_belief():
    """Found by the credible rule; a misfit, a likely nothing or weak evidence is never found."""
    plan = advisor().plan
    spent = BudgetUse(5, 10.0, 5.0)
    sure = StatusInputs(((3.0, 4.0),), 1.0, 0.96, 0.5, 10.0)
    assert status_of(plan, spent, sure) == FOUND
    assert status_of(plan, spent, sure._replace(mass=0.94)) == SEARCHING
    assert status_of(plan, spent, sure._replace(fit=0.001)) == SEARCHING
    assert status_of(plan, spent, sure._replace(evidence=None)) == FOUND
    assert status_of(plan, spent, sure._replace(evidence=math.log(101))) == FOUND
    weak = sure._replace(evidence=math.log(99))
    assert status_of(plan, spent, weak) == SEARCHING
    assert "do not show yet that there is" in explain_status(plan, spent, weak, SEARCHING, None)
    ended = explain_status(plan, BudgetUse(40, 10.0, 5.0), weak, INCONCLUSIVE, None)
    assert ended.endswith(
        "if there is one: the readings are only 99 times likelier with a source than without."
    )
    nothing = sure._replace(mass=0.1, evidence=-math.log(101))
    assert status_of(plan, spent, nothing) == INCONCLUSIVE
    assert "times likelier without" in explain_status(plan, spent, nothing, INCONCLUSIVE, None)
    assert status_of(plan, spent, nothing._replace(evidence=-math.log(99))) == SEARCHING
    assert status_of(plan, BudgetUse(40, 10.0, 5.0), sure) == FOUND


@pytest.mark.parametrize(
    ("budget", "used", "left"),
    [
        (Budget(distance=2000.0, readings=100), BudgetUse(50, 1500.0, None), (50, 500.0, math.inf)),
        (Budget(time=1000.0), BudgetUse(50, 200.0, 400.0), (math.inf, math.inf, 600.0)),
        # Without times it is not known what is left.
        (Budget(time=1000.0), BudgetUse(50, 200.0, None), (math.inf, math.inf, math.inf)),
        (Budget(distance=100.0, readings=9), BudgetUse(10, 101.0, None), (0, 0.0, math.inf)),
    ],
)
def test_what_is_left_of_the_budget(budget, used, left):
    found = budget_left(replace(advisor().plan, budget=budget), used)
    numbers = [float(found.readings), float(found.distance), float(found.time)]
    assert numbers == pytest.approx(left, abs=0.011)


def test_nothing_is_found_where_the_model_does_not_fit_also_where_the_source_may_move():
    plan, spent = advisor().plan, BudgetUse(5, 10.0, 5.0)
    sure = StatusInputs(((3.0, 4.0),), 1.0, 0.96, 1.0, 10.0)
    for one in (plan, replace(plan, jump=Jump())):
        assert status_of(one, spent, sure) == FOUND
        assert status_of(one, spent, sure._replace(fit=0.009)) == SEARCHING


def test_nothing_is_found_with_excess_noise():
    plan, spent = advisor().plan, BudgetUse(5, 10.0, 5.0)
    loud = StatusInputs(((3.0, 4.0),), 1.0, 0.96, 1.0, 10.0, excess_noise="The readings scatter far more.")
    assert status_of(plan, spent, loud) == SEARCHING
    assert "Nothing is found with so much noise" in explain_status(plan, spent, loud, SEARCHING, None)
    over = BudgetUse(40, 10.0, 5.0)
    assert status_of(plan, over, loud) == INCONCLUSIVE
    words = explain_status(plan, over, loud, INCONCLUSIVE, None)
    assert words.startswith("Inconclusive: the 40 readings of the budget are taken; as it stands, with 95 %")


def test_readings_that_err_together_are_reported():
    assert describe_redundancy(1.0) is None
    assert "about 1.8 of them count as one" in (describe_redundancy(1.8) or "")


def test_reasons_give_odds_and_places():
    """Metres, or degrees where the site has them; a belief without a doubt is not a probability of one."""
    plan = advisor().plan
    there = replace(plan, coordinates=LocalCoordinates((52.1, 5.1)))
    spent, sure = BudgetUse(5, 10.0, 5.0), StatusInputs(((3.04, 4.0),), 1.0, 0.96, 0.5, 10.0)
    text = explain_status(plan, spent, sure, FOUND, None)
    assert text.startswith("Found: the odds are about 24 to 1 that the source is within 1.5 m of (3, 4) m; ")
    text = explain_status(there, spent, sure._replace(mass=1.0), FOUND, None)
    assert "the odds are more than 1,000 to 1 that" in text
    assert "1.5 m of (3, 4) m, 52.100036° N, 5.100044° E; " in text
    text = explain_status(there, spent, sure._replace(mass=0.1), SEARCHING, None)
    assert "within 1 m of (3, 4) m, 52.100036° N, 5.100044° E, where 1.5 m is wanted" in text
    text = explain_status(
        plan, BudgetUse(40, 10.0, 5.0), sure._replace(mass=0.1, evidence=0.5), INCONCLUSIVE, None
    )
    assert text.endswith("budget are taken, and the readings do not show that there is a source.")
    assert "less than 1 time in 1,000" in explain_status(
        plan, spent, sure._replace(fit=1e-5), SEARCHING, None
    )


def test_distance_and_time_are_those_of_the_way_in_time():
    readings = [
        Reading((0.0, 0.0), 1.0, time=0.0),
        Reading((6.0, 0.0), 1.0, time=9.0),
        Reading((3.0, 4.0), 1.0, time=5.0),
    ]
    assert BudgetUse.of(None, readings) == BudgetUse(3, 10.0, 9.0)
    assert BudgetUse.of((0.0, -1.0), readings).distance == 11.0


def test_distance_goes_around_what_is_in_the_way():
    """From 3 m before a wall by its corners to 3 m behind it; into the wall and out of it is straight."""
    wall = np.array([[0.0, -4.0], [2.0, -4.0], [2.0, 9.0], [0.0, 9.0]])
    bounds = Bounds(obstacles=(wall,))
    places = [(-3.0, 0.0), (5.0, 0.0), (1.0, 0.0), (1.0, 20.0)]
    readings = [Reading(place, 1.0, time=float(time)) for time, place in enumerate(places)]
    assert BudgetUse.of(None, readings[:2], bounds).distance == pytest.approx(5 + 2 + 5)
    assert BudgetUse.of(None, readings, bounds).distance == pytest.approx(12 + 4 + 20)
    assert BudgetUse.of(None, readings, Bounds()) == BudgetUse.of(None, readings)


def test_readings_on_the_way_are_none_of_the_budgets():
    """They count as way and as time."""
    readings = [Reading((float(x), 0.0), 1.0, time=2.0 * x, moving=x % 3 > 0) for x in range(7)]
    assert BudgetUse.of(None, readings) == BudgetUse(3, 6.0, 12.0)


def test_heights_above_the_sea_are_asked_about():
    """Where heights matter to the field, and all readings are higher than anybody flies."""
    plan = advisor().plan
    high = [Reading((0.0, 0.0), 1.0, altitude=height) for height in (351.0, 354.0)]
    matters = replace(plan, stations=replace(plan.stations, names=("altitude",)))
    assert "are 351 to 354 m above ground: if that is above the sea" in check_heights(matters, high)
    assert check_heights(plan, high) is None
    assert check_heights(matters, [*high, Reading((0.0, 0.0), 1.0, altitude=12.0)]) is None
    assert check_heights(matters, [Reading((0.0, 0.0), 1.0)]) is None


def test_hits_in_a_row_are_no_stuck_sensor():
    """Ten equal values are asked about; ten hits are what a plume gives."""
    readings, plan = [Reading((1.0, 1.0), 1.0)] * 10, Plan.of(hill_site(), MODEL)
    assert check_stuck_sensor(plan, readings[1:]) is None
    assert "read 1 10 times in a row" in (check_stuck_sensor(plan, readings) or "")
    assert check_stuck_sensor(replace(plan, reading="binary"), readings) is None
