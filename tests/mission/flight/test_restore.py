"""Where a flight goes on after a crash."""

from dowsax.mission.flight.restore import restore
from dowsax.mission.flight.state import Phase
from dowsax.mission.log import Header, MissionLog


def test_the_search_began_when_the_clock_says_that_was_set_since(tmp_path):
    """The newest beginning counts, and the newest phase."""
    path = tmp_path / "mission.log"
    with MissionLog.create(path, Header("", 0, "", "", {})) as log:
        log.note("flight", "Going.", {"phase": "going", "why": "", "begun": 500.0})
        log.note("flight", "Holding.", {"phase": "holding", "why": "a person said pause", "begun": 500.0})
        log.note("flight", "The clock was set.", {"clock": 1e9, "begun": 1e9 + 500.0})
        log.note("flight", "Something else.")
    found = restore(path)
    assert (found.phase, found.why, found.begun) == (Phase.HOLDING, "a person said pause", 1e9 + 500.0)
    assert found.state(1e9 + 100.0).begun == 400.0
