"""Episodes as one Parquet file: a row for each, with what was recorded in list columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode, Row
from dowsax.experiments.run import Run
from dowsax.files import replace_file
from dowsax.world import Model, position_columns

if TYPE_CHECKING:
    from pyarrow import Array, Table
else:
    Array = Table = Any

_THETA = "theta_"
_POINTS = ("position", "mean")
"""The entries of a row that have a column for each axis."""
_AXES = "xyz"


def write_episodes(
    path: Path, runs: Mapping[Run, Sequence[Episode]], model: Model, rules: Sequence[TraceRule]
) -> None:
    """Write the episodes of all runs; `rules` are those whose stops get columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [_table(run, episodes, model, rules) for run, episodes in runs.items()]
    with replace_file(path) as partial:
        pq.write_table(pa.concat_tables(tables), partial)


def holds(path: Path, rules: Sequence[TraceRule]) -> bool:
    """Whether the file exists, can be read, and has the stops of all these rules."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return {f"{rule}_reading" for rule in rules} <= set(pq.read_schema(path).names)
    except (OSError, pa.ArrowInvalid):
        return False


def _table(run: Run, episodes: Sequence[Episode], model: Model, rules: Sequence[TraceRule]) -> Table:
    import pyarrow as pa

    theta = np.stack([episode.theta for episode in episodes])
    final_theta = np.stack([episode.final_theta for episode in episodes])
    ends = final_theta[:, list(position_columns(model.prior))]
    labels = {"policy": run.policy, "field": run.field, "scenario": run.scenario}
    columns = {name: pa.array([label] * len(episodes)) for name, label in labels.items()}
    columns["episode"] = pa.array(np.arange(len(episodes), dtype=np.int32))
    names = [parameter.name for parameter in model.prior.parameters]
    columns |= {_THETA + name: pa.array(theta[:, place]) for place, name in enumerate(names)}
    columns |= {f"final_{axis}": pa.array(numbers) for axis, numbers in zip(_AXES, ends.T, strict=False)}
    lengths = np.array([len(episode.rows.error) for episode in episodes], np.int32)
    columns["readings"] = pa.array(lengths)
    columns["seconds"] = pa.array(np.array([episode.seconds for episode in episodes], np.float64))
    for rule in rules:
        columns |= _stops(rule, episodes)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    for name in Row._fields:
        values = np.concatenate([getattr(episode.rows, name) for episode in episodes])
        if name in _POINTS:
            parts = {f"{name}_{axis}": numbers for axis, numbers in zip(_AXES, values.T, strict=False)}
        else:
            parts = {name: values}
        columns |= {part: _lists(offsets, numbers) for part, numbers in parts.items()}
    return pa.table(columns)


def _stops(rule: TraceRule, episodes: Sequence[Episode]) -> dict[str, Array]:
    """Where the rule stops each episode: the reading, the error [m] and the path [m]; null without a stop."""
    import pyarrow as pa

    firsts = [rule.first_stop(episode) for episode in episodes]
    stopped = [
        (None, None) if first is None else (rows.error[first - 1], rows.path_length[first - 1])
        for first, rows in zip(firsts, (episode.rows for episode in episodes), strict=True)
    ]
    errors, paths = zip(*stopped, strict=True)
    return {
        f"{rule}_reading": pa.array(firsts, pa.int32()),
        f"{rule}_error": pa.array(errors, pa.float32()),
        f"{rule}_path_length": pa.array(paths, pa.float32()),
    }


def _lists(offsets: np.ndarray, numbers: np.ndarray) -> Array:
    import pyarrow as pa

    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.ascontiguousarray(numbers, np.float32)))
