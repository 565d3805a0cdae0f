"""Locate a source from a survey: readings in, posterior out."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dowsax.inference import summaries
from dowsax.inference.arguments import (
    check_effort,
    check_key,
    check_model,
    check_preset,
    check_redundancy,
    check_stations,
    check_survey,
)
from dowsax.inference.excess_noise import usual_noise
from dowsax.inference.filter import initial_info
from dowsax.inference.fit import model_fit
from dowsax.inference.posterior import Posterior, Trace
from dowsax.inference.presets import Preset, default_preset
from dowsax.inference.redundancy import (
    estimate_redundancy,
    max_redundancy,
    min_redundancy,
    with_redundancy,
)
from dowsax.inference.sources import publish
from dowsax.programs import stored_jit
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model, Prior, source_columns
from dowsax.world.earlier import recall_all
from dowsax.world.sensors.redundant import Redundant
from dowsax.world.several_columns import numbers_of_sources

# Surveys are padded to one of these lengths, so that another number of readings rarely compiles again.
_PADDED_LENGTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096)

# A typical redundancy. A belief that is too wide estimates it as well as one that is not, and is faster.
_INITIAL_REDUNDANCY = 4.0
# An estimate that is larger by less than this factor is not used: the belief would be a tenth wider.
_REDUNDANCY_TOLERANCE = 1.2
_MAX_ROUNDS = 3
# Times as many moves before an estimate at its limit is used: poor samples are another cause.
_THOROUGH = 5.0


def locate(
    positions,
    readings,
    field: str | None = None,
    *,
    model: Model | None = None,
    prior: Prior | None = None,
    preset: str | Preset | None = None,
    particles: int | None = None,
    seed: int = 0,
    redundancy: float | int | str | None = None,
    effort: float = 1.0,
    sources: int | str = 1,
) -> Posterior:
    """Infer the position and the strength of a source, or of several, and all other unknowns, from a survey.

    Parameters
    ----------
    positions
        [m], (k, 2) east and north of each reading, or (b, k, 2) for a batch of surveys; or a `Station` with
        wind [m/s], dwell time [s], time [s] and more besides.
    readings
        (k,) or (b, k), in the unit of the field, in the order in which they were taken.
    field
        Name of a benchmark field; either this or `model`.
    model
        Prior, field and sensor.
    prior
        Replaces the prior of the field or model.
    preset
        The filter: a name in `dowsax.inference.PRESETS`, or a `Preset`; default: "default" for one source,
        "several" for more.
    particles
        Number of particles; default: the preset's.
    seed
        The same seed gives the same posterior.
    redundancy
        Number of neighbouring readings that err together and count as one; default: 1. "estimated" runs the
        filter two to twelve times and estimates it from the errors of each run, so that at least a dozen
        effective readings are left.
    effort
        Share of the likelihood terms that moves may take, in (0, 1], in presets that limit them (`survey`).
    sources
        With `field`: the number of sources, or a range like "1-3" of numbers that are equally probable
        beforehand. With `model` it is that of the model.

    Returns
    -------
    Posterior
        Weighted samples of Θ and their summaries.
    """
    numbers = numbers_of_sources(sources)
    if numbers != (1,) and model is not None:
        raise ValueError("`sources` goes with `field`; a `model` has its own number: see `compose`.")
    model = check_model(field, model, prior, numbers)
    if model.by_number and np.ndim(readings) > 1:
        raise ValueError("Locate surveys one by one where the number of sources is unknown, not in a batch.")
    preset = choose_preset(preset, particles, model)
    key, effort = check_key(seed), check_effort(effort)
    stations, values = prepare_survey(positions, readings, model)
    if redundancy is None:
        return publish(_locate(model, preset, stations, values, key, effort), model.prior)
    if redundancy != "estimated":
        counted = with_redundancy(model, check_redundancy(redundancy))
        return publish(_locate(counted, preset, stations, values, key, effort), model.prior)
    if values.ndim != 1:
        raise ValueError(
            "`redundancy` can be estimated for one survey, not for a batch: locate them one by one."
        )
    found = _locate_with_estimated_redundancy(model, preset, stations, values, key, effort)
    return publish(found, model.prior)


def choose_preset(preset: str | Preset | None, particles: int | None, model: Model) -> Preset:
    """Return the preset; default: that for the number of sources of the model."""
    columns = source_columns(model.prior)
    numbers = (1,) if columns is None else columns.numbers
    return check_preset(default_preset(numbers) if preset is None else preset, particles)


def prepare_survey(positions, readings, model: Model) -> tuple[Station, np.ndarray]:
    """Return the stations and the readings as arrays; ValueError if the model cannot use them."""
    given = positions.position if isinstance(positions, Station) else positions
    places, values = check_survey(given, readings, model.sensor, len(model.position_columns))
    if isinstance(positions, Station):
        return check_stations(positions, places), values
    return Station(jnp.asarray(places)), values


def _locate_with_estimated_redundancy(
    model: Model, preset: Preset, stations: Station, values: np.ndarray, key: Key, effort: float
) -> Posterior:
    """Locate with the redundancy that the errors of the posterior itself ask for.

    A posterior that is too narrow underestimates it, so the next posterior estimates it again.
    """
    limit = max_redundancy(len(values))
    stations = recall_all(model.sensor, stations, jnp.asarray(values, jnp.float32))

    def locate_with(redundancy: float, round_key: Key, effort: float) -> tuple[Posterior, float]:
        used = with_redundancy(model, redundancy)
        posterior = _locate(used, preset, stations, values, round_key, effort)
        draw_key = jax.random.fold_in(round_key, 0)
        return posterior, estimate_redundancy(
            draw_key, used, posterior.samples, posterior.weights, stations, values
        )

    def confirm(estimate: float, redundancy: float, number: int, effort: float) -> float:
        """Return the median of a large estimate and those of two other runs: poor samples are one cause."""
        keys = jax.random.split(jax.random.fold_in(key, number))
        return float(np.median([estimate, *(locate_with(redundancy, at, effort)[1] for at in keys)]))

    def is_larger(estimate: float, redundancy: float) -> bool:
        return min(estimate, limit) > _REDUNDANCY_TOLERANCE * redundancy

    def iterate(effort: float) -> tuple[Posterior, float]:
        """Return the posterior whose own estimate is not larger than what it was located with, and that."""
        posterior, estimate = locate_with(_INITIAL_REDUNDANCY, key, effort)
        if is_larger(estimate, 1.0):
            estimate = confirm(estimate, _INITIAL_REDUNDANCY, 1, effort)
        for number in range(_MAX_ROUNDS):
            redundancy = min(estimate, limit)
            posterior, next_estimate = locate_with(redundancy, key, effort)
            if is_larger(next_estimate, redundancy):
                next_estimate = confirm(next_estimate, redundancy, number + 2, effort)
            estimate = max(estimate, next_estimate)
            if not is_larger(next_estimate, redundancy):
                break
        return posterior, estimate

    posterior, estimate = iterate(effort)
    times = None if stations.time is None else np.asarray(stations.time)
    least = min_redundancy(np.asarray(stations.place), times)
    is_at_limit = _REDUNDANCY_TOLERANCE * estimate >= limit > _REDUNDANCY_TOLERANCE * least
    if is_at_limit and preset.config.max_terms is not None:
        posterior, estimate = iterate(_THOROUGH * effort)
    return replace(posterior, redundancy_estimate=estimate)


def _locate(
    model: Model, preset: Preset, stations: Station, values: np.ndarray, key: Key, effort: float
) -> Posterior:
    """Run the filter over the survey and check its answer."""
    num_readings = values.shape[-1]
    found = jax.tree.map(np.asarray, _run_filter(model, preset, stations, values, num_readings, key, effort))
    places = np.asarray(stations.place)
    _require_support(found.supported)
    _require_explained(found.explained[..., :num_readings], places, values)
    weights = np.exp(found.log_weights.astype(np.float64))
    axis = values.ndim - 1
    return Posterior(
        parameters=model.prior.parameters,
        samples=found.particles.astype(np.float64),
        weights=weights / weights.sum(axis=-1, keepdims=True),
        places=places.astype(np.float64),
        readings=values.astype(np.float64),
        log_evidence=found.log_evidence.astype(np.float64),
        fit=found.fit.astype(np.float64),
        trace=Trace(*(np.take(leaf, np.arange(num_readings), axis) for leaf in found.trace)),
        redundancy=float(model.sensor.count) if isinstance(model.sensor, Redundant) else 1.0,
        position_columns=model.position_columns,
        usual_noise=usual_noise(model.prior),
    )


class FilterOutput(NamedTuple):
    """The belief after one survey, and its summaries after each reading."""

    particles: Float[Array, "n d"]
    log_weights: Float[Array, " n"]
    log_evidence: Scalar
    fit: Scalar
    supported: Bool[Array, ""]
    trace: tuple
    explained: Bool[Array, " k"]


def _run_filter(
    model: Model,
    preset: Preset,
    stations: Station,
    values: np.ndarray,
    num_readings: int,
    key: Key,
    effort: float = 1.0,
) -> FilterOutput:
    """Run the filter over the first `num_readings` readings, a number that is not compiled in."""
    run = _run_survey if values.ndim == 1 else _run_batch
    stations, values = pad_survey(stations, values)
    preset = preset.with_horizon(values.shape[-1])
    return run(model, preset, stations, values, jnp.asarray(num_readings), key, jnp.float32(effort))


def pad_survey(stations: Station, values: np.ndarray) -> tuple[Station, np.ndarray]:
    """Repeat the last reading of a survey up to one of a few lengths; the padding is never used."""
    size, axis = values.shape[-1], values.ndim - 1
    length = next((padded for padded in _PADDED_LENGTHS if padded >= size), size)

    def pad(leaf):
        widths = [(0, 0)] * leaf.ndim
        widths[axis] = (0, length - size)
        return np.pad(leaf, widths, mode="edge")

    return jax.tree.map(pad, (stations, values))


def _run(
    model: Model, preset: Preset, stations: Station, values, num_readings, key: Key, effort: Scalar
) -> FilterOutput:
    """Run the filter over one survey, and summarise the belief after each reading."""
    # Three keys, as published numbers were made with the first two of three.
    init_key, step_key, _ = jax.random.split(key, 3)
    template = jax.tree.map(lambda leaf: leaf[0], stations)
    filter_ = preset.with_ranks().build(model, template=template, effort=effort)
    belief = filter_.init(init_key)
    supported = jnp.any(jax.vmap(model.prior.log_prob)(belief.particles) > -jnp.inf)

    def summary(belief, info):
        trace = (
            summaries.mean(belief),
            summaries.std(belief),
            summaries.credible_radius(belief, 0.95),
            info.ess,
            info.stages,
            info.acceptance_rate,
            info.evaluations,
        )
        return trace, info.explained

    def step(number, carry):
        belief, outputs = carry
        station = jax.tree.map(lambda leaf: leaf[number], stations)
        belief, info = filter_.step(jax.random.fold_in(step_key, number), belief, station, values[number])
        outputs = jax.tree.map(lambda all_, new: all_.at[number].set(new), outputs, summary(belief, info))
        return belief, outputs

    # The shapes of the summaries, without tracing a step.
    shapes = eqx.filter_eval_shape(lambda: summary(belief, initial_info(belief, belief.log_weights)))
    outputs = jax.tree.map(lambda leaf: jnp.zeros((values.shape[0], *leaf.shape), leaf.dtype), shapes)
    belief, (trace, explained) = jax.lax.fori_loop(0, num_readings, step, (belief, outputs))
    return FilterOutput(
        belief.particles,
        belief.log_weights,
        belief.log_evidence,
        model_fit(model, belief),
        supported,
        trace,
        explained,
    )


@stored_jit
def _run_survey(
    model: Model, preset: Preset, stations: Station, values, num_readings, key: Key, effort: Scalar
):
    return _run(model, preset, stations, values, num_readings, key, effort)


@eqx.filter_jit
def _run_vmapped(model: Model, preset: Preset, stations: Station, values, num_readings, keys, effort: Scalar):
    def run(stations, values, key):
        return _run(model, preset, stations, values, num_readings, key, effort)

    return jax.vmap(run)(stations, values, keys)


def _run_batch(
    model: Model, preset: Preset, stations: Station, values, num_readings, key: Key, effort: Scalar
):
    """Run the filter over a batch. Survey i gets the same answer in every batch of the same size.

    An accelerator runs the surveys in step. On a CPU every survey would then wait for the slowest at each
    reading, so they run in threads there, as many at a time as there are cores.
    """
    keys = jax.random.split(key, values.shape[0])
    if jax.default_backend() != "cpu":
        return _run_vmapped(model, preset, stations, values, num_readings, keys, effort)

    def run_one(index: int):
        station = jax.tree.map(lambda leaf: leaf[index], stations)
        return jax.tree.map(
            np.asarray, _run_survey(model, preset, station, values[index], num_readings, keys[index], effort)
        )

    first = run_one(0)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rest = list(pool.map(run_one, range(1, values.shape[0])))
    return jax.tree.map(lambda *leaves: np.stack(leaves), first, *rest)


def _require_support(supported: np.ndarray) -> None:
    if not supported.all():
        raise ValueError(
            "The prior excludes everything: its own samples have density zero. Widen its ranges."
        )


def _require_explained(explained: np.ndarray, places: np.ndarray, values: np.ndarray) -> None:
    if explained.all():
        return
    at = tuple(int(index) for index in np.argwhere(~explained)[0])
    survey = f" of survey {at[0]}" if len(at) == 2 else ""
    x, y = places[at]
    raise ValueError(
        f"No source that the prior allows explains reading {at[-1]}{survey} (counted from 0): "
        f"{values[at]:g} at ({x:g}, {y:g}). Check its unit and position, the field and the prior."
    )
