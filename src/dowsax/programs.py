"""`stored_jit`, an `equinox.filter_jit` whose programs are traced once on a machine.

JAX keeps compiled programs between runs, but each run has to trace and lower a program before JAX can look it
up. For the filter of a site that takes longer than everything else in a warm start. Where JAX's compilation
cache is on, lowered programs are kept in it, in the folder `programs`, and a run that finds one there neither
traces nor lowers.

A stored program belongs to the source and weights of dowsax as they were imported, the versions and settings
of JAX, the shapes of the arguments, and their parts that are no numbers. Where those refer to other code, as
a model with a field of its user does, or to a file of weights of its user, the program is not stored, because
those may change.
"""

import functools
import hashlib
import os
import pickle
import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from dowsax.files import replace_file

_PINNED_PACKAGES = ("dowsax", "jax", "jaxlib", "equinox", "jaxtyping", "numpy")
"""Those whose source or version is part of the name of a stored program."""
_SETTINGS = (
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_default_prng_impl",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
    "jax_threefry_partitionable",
)
_SOURCE_SUFFIXES = (".py", ".safetensors", ".json")
_CHECKSUM_BYTES = hashlib.sha256().digest_size


_NOT_PINNED = (pickle.PicklingError, AttributeError, TypeError)
"""What pickling raises of what is not pinned, or cannot be pickled at all."""


@dataclass(frozen=True)
class _Array:
    """Stands for an array in a tree of what is no array."""

    shape: tuple[int, ...]
    dtype: str
    weak_type: bool


class _Program(NamedTuple):
    """A function from the arrays of the arguments to those of the result, and the rest of the result."""

    call: Callable[..., tuple[jax.Array, ...]]
    result: Any
    """The result with `_Array` in place of each array."""


class _Lowered(NamedTuple):
    """What is stored of a program."""

    exported: bytes
    result: bytes


def stored_jit(function: Callable) -> Callable:
    """Compile a function as `equinox.filter_jit` does, and store its programs where JAX's cache is on.

    Floats among the leaves of the arguments are arguments of the program, as arrays are: problems that differ
    by numbers alone share it.
    """
    compiled = eqx.filter_jit(function)
    loaded: dict[Hashable, _Program | None] = {}
    locks: dict[Hashable, threading.RLock] = {}

    def run(program: _Program | None, args: tuple, leaves: list):
        if program is None:
            return compiled(*args)
        arrays = [leaf for leaf in leaves if _is_array(leaf)]
        outputs = program.call(*arrays)
        if not any(getattr(array, "committed", False) for array in arrays):
            outputs = map(_uncommit, outputs)
        return _fill(program.result, iter(outputs))

    @functools.wraps(function)
    def call(*args):
        args = _with_numbers(args)
        folder = _folder()
        if folder is None:
            return compiled(*args)
        leaves = jax.tree.leaves(args)
        if any(isinstance(leaf, Tracer) for leaf in leaves):
            return compiled(*args)
        key = (folder, _settings(), *describe_arguments(args))
        if key not in loaded:
            # Threads that need one program at once would each compile it.
            with locks.setdefault(key, threading.RLock()):
                if key not in loaded:
                    program = _load_or_export(function, args, folder)
                    result = run(program, args, leaves)
                    loaded[key] = program
                    return result
        return run(loaded[key], args, leaves)

    return call


def describe_arguments(args: tuple) -> tuple[Hashable, ...]:
    """Return what the program of these arguments depends on: two that agree in it share one."""
    leaves, structure = jax.tree.flatten(_with_numbers(args))
    return structure, *map(_describe_leaf, leaves)


def _with_numbers(args: tuple) -> tuple:
    return jax.tree.map(lambda leaf: np.float32(leaf) if isinstance(leaf, float) else leaf, args)


def _folder() -> Path | None:
    """Return the folder of stored programs, or `None` where JAX has no compilation cache on this machine."""
    cache = getattr(jax.config, "jax_compilation_cache_dir", None)
    if not cache or "://" in cache or not getattr(jax.config, "jax_enable_compilation_cache", True):
        return None
    return Path(cache) / "programs"


def _settings() -> tuple[str, ...]:
    """Return what decides, besides the arguments, how JAX traces and lowers a function."""
    return jax.default_backend(), *(f"{name} {getattr(jax.config, name)}" for name in _SETTINGS)


def _is_array(leaf) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray | np.generic)


def _describe_leaf(leaf) -> Hashable:
    if not _is_array(leaf):
        return leaf
    kind = jax.typeof(leaf)
    return _Array(kind.shape, str(kind.dtype), bool(getattr(kind, "weak_type", False)))


def _uncommit(array: jax.Array) -> jax.Array:
    """Return the same array, not committed to its device.

    JAX commits what an exported program returns, and compiles a program anew for committed arrays: each that
    takes its own results, such as the step of a filter, would be compiled twice.
    """
    if jnp.issubdtype(array.dtype, jax.dtypes.extended):
        return array
    # No function of JAX does this without a copy.
    kind: Any = type(array)
    return kind(array.aval, array.sharding, [array], committed=False)


