"""The log evidence of a survey and nothing else, by a far smaller program than that of `locate`."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from dowsax.inference.arguments import check_key
from dowsax.inference.locate import choose_preset, pad_survey, prepare_survey
from dowsax.inference.presets import Preset
from dowsax.programs import stored_jit
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model


class Evidence(NamedTuple):
    """What the filter says of a survey as a whole."""

    log_evidence: Scalar
    explained: Bool[Array, ""]
    """Whether the model can give every reading."""


def find_log_evidence(
    positions,
    readings,
    *,
    model: Model,
    preset: str | Preset | None = None,
    particles: int | None = None,
    seed: int = 0,
) -> float:
    """Return log p(readings) of one survey, the same as `locate` finds; −∞ where the model excludes them."""
    stations, values = prepare_survey(positions, readings, model)
    preset = choose_preset(preset, particles, model)
    found = _run_padded(model, preset, stations, values, values.size, check_key(seed))
    return float(found.log_evidence) if bool(found.explained) else -np.inf


def compile_evidence(
    positions,
    readings,
    *,
    model: Model,
    preset: str | Preset | None = None,
    particles: int | None = None,
) -> None:
    """Compile `find_log_evidence` for a survey of this size, by running it on the first reading.

    Another thread may do so while another filter is running.
    """
    stations, values = prepare_survey(positions, readings, model)
    preset = choose_preset(preset, particles, model)
    jax.block_until_ready(_run_padded(model, preset, stations, values, 1, check_key(0)))


def _run_padded(
    model: Model, preset: Preset, stations: Station, values: np.ndarray, num_readings: int, key: Key
) -> Evidence:
    stations, values = pad_survey(stations, values)
    preset = preset.with_horizon(values.size)
    return _run_evidence(model, preset, stations, values, jnp.asarray(num_readings), key)


@stored_jit
def _run_evidence(
    model: Model, preset: Preset, stations: Station, values, num_readings, key: Key
) -> Evidence:
    """Run the filter over the first `num_readings` readings, with the keys of `locate`."""
    init_key, step_key, _ = jax.random.split(key, 3)
    filter_ = preset.build(model, template=jax.tree.map(lambda leaf: leaf[0], stations))

    def step(number, carry):
        belief, explained = carry
        station = jax.tree.map(lambda leaf: leaf[number], stations)
        belief, info = filter_.step(jax.random.fold_in(step_key, number), belief, station, values[number])
        return belief, explained & info.explained

    start = filter_.init(init_key), jnp.ones((), bool)
    belief, explained = jax.lax.fori_loop(0, num_readings, step, start)
    return Evidence(belief.log_evidence, explained)
