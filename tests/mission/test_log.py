"""The mission log: what was acknowledged is there as it was, and only the same mission goes on."""

import os
from contextlib import closing
from dataclasses import replace

import pytest

from dowsax.journal import Damaged, InUse, Journal
from dowsax.mission.advice import INCONCLUSIVE
from dowsax.mission.log import Header, MissionLog, Note, Refusal, Step

HEADER = Header("name = 'here'", 3, "infotaxis", "default", {"dowsax": "0"}, {"name": "yard"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mission.log"


def step(number, **changes):
    reading = {"value": number / 3, "id": f"id {number}"}
    return replace(Step(number, "2026", "{}", reading, {"why": "é"}, {"ess": 1.5}), **changes)


def test_gives_back_what_was_put_in(path):
    """In order, to the last digit, also while it is being written to."""
    with MissionLog.create(path, HEADER) as log:
        log.append(step(1))
        log.refuse("nonsense \ud800", "not JSON")
        log.append(step(2, reading=None, corrects=1, reason="slip"))
        note = log.note("feed", "Listening.", {"topic": "a"})
        assert log.step(1) == step(1)
        opened = MissionLog.open(path)
        assert opened.header == HEADER
        assert list(opened.steps()) == list(log.steps()) == [log.step(1), log.step(2)]
    first, refusal, second, last = MissionLog.open(path).records()
    assert (first.kind, second.kind) == ("reading", "correction")
    assert (first.id, second.id) == ("id 1", None)
    assert isinstance(refusal, Refusal)
    assert (refusal.after, refusal.given, refusal.reason) == (1, "nonsense \ud800", "not JSON")
    assert isinstance(last, Note)
    assert last == note


def test_opens_a_log_of_an_earlier_version(path):
    """Its status `cannot tell` is `inconclusive` today, in steps and in notes."""
    old = {"number": 1, "received": "2025", "given": "{}", "reading": {"id": None}}
    with closing(Journal.create(path, "header", HEADER.to_json())) as journal:
        journal.append("header", HEADER.to_json())
        journal.append("reading", old | {"advice": {"number": 1, "status": "cannot tell"}})
        journal.append("note", {"received": "2025", "what": "cannot tell", "text": "Spent.", "data": {}})
    with MissionLog.resume(path, HEADER) as log:
        assert [step.advice["status"] for step in log.steps()] == [INCONCLUSIVE]
        assert log.step(1).advice["status"] == INCONCLUSIVE
        assert [record.what for record in log.records() if isinstance(record, Note)] == [INCONCLUSIVE]


def test_what_was_given_is_kept_up_to_a_length(path):
    with MissionLog.create(path, HEADER) as log:
        log.refuse("x" * 100_000, "too long")
    (refusal,) = MissionLog.open(path).records()
    assert refusal.given == "x" * 10_000


def test_resumes_the_same_mission_only(path):
    MissionLog.resume(path, HEADER).close()
    with MissionLog.resume(path, HEADER) as log:
        log.append(step(1))
    # What its owner keeps with it may be another.
    with MissionLog.resume(path, replace(HEADER, about={}, versions={})) as log:
        assert len(list(log.steps())) == 1
        assert log.header.about == {"name": "yard"}
    with pytest.raises(ValueError, match=r"started with another seed and policy"):
        MissionLog.resume(path, replace(HEADER, seed=4, policy="dcee"))
    with pytest.raises(ValueError, match="already holds a mission"):
        MissionLog.create(path, HEADER)


def test_a_log_with_an_unfinished_header_is_overwritten(path):
    """An empty file, and the beginning of a first line, are what a crash at the very start leaves."""
    MissionLog.create(path, HEADER).close()
    begun = path.read_bytes()
    for cut in (0, 5, 40):
        path.write_bytes(begun[:cut])
        with MissionLog.resume(path, HEADER) as log:
            assert list(log.steps()) == []
        assert path.read_bytes() == begun


@pytest.mark.parametrize(
    "content", [b"name,value\n1,2\n" * 100, b"SQLite format 3\0" + b"\xff" * 2000, b"abc"]
)
def test_other_files_are_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"mission\.log (holds no mission|was written by an earlier version)"
    ):
        MissionLog.resume(path, HEADER)
    assert path.read_bytes() == content


def test_says_what_is_wrong_with_a_path(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        MissionLog.create(tmp_path, HEADER)
    with pytest.raises(ValueError, match="does not exist"):
        MissionLog.create(tmp_path / "none" / "mission.log", HEADER)
    with pytest.raises(ValueError, match="does not exist"):
        MissionLog.open(tmp_path / "mission.log")


def test_a_second_writer_is_refused_and_readers_are_not(path):
    with MissionLog.create(path, HEADER) as log:
        with pytest.raises(InUse, match="in use by another program"):
            MissionLog.resume(path, HEADER)
        log.append(step(1))
        assert len(list(MissionLog.open(path).steps())) == 1


def test_a_damaged_log_names_the_recovery_command(path):
    """At the beginning, in the middle and in the last entry; reading and writing alike."""
    with MissionLog.create(path, HEADER) as log:
        for number in range(1, 6):
            log.append(step(number))
    data = path.read_bytes()
    for at in (3, len(data) // 2, len(data) - 5):
        path.write_bytes(data[:at] + b"#" + data[at + 1 :])
        for use in (lambda: list(MissionLog.open(path).steps()), lambda: MissionLog.resume(path, HEADER)):
            with pytest.raises(Damaged, match=rf"damaged at byte .*`dowsax recover {path}`"):
                use()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_log_is_reported(path):
    MissionLog.create(path, HEADER).close()
    path.chmod(0o400)
    with pytest.raises(ValueError, match="cannot be written to"):
        MissionLog.resume(path, HEADER)
