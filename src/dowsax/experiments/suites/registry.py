"""All suites by name."""

from collections.abc import Sequence

from dowsax.experiments.suites import figures, fixed_walks, rewards, searches, stopping
from dowsax.experiments.suites.suite import Suite


def all_suites() -> dict[str, Suite]:
    """The suites by name, the most important first."""
    suites = (
        searches.ID,
        searches.OOD,
        stopping.THRESHOLD,
        stopping.CALIBRATION,
        stopping.CRITERIA,
        stopping.ROBUSTNESS,
        searches.SHIFT,
        searches.PRIORS,
        searches.MIXING,
        fixed_walks.FIXED,
        figures.ATTENTION,
        rewards.REWARDS,
        figures.TRAJECTORIES,
    )
    return {suite.name: suite for suite in suites}


def choose_suites(names: Sequence[str]) -> list[Suite]:
    """The suites of these names in their own order; without names all of them."""
    known = all_suites()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"Unknown table {unknown[0]!r}; known are {', '.join(known)}.")
    return [suite for name, suite in known.items() if not names or name in names]
