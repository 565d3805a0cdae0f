"""All suites, the most valuable first."""

from collections.abc import Sequence

from dowsax.reproduce import picturing, searching, stopping, training, walking
from dowsax.reproduce.suite import Suite


def all_suites() -> dict[str, Suite]:
    """The suites by name, the most valuable first."""
    suites = (
        searching.ID,
        searching.OOD,
        stopping.THRESHOLD,
        stopping.CALIBRATION,
        stopping.CRITERIA,
        stopping.ROBUSTNESS,
        searching.SHIFT,
        searching.PRIORS,
        searching.MIXING,
        walking.FIXED,
        picturing.ATTENTION,
        training.REWARDS,
        picturing.TRAJECTORIES,
    )
    return {suite.name: suite for suite in suites}


def chosen(names: Sequence[str]) -> list[Suite]:
    """The suites of these names in their own order; all of them where none is named."""
    known = all_suites()
    strange = [name for name in names if name not in known]
    if strange:
        raise ValueError(f"Unknown table {strange[0]!r}; known are {', '.join(known)}.")
    return [suite for name, suite in known.items() if not names or name in names]
