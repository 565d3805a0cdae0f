"""Live readings with what else was measured: used, written down, corrected, exported, and asked for."""

import json

import numpy as np
import pytest

from dowsax.mission.advisor import Advisor
from dowsax.mission.history import History
from dowsax.mission.log import MissionLog
from dowsax.mission.messages import answer
from dowsax.mission.plan import Plan
from dowsax.mission.problem import build_problem
from dowsax.report.export import log_table
from dowsax.site import parse_site
from dowsax.survey import read_survey
from dowsax.survey.reading import Refused

SITE = """
area = {low = [0, 0], high = [40, 40]}
field = {kind = "radiation"}
budget = {readings = 9}
noise = {ratio = 0, shielded = 0}
search = {preset = "default", particles = 64}
"""
KNOWN = f"{SITE}background = {{value = 9.5, variation = 0}}\n"
MEASURED = f'{SITE}background = {{mode = "measured", variation = 0}}\n'
PLACES = [(5.0, 5.0), (20.0, 8.0), (30.0, 30.0)]


def advisor(text, log=None):
    return Advisor(parse_site(text), "greedy", seed=4, log=log, warm_up=False)


def sent(one, place, value, **others):
    return answer(one, json.dumps({"x": place[0], "y": place[1], "value": value, **others}))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A mission whose readings have their background, by names that loggers use; and its log."""
    path = tmp_path_factory.mktemp("mission") / "mission.log"
    one = advisor(MEASURED, path)
    for number, place in enumerate(PLACES):
        key = ("background", "bg_cpm", "bkg (cps)")[number]
        body = sent(one, place, 12.0, id=str(number), **{key: 570.0 if key == "bg_cpm" else 9.5})
        assert "error" not in body
    yield one, path
    one.close()


def test_a_measured_background_is_as_one_that_the_site_knows(measured):
    """The belief is that of the mission at a site which has it."""
    known = advisor(KNOWN)
    for place in PLACES:
        known.observe(place, 12.0)
    np.testing.assert_allclose(
        measured[0].belief.log_evidence, known.belief.log_evidence, rtol=1e-5, err_msg="evidence"
    )
    np.testing.assert_allclose(measured[0].belief.particles, known.belief.particles, rtol=1e-4)


def test_a_log_and_a_table_have_what_was_measured(measured, tmp_path):
    """Read again, they are the same readings."""
    one, path = measured
    assert [reading.quantities for reading in one.readings] == [{"background": 9.5}] * 3
    with MissionLog.open(path) as log:
        steps = list(log.steps())
    assert History.of(steps).readings() == one.readings
    table = tmp_path / "table.csv"
    table.write_text(log_table(steps, parse_site(MEASURED)))
    survey = read_survey(table, parse_site(MEASURED))
    np.testing.assert_array_equal(survey.quantities["background"], [9.5] * 3)


def test_a_correction_keeps_what_it_does_not_name():
    one = advisor(MEASURED)
    one.observe(PLACES[0], 12.0, id="a", background=9.5)
    sent_back = answer(one, '{"correct": true, "id": "a", "value": 15}')
    assert "error" not in sent_back
    assert (one.readings[0].value, one.readings[0].quantities) == (15.0, {"background": 9.5})
    answer(one, '{"correct": true, "id": "a", "baseline": 8}')
    assert (one.readings[0].value, one.readings[0].quantities) == (15.0, {"background": 8.0})


def test_what_is_missing_wrong_or_not_used_is_said():
    one, plain = advisor(MEASURED), advisor(KNOWN)
    assert "The background is missing" in sent(one, PLACES[0], 12.0)["error"]
    assert sent(one, PLACES[0], 12.0, background=-3)["error"] == "`background` must be >= 0; got -3."
    assert "is no multiple of 'cps'" in sent(one, PLACES[0], 12.0, bg_ppm=3)["error"]
    with pytest.raises(Refused, match="`heading` must be <= 360"):
        one.observe(PLACES[0], 12.0, heading=400)
    with pytest.raises(TypeError, match="a reading has no 'gain'"):
        one.observe(PLACES[0], 12.0, gain=4)
    body = sent(plain, PLACES[0], 12.0, bg=3, baseline=4, yaw=12, reading=7)
    assert body["warnings"] == ["Not used at this site: bg, baseline, yaw, reading."]


def test_rehearsals_draw_what_is_measured_or_have_what_is_known(key):
    """Of the first sensor; else a background within its range, the same in the whole mission."""
    text = f'{SITE}background = {{mode = "measured", range = [8, 16]}}\n'
    plan = Plan.of(parse_site(text))
    start = build_problem(plan, plan.site_policy("greedy")).start
    drawn = float(start(key).background)
    assert 8 < drawn < 16
    plan = Plan.of(parse_site(f"{SITE}sensors = {{A = {{background = 7, efficiency = 2}}}}\n"))
    first = build_problem(plan, plan.site_policy("greedy")).start(key)
    assert (float(first.background), float(first.efficiency)) == (7.0, 2.0)
