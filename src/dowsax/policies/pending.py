"""Readings that other searchers are about to take, which a planner expects before its own."""

from typing import NamedTuple

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int

from dowsax.types import Waypoint


class Pending(eqx.Module):
    """The places of readings that others are about to take; those that are not going count for nothing."""

    places: Float[Array, "others 2"]
    """[m]"""
    is_going: Bool[Array, " others"]
    altitudes: Float[Array, " others"] | None = None
    """[m] above ground, where readings are at several heights; else that of the one who plans."""

    @property
    def targets(self) -> "Float[Array, 'others 2'] | Waypoint":
        """Where they read."""
        return self.places if self.altitudes is None else Waypoint(self.places, self.altitudes)


class Expected(NamedTuple):
    """Simulated readings of other searchers, for a number of hypotheses, and what they tell."""

    members: Int[Array, " hypotheses"]
    """The particle of each hypothesis; all are equally probable."""
    log_weights: Float[Array, "hypotheses n"]
    """Of the particles, after the readings that others take if a hypothesis is true."""
