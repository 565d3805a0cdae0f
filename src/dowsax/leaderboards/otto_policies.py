"""Policies of the olfactory search: infotaxis and its space-aware variant, one step or two ahead."""

import numpy as np

from dowsax.leaderboards.otto import After, Beliefs, Case, Places


def infotaxis(case: Case, beliefs: Beliefs, places: Places, after: After) -> np.ndarray:
    """Return the expected entropy of the belief after each move (Vergassola et al. 2007)."""
    chances, entropies = _entropies(after.joint)
    return (1 - after.found) * np.sum(chances * entropies, axis=2)


def space_aware(case: Case, beliefs: Beliefs, places: Places, after: After) -> np.ndarray:
    r"""Return the expected $\log_2(D + 2^{H-1} - 1/2)$ after each move (Loisy and Eloy 2022)."""
    chances, entropies = _entropies(after.joint)
    distances = _distances(case, after) / np.maximum(chances, 1e-300)
    values = np.log2(np.maximum(distances + 2 ** (entropies - 1) - 0.5, 1e-300))
    return (1 - after.found) * np.sum(np.where(chances > 0, chances * values, 0.0), axis=2)


def _entropies(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each reading, and the entropy [bit] of the belief after it."""
    chances = joint.sum(axis=(-2, -1))
    surprise = -np.sum(joint * np.log2(np.maximum(joint, 1e-300)), axis=(-2, -1))
    entropies = surprise / np.maximum(chances, 1e-300) + np.log2(np.maximum(chances, 1e-300))
    return chances, np.where(chances > 0, entropies, 0.0)


def _distances(case: Case, after: After) -> np.ndarray:
    """Return (n, 4, hits) the mean distance of the source in steps, times the probability of the reading."""
    columns, rows = after.joint.sum(axis=4), after.joint.sum(axis=3)
    east = np.abs(np.arange(case.shape[0]) - after.places[..., :1])
    north = np.abs(np.arange(case.shape[1]) - after.places[..., 1:])
    return np.einsum("...hx,...x->...h", columns, east) + np.einsum("...hy,...y->...h", rows, north)
