"""Checks of the arguments of `locate`, before any work: each error is one line that says what to do."""

import math
from collections.abc import Sequence
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.inference.presets import PRESETS, Preset
from dowsax.types import Key, Station
from dowsax.world import Checked, Model, Prior, Sensor, benchmark_model

_MAX_NUMBER = 1e30
"""Larger numbers would overflow float32."""


def check_survey(positions, readings, sensor: Sensor, num_axes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (k, 2) or (b, k, 2) and readings (k,) or (b, k) as float32; ValueError if unusable."""
    positions, readings = _numbers("positions", positions), _numbers("readings", readings)
    if positions.ndim not in (2, 3) or positions.shape[-1] != num_axes:
        raise ValueError(
            f"Positions must have the shape (k, {num_axes}), or (b, k, {num_axes}) for a batch; "
            f"got {positions.shape}."
        )
    if readings.shape != positions.shape[:-1]:
        raise ValueError(
            f"There must be one reading for each position: expected the shape {positions.shape[:-1]} "
            f"for the readings, got {readings.shape}."
        )
    if readings.size == 0:
        raise ValueError("The survey is empty: give at least one position with its reading.")
    _require_finite("position", np.asarray(np.isfinite(positions).all(axis=-1)), positions)
    _require_finite("reading", np.isfinite(readings), readings)
    fault = sensor.fault(readings) if isinstance(sensor, Checked) else None
    if fault is not None:
        raise ValueError(fault)
    return positions.astype(np.float32), readings.astype(np.float32)


def check_stations(stations: Station, positions: np.ndarray) -> Station:
    """Return the stations at these positions, as float32 and sensor numbers as int32."""
    if stations.far_end is not None and np.shape(stations.far_end) != positions.shape:
        raise ValueError(
            f"`far_end` must have the shape of the positions, {positions.shape}; "
            f"got {np.shape(stations.far_end)}."
        )

    def check(path, leaf):
        leaf = np.asarray(leaf, np.int32 if path[-1].name == "sensor" else np.float32)
        if leaf.shape[: positions.ndim - 1] != positions.shape[:-1] or not np.isfinite(leaf).all():
            raise ValueError("What was measured along with a reading must be finite, one value a position.")
        return jnp.asarray(leaf)

    return jax.tree.map_with_path(check, replace(stations, position=jnp.asarray(positions)))


def check_key(seed: int) -> Key:
    """Return the PRNG key of a seed."""
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise ValueError(f"`seed` must be a whole number from 0 to 2**32 − 1; got {seed!r}.")
    return jax.random.key(int(seed))


def check_model(
    field: str | None, model: Model | None, prior: Prior | None, sources: Sequence[int] = (1,)
) -> Model:
    """Return the model that `field` names or `model` is, with another prior if one is given."""
    if (field is None) == (model is None):
        raise ValueError("Give either `field`, the name of a benchmark field, or `model`.")
    if model is not None and not isinstance(model, Model):
        raise ValueError(f"`model` must be a dowsax.Model; for a benchmark field use `field`. Got {model!r}.")
    if prior is not None and not isinstance(prior, Prior):
        raise ValueError(f"`prior` needs parameters, coordinates, sample and log_prob; got {prior!r}.")
    if model is None:
        assert field is not None
        return benchmark_model(field, prior, sources)
    if prior is not None and model.by_number:
        raise ValueError("`prior` cannot replace that of an unknown number of sources: give it to `compose`.")
    return model if prior is None else eqx.tree_at(lambda at: at.prior, model, prior)


def check_preset(preset: str | Preset, particles: int | None) -> Preset:
    """Return the preset, with another number of particles if one is given."""
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ValueError(f"Unknown preset {preset!r}; known are {', '.join(PRESETS)}.")
        preset = PRESETS[preset]
    if not isinstance(preset, Preset):
        raise ValueError(f"`preset` must be one of {', '.join(PRESETS)}, or a Preset; got {preset!r}.")
    if particles is None:
        return preset
    if not isinstance(particles, int | np.integer):
        raise ValueError(f"`particles` must be a whole number; got {particles!r}.")
    return preset.with_particles(int(particles))


def check_redundancy(redundancy: float | int | str) -> float:
    """Return a number of readings that count as one."""
    if isinstance(redundancy, str) or not 1 <= redundancy < math.inf:
        raise ValueError(f'`redundancy` must be a number >= 1, or "estimated"; got {redundancy!r}.')
    return float(redundancy)


def check_effort(effort: float) -> float:
    """Return a share of the likelihood terms."""
    if not 0 < effort <= 1:
        raise ValueError(f"`effort` must be a share in (0, 1]; got {effort!r}.")
    return float(effort)


def _numbers(name: str, values) -> np.ndarray:
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise ValueError(f"Some {name} are masked: leave those readings out before locating.")
    try:
        if np.iscomplexobj(values):
            raise TypeError
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"The {name} must be an array of numbers, every row of the same length.") from None


def _require_finite(what: str, finite: np.ndarray, values: np.ndarray) -> None:
    finite = finite & (np.abs(values).reshape(*finite.shape, -1).max(axis=-1) < _MAX_NUMBER)
    if finite.all():
        return
    at = tuple(int(index) for index in np.argwhere(~finite)[0])
    where = f"survey {at[0]}, {what} {at[1]}" if len(at) == 2 else f"{what} {at[0]}"
    raise ValueError(
        f"Not a usable number: {where} (counted from 0) is {values[at]}. Remove it or measure again."
    )
