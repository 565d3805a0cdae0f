"""The store: a folder with one file for each run, and shards of the runs that are incomplete."""

import json
import shutil
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dowsax.evaluate.trace import Episode
from dowsax.experiments.fingerprint import code_version
from dowsax.experiments.provenance import provenance
from dowsax.experiments.records import Arrays, unpack
from dowsax.experiments.run import Run
from dowsax.experiments.walks import WalkRun
from dowsax.files import replace_file

AnyRun = Run | WalkRun
Warn = Callable[[str], None]
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


class Shard(NamedTuple):
    """The episodes from `start` to before `stop` of a run."""

    run: AnyRun
    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start

    @property
    def label(self) -> str:
        """The path of its file below the folder of runs."""
        run = self.run
        return f"{run.folder}/{run.name}-{run.fingerprint}.shards/{self.start:05d}-{self.stop:05d}.npz"


class Results(NamedTuple):
    """The arrays of a shard or run, and what they were computed with."""

    arrays: Arrays
    about: dict[str, Any]


@dataclass(frozen=True)
class Store:
    """A folder of results."""

    folder: Path
    shard_size: int = 25
    """Episodes computed and written together."""
    trusted: Collection[str] | None = ()
    """Hashes of other filter code that is known to give the same numbers; `None` trusts any code."""

    def __post_init__(self) -> None:
        if self.shard_size < 1:
            raise ValueError(f"A shard must have at least 1 episode; got {self.shard_size}.")
        # Where earlier versions of `dowsax reproduce` and of the benchmarks wrote their results.
        if (self.folder / "cells").is_dir() or (self.folder / "default" / "id").is_dir():
            raise ValueError(
                f"{self.folder} has results in the layout of an earlier version, which this one does not "
                "read: give another --out, and they are computed again."
            )

    def path(self, run: AnyRun) -> Path:
        """The file of a complete run; runs with other settings have other names."""
        return self.folder / "runs" / run.folder / f"{run.name}-{run.fingerprint}.npz"

    def shard_path(self, shard: Shard) -> Path:
        return self.folder / "runs" / shard.label

    def shards(self, run: AnyRun) -> list[Shard]:
        """All shards of a run."""
        size = run.shard_size(self.shard_size)
        starts = range(0, run.episodes, size)
        return [Shard(run, start, min(start + size, run.episodes)) for start in starts]

    def about(self, run: AnyRun, warn: Warn = lambda message: None) -> dict[str, Any] | None:
        """What a complete run was computed with; `None` if it is missing or damaged."""
        return self._about(self.path(run), run, warn)

    def has(self, shard: Shard) -> bool:
        """Whether a shard, or its whole run, has been computed."""
        if self.about(shard.run) is not None:
            return True
        return self._about(self.shard_path(shard), shard.run, lambda message: None) is not None

    def missing(self, runs: Sequence[AnyRun], warn: Warn = lambda message: None) -> list[Shard]:
        """The shards that must be computed; `warn` is called for files that are damaged."""
        return [
            shard
            for run in self.incomplete(runs, warn)
            for shard in self.shards(run)
            if self._read_shard(shard, warn) is None
        ]

    def incomplete(self, runs: Sequence[AnyRun], warn: Warn = lambda message: None) -> list[AnyRun]:
        """The runs that lack results."""
        return [run for run in runs if self.about(run, warn) is None]

    def write(self, shard: Shard, arrays: Arrays, made: dict[str, Any]) -> None:
        """Write a shard and join the last one to the others. `made`: the device, and the time it took [s]."""
        about = shard.run.settings() | code_version() | provenance() | made
        self._write(self.shard_path(shard), Results(arrays, about | {"fingerprint": shard.run.fingerprint}))
        self.join(shard.run)

    def join(self, run: AnyRun) -> None:
        """Replace the shards of a run by its one file, if all of them are there."""
        shards = self.shards(run)
        if not all(self.shard_path(shard).exists() for shard in shards):
            return
        parts = [part for shard in shards if (part := self._read_shard(shard)) is not None]
        if len(parts) == len(shards):
            self._write(self.path(run), _join(parts))
            # Another process may have joined the same shards.
            shutil.rmtree(self.shard_path(shards[0]).parent, ignore_errors=True)

    def read(self, run: AnyRun) -> Arrays | None:
        """The arrays of a complete run; `None` if it is missing."""
        if self.about(run) is None:
            return None
        path = self.path(run)
        try:
            return _read(path).arrays
        except _UNREADABLE:
            raise ValueError(
                f"{path} is damaged: delete it, and the same command computes it again."
            ) from None

    def episodes(self, run: Run) -> list[Episode] | None:
        """The searches of a complete run; `None` if it is missing."""
        arrays = self.read(run)
        return None if arrays is None else unpack(arrays)

    def first_episodes(self, run: Run) -> list[Episode]:
        """The searches of a run; of an incomplete one those before the first missing shard."""
        found = self.episodes(run)
        if found is not None:
            return found
        found = []
        for shard in self.shards(run):
            part = self._read_shard(shard)
            if part is None:
                break
            found += unpack(part.arrays)
        return found

    def _write(self, path: Path, results: Results) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {"about": np.array(json.dumps(results.about)), **results.arrays}
        with replace_file(path) as partial, partial.open("wb") as file:
            np.savez_compressed(file, **arrays)

    def _read_shard(self, shard: Shard, warn: Warn = lambda message: None) -> Results | None:
        path = self.shard_path(shard)
        if self._about(path, shard.run, warn) is None:
            return None
        try:
            return _read(path)
        except _UNREADABLE:
            warn(_damage(path))
            return None

    def _about(self, path: Path, run: AnyRun, warn: Warn) -> dict[str, Any] | None:
        """The head of a file; a ValueError if other code has computed it."""
        try:
            # Opened here, as numpy does not close a file it cannot read.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                about = json.loads(str(archive["about"]))
            if about["fingerprint"] != run.fingerprint:
                raise ValueError("it belongs to another run")
        except FileNotFoundError:
            return None
        except _UNREADABLE:
            warn(_damage(path))
            return None
        if self.trusted is None or about["code"] in self.trusted:
            return about
        here = code_version()["code"]
        if about["code"] != here:
            raise ValueError(
                f"{path} was computed by other code, with the hash {about['code']}, here it is {here}: give "
                f"another --out, or --trust {about['code']} if that code is known to give the same numbers."
            )
        return about


def _damage(path: Path) -> str:
    return f"{path} is damaged or belongs to another run: it is computed again."


def _read(path: Path) -> Results:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        arrays = dict(archive)
    return Results(arrays, json.loads(str(arrays.pop("about"))))


def _join(parts: Sequence[Results]) -> Results:
    """The results of consecutive shards as one."""
    arrays = {name: np.concatenate([part.arrays[name] for part in parts]) for name in parts[0].arrays}
    devices = sorted({part.about["device"] for part in parts})
    took = sum(part.about["took"] for part in parts)
    return Results(arrays, parts[-1].about | {"device": ", ".join(devices), "took": took})
