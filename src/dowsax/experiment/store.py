"""A run folder: what was asked and with what it was computed (run.json), shards, and a table of episodes."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dowsax.evaluate.trace import Episode
from dowsax.experiment.assemble import Cell, assemble, cells_of
from dowsax.experiment.config import RunConfig
from dowsax.experiment.episode_table import holds, read_episodes, write_episodes
from dowsax.experiment.provenance import provenance
from dowsax.experiment.shards import BrokenShard, Filled, Shard, cut, read_shard, write_shard
from dowsax.extras import has_extra
from dowsax.files import replacing
from dowsax.version import versions

SCHEMA = 1
"""The number of the folder's layout."""
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """A run folder, complete or not."""

    folder: Path
    configuration: RunConfig
    record: dict[str, Any]
    """All of run.json."""

    @property
    def fingerprint(self) -> str:
        """Of the episodes it was made for."""
        return self.record["fingerprint"]

    @property
    def table(self) -> Path:
        return self.folder / "episodes.parquet"

    def path(self, shard: Shard) -> Path:
        return self.folder / "shards" / shard.file_name

    def missing(self, warn: Warn = lambda message: None) -> list[Shard]:
        """The shards that are still to be computed; `warn` is told of files that are there but broken."""
        return [shard for shard in cut(self.configuration) if self._read(shard, warn) is None]

    def keep(self, filled: Filled) -> None:
        """Write a shard down."""
        self.path(filled.shard).parent.mkdir(exist_ok=True)
        write_shard(self.path(filled.shard), filled, self.fingerprint)

    def changes(self) -> list[str]:
        """The versions it was begun with, where they are not those here: numbers may differ a little."""
        here = versions()
        return [f"{name} {one}" for name, one in self.record["versions"].items() if here.get(name) != one]

    def cells(self) -> dict[Cell, list[Episode]]:
        """The episodes of each cell, in place of their numbers; of an incomplete run, up to the first gap."""
        if _has_pyarrow() and self.table.exists() and holds(self.table, ()):
            read = read_episodes(self.table)
            return {cell: read[cell] for cell in cells_of(self.configuration)}
        return self.from_shards()

    def from_shards(self) -> dict[Cell, list[Episode]]:
        """Likewise, from the shards alone."""
        cells: dict[Cell, list[Episode]] = {cell: [] for cell in cells_of(self.configuration)}
        for shard in cut(self.configuration):
            filled = self._read(shard, lambda message: None)
            if filled is not None and len(cells[shard.cell]) == shard.start:
                cells[shard.cell] += filled.episodes
        return cells

    def tabulate(self) -> bool:
        """Write the table of episodes of a complete run unless it is there; false where pyarrow is not."""
        if not _has_pyarrow():
            return False

        if not holds(self.table, self.configuration.rules):
            search, _ = assemble(self.configuration, cells_of(self.configuration)[0])
            names = [parameter.name for parameter in search.model.prior.parameters]
            write_episodes(self.table, self.from_shards(), names, self.configuration.rules)
        return True

    def _read(self, shard: Shard, warn: Warn) -> Filled | None:
        try:
            return read_shard(self.path(shard), shard, self.fingerprint)
        except FileNotFoundError:
            return None
        except BrokenShard as error:
            warn(f"The shard {error}: it is computed again.")
            return None


def open_run(folder: Path, config: RunConfig, shard_size: Callable[[], int]) -> Run:
    """The run of this configuration in the folder, begun anew where there is none.

    The cut of a run that has begun stays; a new one is cut by `shard_size()`. A folder of other episodes is
    refused. Another stop rule is welcome where the recorded episodes can answer for it.
    """
    if not (folder / "run.json").exists():
        return _begin(folder, config, shard_size())
    run = read_run(folder)
    require_same(run, config)
    kept = replace(config, shard_size=run.configuration.shard_size)
    if kept == run.configuration:
        return run
    record = run.record | {"configuration": kept.to_dict()}
    _write_json(folder / "run.json", record)
    return Run(folder, kept, record)


def read_run(folder: Path) -> Run:
    """An existing run folder."""
    path = folder / "run.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        schema, config = record["schema"], record["configuration"]
        run = Run(folder, RunConfig.from_dict(config), record) if schema == SCHEMA else None
        _ = record["fingerprint"]
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(
            f"{folder} is no run folder, as it has no run.json: `dowsax evaluate --out {folder}` makes one."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}): give another folder.") from None
    if run is None:
        raise ValueError(
            f"{folder} has layout {schema}, this version of dowsax reads {SCHEMA}: give another folder."
        )
    return run


def require_same(run: Run, config: RunConfig) -> None:
    """A ValueError that names the settings in which a folder and a configuration differ."""
    there, here = (each.settings() | {"until": str(each.rule)} for each in (run.configuration, config))
    if run.fingerprint == config.fingerprint:
        return
    names = {"until": "stop"}
    differing = [name for name in here if there[name] != here[name]]
    said = [
        f"{names.get(name, name)} is {_said(there[name])} there and {_said(here[name])} here"
        for name in differing
    ]
    what = "; ".join(said) or "the weights of its policies, or its ladder of stop rules, have changed since"
    raise ValueError(
        f"{run.folder} holds a run of another configuration: {what}. "
        "Give the same settings, or another folder with --out."
    )


def _begin(folder: Path, config: RunConfig, shard_size: int) -> Run:
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty and no run folder: give a new or empty one with --out.")
    config = replace(config, shard_size=shard_size)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"Cannot make the run folder {folder}: {error.strerror}.") from None
    about = {"schema": SCHEMA, "fingerprint": config.fingerprint, **provenance()}
    record = about | {"configuration": config.to_dict()}
    _write_json(folder / "run.json", record)
    return Run(folder, config, record)


def _write_json(path: Path, record: dict[str, Any]) -> None:
    with replacing(path) as partial:
        partial.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _has_pyarrow() -> bool:
    return has_extra("results")


def _said(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
