"""Checkpoints of a training run: one safetensors file, replaced at once and never half-written.

It holds the network, the optimiser, the counts and the rows of the curve. The searches under way are as large
as the accelerator's memory, so they are left out unless asked for: a run that is taken up again begins new
searches and is then the same in distribution only, not bit for bit.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import safetensors
import safetensors.numpy
from jaxtyping import Array

from dowsax.files import replace_file, write_through
from dowsax.learn.base import LearnerState

VERSION = 1
"""The number of the file's layout."""
_HEADER = "dowsax"
_ENTRIES = ("configuration", "updates", "rows")
_SLOTS = ".slots"
_STEPS = "steps"

Row = dict[str, float | int]
"""One update: a line of the curve."""


class Kept(NamedTuple):
    """What a checkpoint holds."""

    path: Path
    updates: int
    rows: list[Row]
    arrays: dict[str, np.ndarray]
    extended: tuple[int, ...]
    """As of `Keeper`, with this extension."""


@dataclass(frozen=True)
class Keeper:
    """Keeps the checkpoint of one run."""

    path: Path
    configuration: Mapping[str, Any]
    """What the run is, as JSON can hold it. A checkpoint of anything else is refused, except that a finished
    run may go on to a larger number of `steps`."""
    exact: bool = False
    """Keep the searches under way as well, so that a run that is taken up again is the same bit for bit."""
    extended: tuple[int, ...] = ()
    """The numbers of steps the run was asked for before it was extended, oldest first."""

    @property
    def previous(self) -> Path:
        """The checkpoint before the newest."""
        return self.path.with_name(f"{self.path.stem}.previous{self.path.suffix}")

    def save(self, state: LearnerState, rows: list[Row]) -> None:
        """Replace the checkpoint. Whenever this is cut short, a whole one is left: the new or the last."""
        header = {
            "version": VERSION,
            "configuration": dict(self.configuration),
            "extended": list(self.extended),
            "updates": int(state.updates),
            "rows": rows,
        }
        arrays = {
            name: _plain(leaf)
            for name, leaf in _leaves(state).items()
            if self.exact or not name.startswith(_SLOTS)
        }
        data = safetensors.numpy.save(arrays, metadata={_HEADER: json.dumps(header)})
        with replace_file(self.path) as partial:
            write_through(partial, data)
            if self.path.exists():
                os.replace(self.path, self.previous)
        _sync_folder(self.path.parent)

    def load(self) -> Kept | None:
        """The newest checkpoint, or the one before where that is damaged; None where there is none.

        A ValueError in one line for one of no use.
        """
        paths = [path for path in (self.path, self.previous) if path.exists()]
        if not paths:
            return None
        path, header, arrays = _first_whole(paths)
        if header.get("version") != VERSION:
            raise ValueError(
                f"{path} has layout {header.get('version')}, this version of dowsax reads {VERSION}: "
                "give another folder."
            )
        self._require_same(path, header["configuration"])
        return Kept(path, header["updates"], header["rows"], arrays, self._extensions(path, header))

    def _extensions(self, path: Path, header: dict[str, Any]) -> tuple[int, ...]:
        """Return the earlier numbers of steps, with the last one where this extends the run."""
        before = tuple(header.get("extended", ()))
        asked, now = (int(one.get(_STEPS, 0)) for one in (header["configuration"], self.configuration))
        if asked == now:
            return before
        made = header["rows"][-1]["steps"] if header["rows"] else 0
        if made < asked:
            raise ValueError(
                f"{path}: {made:,} of {asked:,} steps have been made: it can be extended to {now:,} when it "
                f"is finished. Ask for {asked} steps, or give another folder."
            )
        if now <= made:
            raise ValueError(
                f"{path}: {made:,} steps have been made already, and {now:,} are asked for. "
                "Ask for more, or give another folder."
            )
        return *before, asked

    def _require_same(self, path: Path, there: dict[str, Any]) -> None:
        # As JSON would give it back, so that a tuple is a list.
        here = json.loads(json.dumps(dict(self.configuration)))
        # Of these two numbers `_extensions` decides.
        extendable = {_STEPS} & there.keys() & here.keys()
        names = [name for name in {**there, **here} if name not in extendable]
        differing = [name for name in names if there.get(name) != here.get(name)]
        if differing:
            said = "; ".join(
                f"{name} is {_said(there.get(name))} there and {_said(here.get(name))} here"
                for name in differing
            )
            raise ValueError(
                f"{path} belongs to a run of another configuration: {said}. "
                "Give the same settings, or another folder."
            )


def restore(kept: Kept, fresh: LearnerState) -> LearnerState:
    """The state that was kept; searches that were not kept are the fresh state's."""
    leaves = _leaves(fresh)
    for name in {**leaves, **kept.arrays}:
        if name in leaves and name not in kept.arrays and name.startswith(_SLOTS):
            continue
        _require_like(kept, name, leaves.get(name))
    arrays = {name: _like(kept.arrays[name], leaf) for name, leaf in leaves.items() if name in kept.arrays}
    values = [arrays.get(name, leaf) for name, leaf in leaves.items()]
    held, rest = eqx.partition(fresh, eqx.is_array)
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(held), values), rest)


def _require_like(kept: Kept, name: str, leaf: Array | None) -> None:
    """A ValueError in one line unless an array is there on both sides and of one shape."""
    there = kept.arrays.get(name)
    if leaf is None or there is None:
        where = "the file only" if leaf is None else "the network here only"
        raise ValueError(f"{kept.path} is of another network: {name} is in {where}.")
    here = _plain(leaf)
    if (there.shape, there.dtype) != (here.shape, here.dtype):
        raise ValueError(
            f"{kept.path} is of another network: {name} is {there.dtype}{list(there.shape)} there "
            f"and {here.dtype}{list(here.shape)} here."
        )


def _leaves(state: LearnerState) -> dict[str, Array]:
    """The arrays of a state by where they are in it."""
    held = jax.tree_util.tree_leaves_with_path(eqx.filter(state, eqx.is_array))
    return {jax.tree_util.keystr(path): leaf for path, leaf in held}


def _plain(leaf: Array) -> np.ndarray:
    """Numbers that a file can hold; keys as their bits."""
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _like(numbers: np.ndarray, leaf: Array) -> Array:
    # A copy, as what shares memory with numpy cannot be donated.
    array = jnp.array(numbers)
    return jax.random.wrap_key_data(array, impl=jax.random.key_impl(leaf)) if _is_key(leaf) else array


def _is_key(leaf: Array) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _first_whole(paths: Sequence[Path]) -> tuple[Path, dict[str, Any], dict[str, np.ndarray]]:
    """The first of these files that can be read; where none can, the error of the first."""
    errors = []
    for path in paths:
        try:
            return path, *_read(path)
        except ValueError as error:
            errors.append(error)
    raise errors[0]


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})[_HEADER])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        # One of another layout is told apart by its version, and need not have the rest.
        if header["version"] == VERSION and not set(_ENTRIES) <= set(header):
            raise ValueError(f"its header lacks one of {', '.join(_ENTRIES)}")
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        said = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read, it is cut short or no checkpoint ({said}): give another folder."
        ) from None
    return header, arrays


def _sync_folder(folder: Path) -> None:
    """Make the new names last, where the system lets a folder be opened for that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
