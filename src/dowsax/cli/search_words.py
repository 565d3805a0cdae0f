"""A search in words: its title, each reading, and how it ended."""

from dowsax.cli.search_run import INTERRUPTED, LOST, STOPPED, SearchConfig, SearchLog
from dowsax.viz.search_snapshots import Snapshot


def title(config: SearchConfig) -> str:
    """Return policy, field, scenario and seed."""
    policy, field, scenario = config.run.policy, config.run.field, config.run.scenario
    number = f"seed {config.run.seed}" + (f", episode {config.episode}" if config.episode else "")
    return f"{policy} on {field}{'' if scenario == 'id' else f', {scenario}'}, {number}"


def reading_line(snapshot: Snapshot, unit: str) -> str:
    """Return one reading in one line."""
    (x, y), (east, north) = snapshot.position, snapshot.mean
    value = f"{snapshot.reading:.4g} {unit}".rstrip()
    taken = f"{snapshot.number:3d}  ({x:5.2f}, {y:5.2f})  {value:>12}"
    if not snapshot.has_particles:
        return f"{taken}   no particle explains the readings"
    where = f"source at ({east:5.2f}, {north:5.2f}) ± {snapshot.spread:.2f} m"
    return f"{taken}   {where}, within 1 m with probability {snapshot.mass:.2f}"


def claim(log: SearchLog) -> str:
    """Return what the search claims at its end, without the truth."""
    newest = log.snapshots[-1]
    number = "1 reading" if newest.number == 1 else f"{newest.number} readings"
    after = f"after {number} and {newest.path_length:.0f} m"
    if log.ending == LOST:
        return f"Cannot tell {after}: no particle explains the readings"
    (x, y) = newest.mean
    where = f"source at ({x:.2f}, {y:.2f}) ± {newest.spread:.2f} m"
    if log.ending == STOPPED:
        return f"STOP {after}: {where}"
    return f"{'Interrupted' if log.ending == INTERRUPTED else 'Cannot tell'} {after}: {where}"


def error_words(log: SearchLog) -> str:
    """Return the error of the estimate, and whether a stop was right."""
    if log.ending == LOST:
        return "no estimate"
    off = f"{log.error:.2f} m off"
    if log.ending != STOPPED:
        return off
    return f"{off}, right" if log.right else f"{off}, a false stop"


def verdict(log: SearchLog) -> str:
    """Return claim and error in one line."""
    return f"{claim(log)}; {error_words(log)}"


def truth_sentence(log: SearchLog) -> str:
    x, y = log.final_position
    moved = "" if (log.theta == log.final_theta).all() else ", where it moved"
    return f"The true position is ({x:.2f}, {y:.2f}){moved}: {error_words(log)}."
