"""The readings that are planned and not taken yet, and candidates apart from their places.

They are those that other searchers are about to take, and those at earlier places of the same plan.
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dowsax.types import Scalar, Waypoint
from dowsax.world import Candidates


class PlannedReadings(eqx.Module):
    """Where readings are planned; those to which nobody is going count for nothing."""

    places: Float[Array, "others 2"]
    """[m]"""
    is_going: Bool[Array, " others"]
    altitudes: Float[Array, " others"] | None = None
    """[m] above ground, where readings are at several heights; else that of the one who plans."""

    @property
    def targets(self) -> "Float[Array, 'others 2'] | Waypoint":
        """Where they read."""
        return self.places if self.altitudes is None else Waypoint(self.places, self.altitudes)


def planned_readings(
    places: Sequence[tuple[float, float]], room: int, heights: Sequence[float] | None = None
) -> PlannedReadings:
    """Return the readings that are about to be taken, with room for `room` of them.

    They are at these places [m] and, where these are given, heights above ground [m].
    """
    number = len(places)
    filled = np.zeros((room, 2), np.float32)
    filled[:number] = np.reshape(places, (-1, 2))
    altitudes = None
    if heights is not None:
        altitudes = jnp.asarray(np.pad(np.asarray(heights, np.float32), (0, room - number)))
    return PlannedReadings(jnp.asarray(filled), jnp.asarray(np.arange(room) < number), altitudes)


def keep_apart(
    candidates: Candidates, planned: PlannedReadings | None, distance: float | Scalar
) -> Candidates:
    """Return the candidates farther than the distance [m] from planned places; all, where none is."""
    if planned is None:
        return candidates
    is_apart = _apart(candidates.places, planned, distance) & candidates.mask
    return candidates._replace(mask=jnp.where(is_apart.any(), is_apart, candidates.mask))


def _apart(
    places: Float[Array, "k 2"], planned: PlannedReadings, distance: float | Scalar
) -> Bool[Array, " k"]:
    squares = jnp.sum((places[:, None, :] - planned.places[None, :, :]) ** 2, axis=2)
    return jnp.all((squares > distance**2) | ~planned.is_going[None, :], axis=1)
