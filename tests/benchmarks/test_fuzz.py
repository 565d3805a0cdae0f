"""Hostile inputs through lines of JSON, MQTT and the console: all are answered, none by an exception."""

import json

import numpy as np
import pytest

from benchmarks import fuzz
from benchmarks.fuzz_tally import Expected, Tally
from benchmarks.fuzzed_calls import Targets, call
from benchmarks.fuzzed_inputs import payload
from dowsax.mission.log import Header, MissionLog
from dowsax.mission.messages import UNEXPECTED_ERROR

INPUTS = 5000
TARGETS = Targets("0" * 12, "1" * 12, "name = 1")


# A form that is cut short leaves the web framework with a file that it does not close.
@pytest.mark.filterwarnings("ignore:Unclosed file <tempfile.SpooledTemporaryFile:ResourceWarning")
# It hides this itself, but what one thread hides another may show again.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.UnsupportedFieldAttributeWarning")
@pytest.mark.slow
def test_whatever_is_sent_is_answered(tmp_path):
    """Of each transport a third; logs hold all that was answered, and good readings are taken in after it."""
    done = {}

    def on_progress(name):
        return lambda number: done.update({name: done.get(name, 0) + number})

    tallies = fuzz.fuzz(INPUTS, 1, tmp_path, ("temperature", "temperature"), on_progress)
    assert [tally.transport for tally in tallies] == ["JSON lines", "MQTT", "console API"] == list(done)
    assert sum(tally.sent for tally in tallies) == sum(done.values()) == INPUTS
    for tally in tallies:
        assert tally.faults == []
        assert (tally.raised, tally.unanswered) == (0, 0)
        assert tally.answered == tally.sent - tally.blank == tally.taken + tally.refused + tally.asked
        # Most are refused, and enough are not for the mission to be somewhere.
        assert tally.taken > 40
        assert tally.refused > 0.8 * tally.answered
        assert tally.missions > 1
    assert f"| all         | {INPUTS:,} " in fuzz.report(tallies, 1.0, 1)


def test_a_seed_gives_the_same_inputs_again():
    """And another seed others; none holds the end of a line."""

    def drawn(seed):
        rng = np.random.default_rng(seed)
        return [payload(rng) for _ in range(300)], [call(rng, TARGETS) for _ in range(300)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert not any(b"\n" in data for data in drawn(1)[0])


def test_what_is_wrong_with_an_answer_is_counted():
    """An exception, none at all, one that nobody foresaw, and numbers that JSON has not."""
    tally = Tally("")
    for answer in (
        ValueError("x"),
        None,
        json.dumps({"error": f"{UNEXPECTED_ERROR} (x)"}),
        '{"number": NaN}',
    ):
        tally.count(b"sent", answer)
    assert not tally.is_clean
    assert (tally.raised, tally.unanswered, len(tally.faults)) == (2, 1, 4)
    clean = Tally("")
    for answer in ('{"error": "a"}', '{"error": "a", "confirm": false}', '{"number": 1}'):
        clean.count(b"sent", answer)
    assert (clean.refused, clean.asked, clean.taken) == (1, 1, 1)
    assert clean.is_clean


def test_what_a_log_lacks_is_found(tmp_path):
    path = tmp_path / "mission.log"
    with MissionLog.create(path, Header("", 0, "", "", {})) as log:
        log.refuse("given", "a reason")
    expected = Expected()
    expected.refuse("a reason")
    assert list(expected.faults(path)) == []
    expected.refuse("a reason")
    expected.numbers.add(1)
    steps, refusals = expected.faults(path)
    assert "0 steps, and 1 were answered" in steps
    assert "lacks 1 refusals: a reason" in refusals
