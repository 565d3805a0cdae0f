"""Fingerprints of models and their actions: by them a policy knows what it was trained for."""

import hashlib
import re
from typing import Any

import jax
import numpy as np

from dowsax.world import ActionSpace, Model

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def fingerprint(model: Model, actions: ActionSpace) -> str:
    """Return sixteen letters that differ between problems with another model or other actions.

    Numbers count in single precision, and functions by their name: what is inside them is not compared.
    """
    leaves, structure = jax.tree.flatten((model, actions))
    digest = hashlib.sha256(_ADDRESS.sub("", str(structure)).encode())
    for leaf in leaves:
        digest.update(_bytes(leaf))
    return digest.hexdigest()[:16]


def _bytes(leaf: Any) -> bytes:
    if isinstance(leaf, jax.Array | np.ndarray | float | int):
        array = np.asarray(leaf, np.float32)
        return f"{array.shape}".encode() + array.tobytes()
    return _ADDRESS.sub("", repr(leaf)).encode()
