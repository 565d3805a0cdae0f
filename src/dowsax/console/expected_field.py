"""The expected readings under a belief, on a grid."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.console.snapshots import ParticleSamples
from dowsax.files import finite
from dowsax.mission.plan import Plan
from dowsax.survey.reading import Reading
from dowsax.types import Station
from dowsax.world import Model
from dowsax.world.trails import move_station

GRID_CELLS = 48
"""Along the longer side."""
_NUM_SAMPLES = 100
_BATCH_SIZE = 64


def expected_field(plan: Plan, samples: ParticleSamples, readings: Sequence[Reading]) -> dict[str, Any]:
    r"""Return $\mathbb E[z \mid p, z_{1:k}]$ on a grid, in the unit of the readings, from the south-west.

    Wind and other measurements are those of the last reading. The noise is the same at all places, so that
    the picture has no grain.
    """
    low, high = np.asarray(plan.reach.area, np.float64)
    columns, rows = np.maximum(np.round(GRID_CELLS * (high - low) / (high - low).max()), 2).astype(int)
    x, y = (
        low[axis] + (np.arange(count) + 0.5) * (high[axis] - low[axis]) / count
        for axis, count in ((0, columns), (1, rows))
    )
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    station = plan.stations.station(readings[-1], readings[:-1])
    thetas = samples.thetas[:: max(1, len(samples.thetas) // _NUM_SAMPLES)]
    values = _mean_field(plan.model, jnp.asarray(thetas), station, jnp.asarray(places, jnp.float32))
    return {
        "low": low.tolist(),
        "high": high.tolist(),
        "columns": int(columns),
        "rows": int(rows),
        "values": [finite(value) for value in np.asarray(values)],
        "unit": plan.unit,
        "comparable": plan.reading != "rank",
    }


@eqx.filter_jit
def _mean_field(
    model: Model, thetas: Float[Array, "k d"], station: Station, places: Float[Array, "cells 2"]
) -> Float[Array, " cells"]:
    keys = jax.random.split(jax.random.key(0), thetas.shape[0])

    def at(place: Float[Array, "2"]) -> Float[Array, ""]:
        there = move_station(station, place)
        return jnp.mean(jax.vmap(model.sketch_reading, in_axes=(0, 0, None))(keys, thetas, there))

    return jax.lax.map(at, places, batch_size=_BATCH_SIZE)
