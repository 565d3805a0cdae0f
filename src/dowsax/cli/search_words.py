"""A search in words: what it is, where it stands, and how it ended, told honestly."""

from dowsax.cli.search_run import INTERRUPTED, LOST, STOPPED, SearchConfig, SearchLog
from dowsax.viz.search_snapshots import Snapshot


def title(config: SearchConfig) -> str:
    """What is searched, how and with which seed."""
    policy, field, scenario = config.run.policy, config.run.field, config.run.scenario
    number = f"seed {config.run.seed}" + (f", episode {config.episode}" if config.episode else "")
    return f"{policy} on {field}{'' if scenario == 'id' else f', {scenario}'}, {number}"


def reading_line(moment: Snapshot, unit: str) -> str:
    """One reading in one line."""
    (x, y), (east, north) = moment.position, moment.mean
    value = f"{moment.reading:.4g} {unit}".rstrip()
    taken = f"{moment.number:3d}  ({x:5.2f}, {y:5.2f})  {value:>12}"
    if not moment.has_particles:
        return f"{taken}   no particle explains the readings"
    where = f"source at ({east:5.2f}, {north:5.2f}) ± {moment.spread:.2f} m"
    return f"{taken}   {where}, within 1 m with probability {moment.mass:.2f}"


def claim(log: SearchLog) -> str:
    """What the search says at its end; it does not know the truth."""
    newest = log.moments[-1]
    number = "1 reading" if newest.number == 1 else f"{newest.number} readings"
    after = f"after {number} and {newest.path_length:.0f} m"
    if log.ending == LOST:
        return f"Cannot tell {after}: no particle explains the readings"
    (x, y) = newest.mean
    where = f"source at ({x:.2f}, {y:.2f}) ± {newest.spread:.2f} m"
    if log.ending == STOPPED:
        return f"STOP {after}: {where}"
    return f"{'Interrupted' if log.ending == INTERRUPTED else 'Cannot tell'} {after}: {where}"


def judgement(log: SearchLog) -> str:
    """How far off that is, and whether a stop was right."""
    if log.ending == LOST:
        return "no estimate"
    off = f"{log.error:.2f} m off"
    if log.ending != STOPPED:
        return off
    return f"{off}, right" if log.right else f"{off}, a false stop"


def verdict(log: SearchLog) -> str:
    """Claim and judgement in one line."""
    return f"{claim(log)}; {judgement(log)}"


def truth_sentence(log: SearchLog) -> str:
    (x, y) = log.final_theta[:2]
    moved = "" if (log.theta == log.final_theta).all() else ", where it moved"
    return f"The true position is ({x:.2f}, {y:.2f}){moved}: {judgement(log)}."
