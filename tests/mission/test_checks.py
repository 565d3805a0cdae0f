"""Checks of a new reading: implausible values need confirmation, each warning is given once."""

import numpy as np
import pytest
from made_missions import MODEL, hill_site

from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.checks import NeedsConfirmation, require_plausible
from dowsax.mission.log import MissionLog
from dowsax.survey.reading import Reading


def reading(value, **more):
    return Reading((0.0, 0.0), value, **more)


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (1.1e6, "ppm", "more than the 1e\\+06 ppm of a pure gas"),
        (1.1e9, "ppb", "more than the 1e\\+09 ppb of a pure gas"),
        (101.0, "vol%", "more than the 100 vol% of a pure gas"),
        (5e6, "ppmv", "of a pure gas"),
    ],
)
def test_more_than_a_pure_gas_is_asked_about(value, unit, words):
    with pytest.raises(NeedsConfirmation, match=words):
        require_plausible(reading(value), (), unit)
    require_plausible(reading(value / 1e3), (), unit)


def test_a_dwell_of_more_than_a_day_is_asked_about():
    with pytest.raises(NeedsConfirmation, match=r"`dwell` is 1e\+15 s, more than a day"):
        require_plausible(reading(5.0, dwell=1e15), (), "counts")
    require_plausible(reading(5.0, dwell=80_000.0), (), "counts")


def test_a_jump_by_a_factor_that_no_sensor_makes_is_asked_about():
    """Compared with the largest of the same sensor; zeros say nothing, and neither does a rise by steps."""
    before = [reading(2.0), reading(0.0), reading(-3.0)]
    with pytest.raises(
        NeedsConfirmation, match=r"`value` is 4e\+09 nT, 1e\+09 times the largest reading so far"
    ):
        require_plausible(reading(4e9), before, "nT")
    with pytest.raises(NeedsConfirmation):
        require_plausible(reading(-4e9), before, "nT")
    require_plausible(reading(2e6), before, "nT")
    require_plausible(reading(4e9), (), "nT")
    require_plausible(reading(4e9), [reading(0.0)], "nT")
    require_plausible(reading(4e9), [*before, reading(1e5)], "nT")
    require_plausible(reading(4e9, sensor="B"), before, "nT")
    require_plausible(reading(4e9, searcher="ben"), before, "nT")


def test_levels_are_compared_by_their_difference():
    before = [reading(-60.0), reading(-40.0)]
    with pytest.raises(NeedsConfirmation, match=r"200 dBm and more from all before"):
        require_plausible(reading(300.0), before, "dBm")
    with pytest.raises(NeedsConfirmation):
        require_plausible(reading(-300.0), before, "dB")
    require_plausible(reading(50.0), before, "dB(A)")


def advisor(**changes):
    log = changes.pop("log", None)
    return Advisor(hill_site(**changes), "infotaxis", seed=4, log=log, model=MODEL, warm_up=False)


def test_readings_in_a_no_go_area_count_and_are_warned_of_when_one_enters_it(tmp_path):
    """Not again while one is there, and again when one comes back; the log keeps it with the advice."""
    one = advisor(log=tmp_path / "mission.log")
    places = [(2.0, 2.0), (8.0, 8.0), (9.0, 9.0), (12.0, 12.0), (10.0, 10.0), (11.0, 9.0)]
    warned = [one.observe(place, 0.2).warnings for place in places]
    assert [len(warnings) for warnings in warned] == [0, 1, 0, 0, 1, 0]
    assert warned[1][0].startswith("The reading was taken in a no-go area. It is used")
    assert len(one.readings) == len(places)
    with MissionLog.open(one._log.path) as log:
        kept = [Advice.from_json(entry.advice).warnings for entry in log.steps()]
    assert kept == warned
    one.close()


def test_readings_outside_the_geofence_are_warned_of():
    fence = np.array([[0.0, 0.0], [12.0, 0.0], [12.0, 20.0], [0.0, 20.0]])
    one = advisor(geofence=(fence,), no_go=())
    assert one.observe((12.0, 3.0), 0.2).warnings == ()
    (warned,) = one.observe((15.0, 3.0), 0.2).warnings
    assert "outside the geofence" in warned


def test_ranks_may_have_any_value():
    """An increasing function of the readings is as good as the readings: no factor and no number is odd."""
    before = [reading(2.0), reading(0.0), reading(-3.0)]
    require_plausible(reading(4e9), before, "", "rank")
    with pytest.raises(NeedsConfirmation, match="more than a day"):
        require_plausible(reading(4e9, dwell=1e15), before, "", "rank")
