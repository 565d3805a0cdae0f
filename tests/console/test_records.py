"""Records of missions, and what a log says of one."""

from contextlib import closing

import pytest

from dowsax.console.records import MissionRecord, read_logged_mission
from dowsax.journal import Journal
from dowsax.mission.log import MissionLog, Step
from dowsax.survey.reading import Reading

ID = "0123456789ab"


@pytest.fixture
def record():
    return MissionRecord(ID, "yard", "real", "2026", site="text", policy="greedy", seed=3, facts={})


def test_an_event_list_is_bounded(tmp_path, record):
    path = tmp_path / f"{ID}.log"
    with MissionLog.create(path, record.header("default", {})) as log:
        for number in range(250):
            log.note("kind", str(number))
    texts = [event["text"] for event in read_logged_mission(path, None).events]
    assert texts == [str(number) for number in range(50, 250)]


def test_withdrawn_readings_do_not_count_until_they_are_restored(tmp_path, record):
    path = tmp_path / f"{ID}.log"
    reading = Reading((0.0, 0.0), 1.0).to_json()
    changes = [(reading, None), (reading, None), (None, 1), (None, 2), (reading, 1), (reading, 1)]
    with MissionLog.create(path, record.header("default", {})) as log:
        for number, (body, corrects) in enumerate(changes, 1):
            log.append(Step(number, "2026", "", body, {}, corrects=corrects))
    assert read_logged_mission(path, None).readings == 1


def test_a_log_of_an_earlier_version_has_the_present_status(tmp_path, record):
    """It says `cannot tell`, in its steps and in its notes, which is `inconclusive` today."""
    path = tmp_path / f"{ID}.log"
    header = record.header("default", {}).to_json()
    step = {"number": 1, "received": "2025", "given": "", "reading": {"id": None}}
    with closing(Journal.create(path, "header", header)) as journal:
        journal.append("header", header)
        journal.append("reading", step | {"advice": {"status": "cannot tell"}})
        journal.append("note", {"received": "2025", "what": "cannot tell", "text": "", "data": {}})
    logged = read_logged_mission(path, None)
    assert logged.latest is not None
    assert logged.latest.advice["status"] == "inconclusive"
    assert [event["kind"] for event in logged.events] == ["inconclusive"]