def _fill(tree, arrays: Iterator[jax.Array]):
    """Put arrays, in order, where the tree has `_Array`."""
    return jax.tree.map(lambda leaf: next(arrays) if isinstance(leaf, _Array) else leaf, tree)


def _load_or_export(function: Callable, args: tuple, folder: Path) -> _Program | None:
    """Return the stored program, or store it; `None` where it cannot be stored."""
    source = _imported_source()
    if source is None:
        return None
    try:
        _require_pinned(function)
        path = folder / f"{function.__name__}-{_digest(function, args, source)}"
    except _NOT_PINNED:
        return None
    lowered = _read(path)
    if lowered is None:
        lowered = _lower(function, args)
        if lowered is None:
            return None
        # Where the source has been changed since, this program may be of either.
        if _is_as_imported():
            _write(path, lowered)
    return _restore(lowered, function.__name__)


def _read(path: Path) -> _Lowered | None:
    """Return what is stored; `None` where nothing is, or where it is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    checksum, stored = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
    if hashlib.sha256(stored).digest() != checksum:
        return None
    return _Lowered(*pickle.loads(stored))


def _write(path: Path, lowered: _Lowered) -> None:
    stored = pickle.dumps(tuple(lowered))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as partial:
            partial.write_bytes(hashlib.sha256(stored).digest() + stored)
    except OSError:
        # A folder that cannot be written to only costs time.
        pass


def _restore(lowered: _Lowered, name: str) -> _Program:
    exported = jax.export.deserialize(bytearray(lowered.exported))

    def call(*leaves):
        return exported.call(*leaves)

    # By this name JAX logs that it compiles the program.
    call.__name__ = name
    return _Program(jax.jit(call), pickle.loads(lowered.result))


def _lower(function: Callable, args: tuple) -> _Lowered | None:
    """Trace and lower the function; `None` where JAX cannot export it."""
    arrays, rest = eqx.partition(args, _is_array)
    leaves, structure = jax.tree.flatten(arrays)
    results = []

    def call(*leaves):
        result = function(*eqx.combine(jax.tree.unflatten(structure, leaves), rest))
        results.append(jax.tree.map(_describe_leaf, result))
        return tuple(leaf for leaf in jax.tree.leaves(result) if _is_array(leaf))

    call.__name__ = function.__name__
    try:
        exported = jax.export.export(jax.jit(call))(*leaves)
        result = _pickle(results[-1])
    except (NotImplementedError, ValueError, *_NOT_PINNED):
        return None
    if any(isinstance(leaf, _Array) and leaf.weak_type for leaf in jax.tree.leaves(results[-1])):
        # An exported program gives arrays of strong types only.
        return None
    return _Lowered(bytes(exported.serialize()), result)


class _PinnedPickler(pickle.Pickler):
    """Refuses all that refers to code or files whose version is not part of the name of a program."""

    def reducer_override(self, obj):
        _require_pinned(obj)
        return NotImplemented


def _require_pinned(obj) -> None:
    module = getattr(obj, "__module__", None) or type(obj).__module__
    package = module.partition(".")[0]
    is_known = package in _PINNED_PACKAGES or package in sys.stdlib_module_names
    if not is_known or getattr(obj, "reads_own_file", False) is True:
        raise pickle.PicklingError(f"{obj!r} is not pinned")


def _pickle(tree) -> bytes:
    buffer = BytesIO()
    _PinnedPickler(buffer, protocol=5).dump(tree)
    return buffer.getvalue()


def _digest(function: Callable, args: tuple, source: str) -> str:
    """Return the name of the program of these arguments."""
    parts = (
        _pickle(jax.tree.map(_describe_leaf, args)),
        f"{function.__module__}.{function.__qualname__}",
        *_settings(),
        source,
    )
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


@functools.cache
def _imported_source() -> str | None:
    """Return the digest of the source in memory; `None` where its files were changed since the import."""
    try:
        return _source_digest() if _is_as_imported() else None
    except OSError:
        # Taken away in between.
        return None


def _is_as_imported() -> bool:
    """Whether the files of source and weights are still those of the code in memory."""
    try:
        return _file_stamps() == _IMPORTED_FILES
    except OSError:
        return False


def _source_digest() -> str:
    """Return a digest of the source and weights of dowsax, and the versions of what it is built on."""
    digest = hashlib.sha256(f"{sys.version} {jax.__version__} {eqx.__version__} {np.__version__}".encode())
    for name, *_ in _file_stamps():
        digest.update(name.encode() + b"\0" + (Path(__file__).parent / name).read_bytes())
    return digest.hexdigest()


def _file_stamps() -> list[tuple[str, int, int]]:
    """Return the files of source and weights, each with its time and size."""
    root = os.path.dirname(__file__)
    stamps = []
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(_SOURCE_SUFFIXES):
                path = os.path.join(folder, name)
                found = os.stat(path)
                stamps.append((os.path.relpath(path, root), found.st_mtime_ns, found.st_size))
    return sorted(stamps)


_IMPORTED_FILES = _file_stamps()
"""Of the code in memory: files may be changed while a program runs. To read them all would take longer."""
