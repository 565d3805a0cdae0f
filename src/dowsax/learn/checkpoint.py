"""Checkpoints of a training run: one safetensors file, replaced atomically.

It holds the network, the optimiser, the counts and the rows of the curve. The searches in progress are as
large as the memory of the accelerator, so by default they are left out: a resumed run starts new searches and
is then the same in distribution, not bit for bit.
"""

import json
import os
import re
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
from dowsax.policies.stored import rename_keys

VERSION = 1
"""Version of the layout of the file."""
_HEADER = "dowsax"
_ENTRIES = ("configuration", "updates", "rows")
_ENVIRONMENTS = ".environments"
_STEPS = "steps"
_RENAMED_ARRAYS = {
    "slots": "environments",
    "taking": "pending",
    "chosen": "decision",
    "seen": "observation",
    "begun": "is_start",
    "degenerate": "is_degenerate",
    "newest": "new_log_likelihood",
    "vacant": "is_vacant",
}
"""Old and new parts of the names of arrays: checkpoints with the old ones still open."""

Row = dict[str, float | int]
"""The measures of one update."""


class Checkpoint(NamedTuple):
    """The contents of a checkpoint."""

    path: Path
    updates: int
    rows: list[Row]
    arrays: dict[str, np.ndarray]
    extended: tuple[int, ...]
    """As in `Checkpointer`, including this extension."""


@dataclass(frozen=True)
class Checkpointer:
    """Writes and reads the checkpoint of one run."""

    path: Path
    configuration: Mapping[str, Any]
    """The settings of the run, as JSON. A checkpoint with other settings is refused, except that a finished
    run may be extended to a larger number of `steps`."""
    exact: bool = False
    """Save the searches in progress too, so that a resumed run is the same bit for bit."""
    extended: tuple[int, ...] = ()
    """The earlier numbers of steps of a run that was extended, oldest first."""

    @property
    def previous(self) -> Path:
        """The checkpoint before the newest."""
        return self.path.with_name(f"{self.path.stem}.previous{self.path.suffix}")

    def save(self, state: LearnerState, rows: list[Row]) -> None:
        """Replace the checkpoint. An interruption leaves a complete one: the new or the last."""
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
            if self.exact or not name.startswith(_ENVIRONMENTS)
        }
        data = safetensors.numpy.save(arrays, metadata={_HEADER: json.dumps(header)})
        with replace_file(self.path) as partial:
            write_through(partial, data)
            if self.path.exists():
                os.replace(self.path, self.previous)
        _sync_folder(self.path.parent)

    def load(self) -> Checkpoint | None:
        """Read the newest checkpoint, or the one before if it is damaged; return None if there is none.

        Raise a ValueError in one line for a checkpoint of another layout or other settings.
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
        self._require_same(path, rename_keys(header["configuration"]))
        return Checkpoint(path, header["updates"], header["rows"], arrays, self._extensions(path, header))

    def _extensions(self, path: Path, header: dict[str, Any]) -> tuple[int, ...]:
        """Return the earlier numbers of steps, with the last one if this extends the run."""
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

    def _require_same(self, path: Path, saved: dict[str, Any]) -> None:
        # Through JSON, which turns a tuple into a list.
        here = json.loads(json.dumps(dict(self.configuration)))
        # `_extensions` checks the numbers of steps.
        extendable = {_STEPS} & saved.keys() & here.keys()
        names = [name for name in {**saved, **here} if name not in extendable]
        differing = [name for name in names if saved.get(name) != here.get(name)]
        if differing:
            differences = "; ".join(
                f"{name} is {_format(saved.get(name))} there and {_format(here.get(name))} here"
                for name in differing
            )
            raise ValueError(
                f"{path} belongs to a run of another configuration: {differences}. "
                "Give the same settings, or another folder."
            )


def restore(checkpoint: Checkpoint, fresh: LearnerState) -> LearnerState:
    """Return the saved state; searches that were not saved are those of `fresh`."""
    leaves = _leaves(fresh)
    for name in {**leaves, **checkpoint.arrays}:
        if name in leaves and name not in checkpoint.arrays and name.startswith(_ENVIRONMENTS):
            continue
        _require_like(checkpoint, name, leaves.get(name))
    arrays = {
        name: _like(checkpoint.arrays[name], leaf)
        for name, leaf in leaves.items()
        if name in checkpoint.arrays
    }
    values = [arrays.get(name, leaf) for name, leaf in leaves.items()]
    held, rest = eqx.partition(fresh, eqx.is_array)
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(held), values), rest)


def _require_like(checkpoint: Checkpoint, name: str, leaf: Array | None) -> None:
    """Raise a ValueError in one line unless an array is on both sides and has the same shape."""
    saved = checkpoint.arrays.get(name)
    if leaf is None or saved is None:
        where = "the file only" if leaf is None else "the network here only"
        raise ValueError(f"{checkpoint.path} is of another network: {name} is in {where}.")
    here = _plain(leaf)
    if (saved.shape, saved.dtype) != (here.shape, here.dtype):
        raise ValueError(
            f"{checkpoint.path} is of another network: {name} is {saved.dtype}{list(saved.shape)} there "
            f"and {here.dtype}{list(here.shape)} here."
        )


def _leaves(state: LearnerState) -> dict[str, Array]:
    """Return the arrays of a state by path."""
    held = jax.tree_util.tree_leaves_with_path(eqx.filter(state, eqx.is_array))
    return {jax.tree_util.keystr(path): leaf for path, leaf in held}


def _plain(leaf: Array) -> np.ndarray:
    """Convert to numbers that a file can hold; PRNG keys to their bits."""
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _like(numbers: np.ndarray, leaf: Array) -> Array:
    # A copy: an array that shares memory with NumPy cannot be donated.
    array = jnp.array(numbers)
    return jax.random.wrap_key_data(array, impl=jax.random.key_impl(leaf)) if _is_key(leaf) else array


def _is_key(leaf: Array) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _first_whole(paths: Sequence[Path]) -> tuple[Path, dict[str, Any], dict[str, np.ndarray]]:
    """Read the first of these files that can be read; if none can, raise the error of the first."""
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
            arrays = {_current_name(name): file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        # A file of another layout is recognised by its version and may lack the other entries.
        if header["version"] == VERSION and not set(_ENTRIES) <= set(header):
            raise ValueError(f"its header lacks one of {', '.join(_ENTRIES)}")
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read, it is cut short or no checkpoint ({reason}): give another folder."
        ) from None
    return header, arrays


def _current_name(name: str) -> str:
    """Rename the parts of an array's path in a checkpoint of an earlier version."""
    return re.sub(r"(?<=\.)\w+", lambda part: _RENAMED_ARRAYS.get(part[0], part[0]), name)


def _sync_folder(folder: Path) -> None:
    """Flush the names of the files to disk, on systems that allow it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _format(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
