"""Shards: the episodes that are computed together, and the file in which they are kept."""

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dowsax.evaluate.trace import Episode, Row
from dowsax.experiment.assemble import Cell, cells_of
from dowsax.experiment.config import RunConfig
from dowsax.files import replace_file

_ROW = "row_"


class Shard(NamedTuple):
    """The episodes from `start` to before `stop` of a cell."""

    cell: Cell
    number: int
    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start

    @property
    def file_name(self) -> str:
        # A policy may be a path, and two paths may end alike.
        policy, *rest = self.cell
        name = (
            policy
            if policy == Path(policy).name
            else f"{Path(policy).stem}-{zlib.crc32(policy.encode()):08x}"
        )
        return f"{'--'.join([name, *rest])}--{self.number:05d}.npz"


class Filled(NamedTuple):
    """A shard and its episodes, in the order of their numbers."""

    shard: Shard
    episodes: list[Episode]
    device: str
    """What it was computed on."""


class BrokenShard(ValueError):
    """A file that does not hold what its name says."""


def cut(config: RunConfig) -> list[Shard]:
    """All shards of a run, cell by cell."""
    starts = range(0, config.episodes, config.shard_size)
    return [
        Shard(cell, number, start, min(start + config.shard_size, config.episodes))
        for cell in cells_of(config)
        for number, start in enumerate(starts)
    ]


def write_shard(path: Path, filled: Filled, fingerprint: str) -> None:
    """Keep a shard. The file has its name only once it is whole."""
    episodes = filled.episodes
    about = {"shard": filled.shard, "fingerprint": fingerprint, "device": filled.device}
    # The rows of all episodes one after another, as episodes differ in length.
    rows: dict[str, Any] = {
        _ROW + name: np.concatenate([getattr(episode.rows, name) for episode in episodes])
        for name in Row._fields
    }
    with replace_file(path) as partial, partial.open("wb") as file:
        np.savez(
            file,
            about=np.array(json.dumps(about)),
            theta=np.stack([episode.theta for episode in episodes]),
            final_theta=np.stack([episode.final_theta for episode in episodes]),
            seconds=np.array([episode.seconds for episode in episodes]),
            lengths=np.array([len(episode.rows.error) for episode in episodes]),
            **rows,
        )


def read_shard(path: Path, shard: Shard, fingerprint: str) -> Filled:
    """The inverse of `write_shard`; a `BrokenShard` for a file that is cut short, damaged or another's."""
    try:
        # Opened here, as numpy does not close a file it cannot read.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = dict(archive)
        about = json.loads(str(arrays["about"]))
        episodes = _episodes(arrays)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise BrokenShard(f"{path.name} cannot be read ({type(error).__name__})") from None
    expected = json.loads(json.dumps(shard))
    if about.get("shard") != expected or about.get("fingerprint") != fingerprint:
        raise BrokenShard(f"{path.name} belongs to another run")
    if len(episodes) != shard.size:
        raise BrokenShard(f"{path.name} holds {len(episodes)} episodes instead of {shard.size}")
    return Filled(shard, episodes, about["device"])


def _episodes(arrays: dict[str, np.ndarray]) -> list[Episode]:
    ends = np.cumsum(arrays["lengths"])
    if any(len(arrays[_ROW + name]) != ends[-1] for name in Row._fields):
        raise ValueError("rows are missing")
    pieces = [np.split(arrays[_ROW + name], ends[:-1]) for name in Row._fields]
    return [
        Episode(theta, final_theta, Row(*rows), float(seconds))
        for theta, final_theta, seconds, *rows in zip(
            arrays["theta"], arrays["final_theta"], arrays["seconds"], *pieces, strict=True
        )
    ]
