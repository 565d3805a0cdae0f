"""What is recorded of episodes, as arrays: rows one after another, since episodes differ in length.

The arrays of consecutive shards joined along their first axis are those of the whole run.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dowsax.envs import SUCCESS_RADIUS_M
from dowsax.evaluate.trace import Episode, Row

Arrays = dict[str, np.ndarray]
_ROW = "row_"
_RULE_COLUMNS, _SIGNAL_COLUMNS = ("spread", "error"), ("entropy", "max_weight", "ess")


def pack(episodes: Sequence[Episode], detail: str = "full", *, signals: bool = False) -> Arrays:
    """Episodes as arrays.

    `compact` records what the stop rules of the ladder need in half precision, with a relative error below
    1/2000, and with `signals` also entropy, largest weight and ESS: some 200 kB for 1,000 searches. The mass
    is recorded as the mass outside, since levels are close to one; positions as moves, which are whole
    numbers except at the border.
    """
    rows = [episode.rows for episode in episodes]
    arrays = {
        "theta": np.stack([episode.theta for episode in episodes]),
        "seconds": np.array([episode.seconds for episode in episodes], np.float64),
        "lengths": np.array([len(row.error) for row in rows], np.int32),
        "max_readings": np.array([episode.max_readings for episode in episodes], np.int32),
        "radius": np.array([episode.radius for episode in episodes], np.float64),
    }
    if detail == "full":
        arrays["final_theta"] = np.stack([episode.final_theta for episode in episodes])
        columns = {_ROW + name: [getattr(row, name) for row in rows] for name in Row._fields}
        return arrays | {name: np.concatenate(parts) for name, parts in columns.items()}
    names = (*_RULE_COLUMNS, *(_SIGNAL_COLUMNS if signals else ()))
    columns = {name: [getattr(row, name) for row in rows] for name in names}
    columns["outside"] = [1 - row.mass for row in rows]
    columns["moves"] = [np.diff(row.position, axis=0, prepend=row.position[:1]) for row in rows]
    arrays |= {
        "starts": np.stack([row.position[0] for row in rows]),
        "final_place": np.stack([episode.final_theta[:2] for episode in episodes]),
        "seconds": arrays["seconds"].astype(np.float32),
    }
    return arrays | {name: np.concatenate(parts).astype(np.float16) for name, parts in columns.items()}


def unpack(arrays: Arrays) -> list[Episode]:
    """The inverse of `pack`; NaN where a column was not recorded."""
    return _unpack_compact(arrays) if "moves" in arrays else _unpack_full(arrays)


def _unpack_full(arrays: Arrays) -> list[Episode]:
    ends = np.cumsum(arrays["lengths"])
    if any(len(arrays[_ROW + name]) != ends[-1] for name in Row._fields):
        raise ValueError("rows are missing")
    columns = [np.split(arrays[_ROW + name], ends[:-1]) for name in Row._fields]
    heads = (arrays[name] for name in ("theta", "final_theta", "seconds", "max_readings"))
    return [
        Episode(theta, final_theta, Row(*rows), float(seconds), int(max_readings), float(radius))
        for theta, final_theta, seconds, max_readings, radius, *rows in zip(
            *heads, _radii(arrays), *columns, strict=True
        )
    ]


def _unpack_compact(arrays: Arrays) -> list[Episode]:
    ends = np.cumsum(arrays["lengths"])[:-1]
    names = (*_RULE_COLUMNS, *_SIGNAL_COLUMNS, "outside", "moves")
    columns = {name: np.split(arrays[name].astype(np.float32), ends) for name in names if name in arrays}
    heads = (arrays[name] for name in ("theta", "final_place", "starts", "seconds", "max_readings"))
    episodes = []
    heads = zip(*heads, _radii(arrays), strict=True)
    for number, (theta, place, start, seconds, max_readings, radius) in enumerate(heads):
        own: dict[str, Any] = {name: parts[number] for name, parts in columns.items()}
        final_theta = theta.copy()
        final_theta[:2] = place
        moves = own["moves"]
        missing: Any = np.full(len(moves), np.nan, np.float32)
        path: Any = np.cumsum(np.linalg.norm(moves, axis=1))
        rows = Row(
            position=start[None, :] + np.cumsum(moves, axis=0),
            reading=missing,
            path_length=path,
            mean=np.nan * moves,
            error=own["error"],
            spread=own["spread"],
            mass=1 - own["outside"],
            entropy=own.get("entropy", missing),
            max_weight=own.get("max_weight", missing),
            ess=own.get("ess", missing),
        )
        episodes.append(Episode(theta, final_theta, rows, float(seconds), int(max_readings), float(radius)))
    return episodes


def _radii(arrays: Arrays) -> np.ndarray:
    """The radius [m] of a right stop in each episode, which older files do not have: it was 1 m in all."""
    return arrays.get("radius", np.full(len(arrays["theta"]), SUCCESS_RADIUS_M))
