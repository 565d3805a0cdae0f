"""Where a flight goes on after a crash: what its log says."""

from dataclasses import dataclass, replace
from pathlib import Path

from dowsax.mission.flight.readings_file import RowId, last_row
from dowsax.mission.flight.state import Phase, State
from dowsax.mission.log import MissionLog, Note, Step, has_mission


@dataclass(frozen=True)
class Restored:
    """What a log says of the flights so far."""

    phase: Phase = Phase.WAITING
    why: str = ""
    begun: float | None = None
    """[s since 1970], when the search began."""
    last_row: RowId | None = None
    """Of the file of readings, the newest one that became a reading."""

    def state(self, epoch: float) -> State:
        """Return the state in which a flight goes on; `epoch` is the time since 1970 [s] at 0 of its clock.

        A flight that had ended begins again when a person says so, and one that has landed in the meantime.
        """
        begun = None if self.begun is None else self.begun - epoch
        state = State(begun=begun, has_flown=self.phase is not Phase.WAITING)
        if self.phase in (Phase.HOLDING, Phase.TAKEN_OVER):
            return state._replace(phase=self.phase, why=self.why)
        if self.phase is Phase.ENDED:
            return state._replace(phase=Phase.HOLDING, why=f"the last flight has ended ({self.why})")
        return state._replace(returning=self.why) if self.phase is Phase.RETURNING else state


def restore(log: Path) -> Restored:
    """Read where the flights of a mission log stand; nothing has happened yet where there is none."""
    if not has_mission(log):
        return Restored()
    found, ids = Restored(), []
    for record in MissionLog.open(log).records():
        if isinstance(record, Step):
            ids.append(record.id)
        elif isinstance(record, Note):
            found = replace(found, begun=record.data.get("begun", found.begun))
            if "phase" in record.data:
                phase, why = Phase(record.data["phase"]), str(record.data.get("why", ""))
                found = replace(found, phase=phase, why=why)
    return replace(found, last_row=last_row(ids))
