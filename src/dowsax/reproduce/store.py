"""The folder of a reproduction: cells by name, each in one file that is whole or not there."""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np

from dowsax.evaluate.trace import Episode
from dowsax.experiment.fingerprint import filter_marks
from dowsax.experiment.provenance import provenance
from dowsax.files import replacing
from dowsax.policies.shipped import weights_path
from dowsax.policies.stored import card_of, digest_of
from dowsax.reproduce.cells import Arrays, Cell, SearchCell, Sizes, WalkCell, Walks, unpacked
from dowsax.reproduce.lines import Line

try:
    import fcntl
except ImportError:
    # Without it two processes may compute the same cell, which costs time and nothing else.
    fcntl = None


_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Store:
    """Where cells are kept, and what decides about their numbers."""

    folder: Path
    sizes: Sizes
    sources: Mapping[str, str] = field(default_factory=dict)
    """The files of policies that are not known by name."""
    trusted: Collection[str] = ()
    """Marks of code that is known to search alike."""
    earlier: Sequence[Line] = ()
    """Lines of a table that was written before, for the cells that are not here."""

    def source(self, cell: Cell) -> str:
        """The name of the policy, or the file of its weights."""
        return self.sources.get(cell.policy, cell.policy)

    @cached_property
    def _weights(self) -> dict[str, dict[str, Any]]:
        return {}

    def weights(self, source: str) -> dict[str, Any]:
        """Letters that tell trained weights apart, and the moves of their training."""
        path = weights_path(source)
        if path is not None and source not in self._weights:
            self._weights[source] = {"weights": digest_of(path), "steps": card_of(path).steps}
        return self._weights.get(source, {})

    def settings(self, cell: Cell) -> dict[str, Any]:
        """All that decides about the numbers of a cell."""
        marks = filter_marks(self.sizes.preset(cell.filter))
        # The cell says the name of its filter, the marks say which choices that means.
        chosen = {"choices": marks.pop("filter")} | marks
        return cell.settings(self.sizes) | self.weights(self.source(cell)) | chosen

    def path(self, cell: Cell) -> Path:
        """Cells with other settings have other names; those of other code have the same."""
        settings = {
            name: value for name, value in self.settings(cell).items() if name not in ("code", "dowsax")
        }
        mark = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
        return self.folder / "cells" / cell.folder / f"{cell.name}-{mark}.npz"

    def about(self, cell: Cell) -> dict[str, Any] | None:
        """What a kept cell was computed with; none where it is not there, or damaged.

        A ValueError for one that other code has computed.
        """
        path = self.path(cell)
        try:
            # Opened here, as numpy does not close a file it cannot read.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                about = json.loads(str(archive["about"]))
        except _UNREADABLE:
            return None
        here = self.settings(cell)["code"]
        if about.get("code") != here and about.get("code") not in self.trusted:
            raise ValueError(
                f"{path} was computed by other code, marked {about.get('code')}, here it is {here}: give "
                f"another --out, or --trust {about.get('code')} if that code is known to search alike."
            )
        return about

    def missing(self, cells: Sequence[Cell]) -> list[Cell]:
        """The cells that are still to be computed."""
        return [cell for cell in cells if self.about(cell) is None]

    def keep(self, cell: Cell, arrays: Arrays, took: float | None = None) -> None:
        """Write a cell down, whole or not at all, and how long it took [s] with all that was compiled."""
        path = self.path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        about = self.settings(cell) | provenance() | {"took": took}
        kept: dict[str, Any] = {"about": np.array(json.dumps(about)), **arrays}
        with replacing(path) as partial, partial.open("wb") as file:
            np.savez_compressed(file, **kept)

    def _read(self, cell: Cell) -> Arrays | None:
        if self.about(cell) is None:
            return None
        path = self.path(cell)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files if name != "about"}
        except _UNREADABLE:
            raise ValueError(
                f"{path} is damaged: delete it, and the same command computes it again."
            ) from None

    def episodes(self, cell: SearchCell) -> list[Episode] | None:
        """The searches of a cell, if it is there."""
        arrays = self._read(cell)
        return None if arrays is None else unpacked(arrays)

    def walks(self, cell: WalkCell) -> Walks | None:
        """The walks of a cell, if it is there."""
        arrays = self._read(cell)
        return None if arrays is None else Walks(**arrays)

    @contextmanager
    def claimed(self, cells: Sequence[Cell]) -> Iterator[Cell | None]:
        """The first of these cells that no other process on this folder is at; none where there is none.

        Cells of one folder share their compiled programs, so one of a folder that nobody is at comes first.
        A claim is a lock on one byte of a file, which the system takes back when a process ends, however.
        """
        if fcntl is None:
            yield next(iter(cells), None)
            return
        with (self.folder / ".claims").open("ab") as file:
            folders: dict[str, list[Cell]] = {}
            for cell in cells:
                folders.setdefault(cell.folder, []).append(cell)
            free = (members for name, members in folders.items() if _locked(file, name))
            first = next((found for members in free if (found := self._first(file, members))), None)
            yield first or self._first(file, cells)

    def _first(self, file: IO[bytes], cells: Sequence[Cell]) -> Cell | None:
        return next((cell for cell in cells if _locked(file, self.path(cell).name + cell.folder)), None)


def _locked(file: IO[bytes], name: str) -> bool:
    """Whether a name of one's own could be locked; it is let go when the file is closed."""
    assert fcntl is not None
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte_of(name))
    except OSError:
        return False
    return True


def byte_of(name: str) -> int:
    """The place in the file of claims at which a name is locked."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
