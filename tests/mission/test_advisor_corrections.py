"""Readings that are withdrawn or corrected: belief and advice are those of the mission without the slip."""

from dataclasses import replace

import numpy as np
import pytest
from made_breeze import advisor as breeze_advisor
from made_disks import largest_file
from made_missions import MODEL, hill_site, read

from dowsax.journal import NotRecorded
from dowsax.mission.advisor import Advisor
from dowsax.mission.checks import NeedsConfirmation
from dowsax.mission.log import MissionLog
from dowsax.mission.messages import Target, parse_request
from dowsax.survey.reading import Reading, Refused

PLACES = [(2.0, 2.0), (4.0, 2.0), (6.0, 3.0), (8.0, 4.0), (10.0, 5.0)]
READINGS = [(place, read(count, place)) for count, place in enumerate(PLACES)]
SLIP = 1
"""The reading that is wrong."""


def advisor(log=None):
    return Advisor(hill_site(), seed=4, log=log, model=MODEL)


def taken(one, readings):
    for place, value in readings:
        one.observe(place, value)
    return one


@pytest.fixture(scope="module")
def without():
    """The mission without the slip."""
    return taken(advisor(), READINGS[:SLIP] + READINGS[SLIP + 1 :])


def assert_same_belief(one, other):
    for ours, theirs in (
        (one.belief.particles, other.belief.particles),
        (one.belief.log_weights, other.belief.log_weights),
        (one.belief.log_evidence, other.belief.log_evidence),
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert one.readings == other.readings


def assert_same_advice(ours, theirs, said):
    """All of it, but for its number and the sentence that says what has happened."""
    assert ours.why == f"{said} {theirs.why}"
    assert replace(ours, number=theirs.number, why=theirs.why, warnings=(), id=None) == replace(
        theirs, warnings=(), id=None
    )


def test_a_withdrawn_reading_was_never_there(tmp_path, without):
    """Bit by bit, at once and when the mission goes on from its log; the next reading counts on from it."""
    path = tmp_path / "mission.log"
    one = taken(advisor(path), [*READINGS[:SLIP], ((4.0, 2.0), 3.0), *READINGS[SLIP + 1 :]])
    advice = one.correct(Target(number=SLIP + 1), reason="the hose was open")
    assert advice.number == len(READINGS) + 1
    assert_same_advice(advice, without.latest, "Reading 2 was withdrawn.")
    assert_same_belief(one, without)
    one.close()
    again = advisor(path)
    assert again.latest == advice
    assert_same_belief(again, without)
    after = again.observe((12.0, 6.0), 0.7)
    assert after.number == len(READINGS) + 2
    assert_same_belief(again, taken(advisor(), [*READINGS[:1], *READINGS[2:], ((12.0, 6.0), 0.7)]))
    again.close()
    steps = list(MissionLog.open(path).steps())
    assert [step.corrects for step in steps] == [None] * 5 + [2, None]
    assert steps[5].reason == "the hose was open"
    # Nothing was removed.
    assert steps[1].reading["value"] == 3.0


def test_a_corrected_reading_was_right_all_along(tmp_path):
    path = tmp_path / "mission.log"
    right = taken(advisor(), READINGS)
    one = taken(advisor(path), [*READINGS[:SLIP], ((4.0, 2.0), 3.0), *READINGS[SLIP + 1 :]])
    advice = one.correct(Target(number=SLIP + 1), Reading(*READINGS[SLIP]))
    assert_same_advice(advice, right.latest, "Reading 2 was corrected.")
    assert_same_belief(one, right)
    one.close()
    again = advisor(path)
    assert_same_belief(again, right)
    again.close()


def test_corrections_may_be_corrected_and_repeated():
    """The last one counts; one that is sent again gets the answer it got, and is no further step."""
    one = taken(advisor(), READINGS[:3])
    first = one.correct(Target(number=2), Reading((4.0, 2.0), 0.5))
    second = one.correct(Target(number=2), Reading((4.0, 2.0), 0.6))
    assert one.correct(Target(number=2), Reading((4.0, 2.0), 0.6)) == second
    assert [advice.number for advice in (first, second)] == [4, 5]
    withdrawn = one.correct(Target(number=2))
    assert one.correct(Target(number=2)) == withdrawn
    assert [reading.value for reading in one.readings] == [READINGS[0][1], READINGS[2][1]]
    with pytest.raises(Refused, match="Reading 2 was withdrawn: send it again as a new one"):
        one.correct(Target(number=2), Reading((4.0, 2.0), 0.7))


def test_a_restored_reading_was_never_withdrawn(tmp_path):
    """Bit by bit, also after a restart; what is sent again gets the answer it got."""
    path = tmp_path / "mission.log"
    whole = taken(advisor(), READINGS)
    one = taken(advisor(path), READINGS)
    one.correct(Target(number=2))
    advice = one.answer(parse_request({"restore": True, "number": 2, "reason": "it was right"}))
    assert advice.number == len(READINGS) + 2
    assert_same_advice(advice, whole.latest, "Reading 2 was restored.")
    assert_same_belief(one, whole)
    assert one.answer(parse_request({"restore": True, "number": 2, "as_of": 2})) == advice
    one.close()
    again = advisor(path)
    assert_same_belief(again, whole)
    assert again.step.reason == "it was right"
    again.close()


def test_a_correction_is_undone_by_the_step_before_it():
    """Any version may be restored, and none from before there was one."""
    one = taken(advisor(), READINGS[:3])
    for value in (0.5, 0.6):
        one.correct(Target(number=2), Reading((4.0, 2.0), value))
    for as_of, value in ((4, 0.5), (3, READINGS[1][1]), (5, 0.6)):
        one.restore(Target(number=2), as_of)
        assert one.readings[1].value == value
    assert one.restore(Target(number=2), 5).number == 8
    with pytest.raises(Refused, match="Reading 2 did not exist after step 1"):
        one.restore(Target(number=2), 1)


def test_the_only_reading_may_be_withdrawn():
    """Then the mission is at its start, and the next reading is its first."""
    one, fresh = advisor(), advisor()
    one.observe((4.0, 2.0), 3.0, id="a")
    advice = one.correct(Target(id="a"))
    assert advice.status == "searching"
    assert advice.next_position == (2.0, 2.0)
    assert "There are no readings: begin at" in advice.why
    assert one.readings == ()
    mean = np.asarray(advice.estimate.mean)
    prior = np.asarray(fresh.belief.particles).mean(axis=0)
    np.testing.assert_allclose(mean, prior, rtol=1e-4)
    assert one.observe((2.0, 2.0), 0.1).estimate == fresh.observe((2.0, 2.0), 0.1).estimate


def test_a_withdrawn_reading_that_is_sent_again_does_not_count():
    """A broker may deliver it once more: it was acknowledged, and stays withdrawn."""
    one = advisor()
    first = one.observe((4.0, 2.0), 3.0, id="a")
    one.correct(Target(id="a"))
    assert one.observe((4.0, 2.0), 3.0, id="a") == first
    assert one.readings == ()


def test_what_could_not_be_recorded_is_not_corrected(tmp_path):
    log = MissionLog.resume(tmp_path / "mission.log", advisor().header)
    one = taken(advisor(log), READINGS[:3])
    before = one.belief
    with largest_file(log.path.stat().st_size + 100), pytest.raises(NotRecorded):
        one.correct(Target(number=2))
    assert one.belief is before
    assert len(one.readings) == 3
    one.correct(Target(number=2))
    assert len(one.readings) == 2
    log.close()


def test_a_correction_is_checked_like_a_reading():
    one = taken(advisor(), READINGS[:3])
    with pytest.raises(Refused, match="outside the area"):
        one.correct(Target(number=2), Reading((400.0, 2.0), 0.5))
    with pytest.raises(NeedsConfirmation, match="times the largest reading so far"):
        one.correct(Target(number=2), Reading((4.0, 2.0), 5e7))
    assert len(one.readings) == 3


@pytest.mark.slow
def test_corrections_keep_the_order_of_times_where_it_matters():
    """Where the source may change: not before the one before it, and not after the one after it."""
    one = breeze_advisor(radius=0.05, readings=9)
    for number in range(3):
        one.observe((2.0 + number, 2.0), 0.2, time=10.0 * number)
    with pytest.raises(Refused, match="older than the newest"):
        one.correct(Target(number=2), Reading((3.0, 2.0), 0.2, time=-5.0))
    with pytest.raises(Refused, match="5 s newer than the one after it"):
        one.correct(Target(number=2), Reading((3.0, 2.0), 0.2, time=25.0))
    one.correct(Target(number=2), Reading((3.0, 2.0), 0.2, time=12.0))
    assert [reading.time for reading in one.readings] == [0.0, 12.0, 20.0]
