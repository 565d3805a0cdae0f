"""Some kills of a bare writer, and that what they are there to find is found."""

import pytest

from benchmarks.killed_processes import STARTUP, WORK, Sent, Tally, Writer, check_healing, check_log
from benchmarks.kills import kill_all, table
from dowsax.mission.log import Header, MissionLog, Step


@pytest.mark.slow
def test_a_writer_that_is_killed_loses_nothing(tmp_path):
    writer = Writer(tmp_path / "writer")
    kill_all({"writer": (writer, 12)}, seed=1)
    tally = writer.tally
    assert tally.problems == []
    assert (tally.kills.total(), len(tally.logs)) == (12, 2)
    assert tally.kills[STARTUP] > 0
    assert tally.kills[WORK] > 0
    assert tally.answered > 0
    assert (tally.lost, tally.twice) == (0, 0)
    assert table({"writer": tally}).splitlines()[-1].split()[:2] == ["all", "12"]


@pytest.fixture
def sent(tmp_path):
    """A log of three readings, all of them answered."""
    path = tmp_path / "1.log"
    with MissionLog.create(path, Header("site", 0, "greedy", "default", {})) as log:
        for number in (1, 2, 3):
            log.append(Step(number, "2026", "", {"id": f"1-{number}"}, {"number": number}))
    return Sent(path, {"1-1", "1-2", "1-3"}, "1-4")


def test_losses_and_repetitions_are_counted(sent):
    tally = Tally(logs=[sent])
    check_log(sent, tally)
    assert (tally.lost, tally.twice, tally.unanswered, tally.torn, tally.problems) == (0, 0, 0, 0, [])
    sent.kept.add("1-9")
    check_log(sent, tally)
    assert tally.lost == 1
    with MissionLog.open(sent.path).writable() as log:
        log.append(Step(4, "2026", "", {"id": "1-3"}, {"number": 4}))
        log.append(Step(5, "2026", "", {"id": "1-4"}, {"number": 5}))
        log.append(Step(6, "2026", "", {"id": "never"}, {"number": 6}))
    check_log(sent, tally)
    assert (tally.twice, tally.unanswered) == (1, 2)
    assert len(tally.problems) == 1
    assert "never sent" in tally.problems[0]


def test_an_unfinished_entry_is_healed_and_damage_is_not(sent):
    data = sent.path.read_bytes()
    sent.path.write_bytes(data[:-20])
    sent.kept.discard("1-3")
    tally = Tally(logs=[sent])
    check_log(sent, tally)
    assert tally.torn == 1
    check_healing(tally)
    assert (tally.torn, tally.lost, tally.problems) == (1, 0, [])
    sent.path.write_bytes(data.replace(b"1-2", b"1-5"))
    check_log(sent, tally)
    assert "is damaged" in tally.problems[0]
