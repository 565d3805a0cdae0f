"""The episodes of a run as one Parquet file: a row for each, with what was recorded in list columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode, Row
from dowsax.experiment.assemble import Cell
from dowsax.files import replacing

if TYPE_CHECKING:
    from pyarrow import Array, Table
else:
    Array = Table = Any

_THETA = "theta_"
_PAIRS = ("position", "mean")
"""The entries of a row that are points: two columns each."""


def write_episodes(
    path: Path,
    cells: Mapping[Cell, Sequence[Episode]],
    names: Sequence[str],
    rules: Sequence[TraceRule],
) -> None:
    """Write the episodes of all cells; `names` are those of Θ, `rules` those whose stops are written down."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [_table(cell, episodes, names, rules) for cell, episodes in cells.items()]
    with replacing(path) as partial:
        pq.write_table(pa.concat_tables(tables), partial)


def read_episodes(path: Path) -> dict[Cell, list[Episode]]:
    """The episodes of each cell in the order of their numbers; every recorded number is as it was."""
    import pyarrow.parquet as pq

    table = pq.read_table(path).combine_chunks()
    theta = np.stack([_numbers(table, name) for name in table.column_names if name.startswith(_THETA)], 1)
    final_theta = theta.copy()
    final_theta[:, :2] = np.stack([_numbers(table, "final_x"), _numbers(table, "final_y")], 1)
    rows = [_ragged(table, name) for name in Row._fields]
    labels = [table.column(name).to_pylist() for name in Cell._fields]
    seconds = _numbers(table, "seconds")
    cells: dict[Cell, list[Episode]] = {}
    for place in range(table.num_rows):
        taken = Row._make(entries[place] for entries in rows)
        episode = Episode(theta[place], final_theta[place], taken, float(seconds[place]))
        cells.setdefault(Cell(*(names[place] for names in labels)), []).append(episode)
    return cells


def holds(path: Path, rules: Sequence[TraceRule]) -> bool:
    """Whether the file is there, whole, and has the stops of all these rules."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return {f"{rule}_reading" for rule in rules} <= set(pq.read_schema(path).names)
    except (OSError, pa.ArrowInvalid):
        return False


def _table(
    cell: Cell, episodes: Sequence[Episode], names: Sequence[str], rules: Sequence[TraceRule]
) -> Table:
    import pyarrow as pa

    theta = np.stack([episode.theta for episode in episodes])
    final_theta = np.stack([episode.final_theta for episode in episodes])
    columns = {name: pa.array([label] * len(episodes)) for name, label in cell._asdict().items()}
    columns["episode"] = pa.array(np.arange(len(episodes), dtype=np.int32))
    columns |= {_THETA + name: pa.array(theta[:, place]) for place, name in enumerate(names)}
    columns |= {"final_x": pa.array(final_theta[:, 0]), "final_y": pa.array(final_theta[:, 1])}
    lengths = np.array([len(episode.rows.error) for episode in episodes], np.int32)
    columns["readings"] = pa.array(lengths)
    columns["seconds"] = pa.array(np.array([episode.seconds for episode in episodes], np.float64))
    for rule in rules:
        columns |= _stops(rule, episodes)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    for name in Row._fields:
        values = np.concatenate([getattr(episode.rows, name) for episode in episodes])
        parts = zip(_columns(name), values.T if name in _PAIRS else [values], strict=True)
        columns |= {part: _lists(offsets, numbers) for part, numbers in parts}
    return pa.table(columns)


def _stops(rule: TraceRule, episodes: Sequence[Episode]) -> dict[str, Array]:
    """Where the rule stops each episode: the reading, the error [m] and the path [m]; null without a stop."""
    import pyarrow as pa

    firsts = [rule.first(episode.rows) for episode in episodes]
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


def _columns(name: str) -> tuple[str, ...]:
    return (f"{name}_x", f"{name}_y") if name in _PAIRS else (name,)


def _lists(offsets: np.ndarray, numbers: np.ndarray) -> Array:
    import pyarrow as pa

    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.ascontiguousarray(numbers, np.float32)))


def _numbers(table: Table, name: str) -> np.ndarray:
    return table.column(name).to_numpy()


def _ragged(table: Table, name: str) -> list[np.ndarray]:
    """An array for each episode."""
    ends = np.cumsum(_numbers(table, "readings"))[:-1]
    parts = [table.column(part).combine_chunks().flatten().to_numpy() for part in _columns(name)]
    values = np.stack(parts, axis=1) if name in _PAIRS else parts[0]
    return np.split(values, ends)
