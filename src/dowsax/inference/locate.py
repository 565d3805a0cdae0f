"""The door for library users: a survey in, a posterior out."""

import os
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.inference import summaries
from dowsax.inference.posterior import Posterior, Trace
from dowsax.inference.presets import PRESETS, Preset
from dowsax.inference.survey import checked_survey
from dowsax.types import Key, Station
from dowsax.world import Model, Prior, benchmark_model

# Surveys are padded to one of these lengths, so that another number of readings rarely compiles again.
_LENGTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096)


def locate(
    positions,
    readings,
    field: str | None = None,
    *,
    model: Model | None = None,
    prior: Prior | None = None,
    preset: str | Preset = "default",
    particles: int | None = None,
    seed: int = 0,
) -> Posterior:
    """Where the source is, how strong, and what carries it, from readings taken one after another.

    `positions` (k, 2) [m] and `readings` (k,), or batches (b, k, 2) and (b, k); `positions` may be a `Station`
    with wind, dwell or time besides. Either `field` names one of the seven benchmark fields, optionally with
    another `prior`, or `model` says it all. The filter is `preset`, with another number of `particles` if
    given. The same seed gives the same answer.
    """
    model = _model(field, model, prior)
    preset = _preset(preset, particles)
    stations = positions if isinstance(positions, Station) else None
    places = positions.position if stations is not None else positions
    places, values = checked_survey(places, readings, model.sensor)
    stations = Station(jnp.asarray(places)) if stations is None else _like(stations, places)
    length = next((size for size in _LENGTHS if size >= values.shape[-1]), values.shape[-1])
    preset = preset.with_horizon(length)
    padded = jax.tree.map(lambda leaf: _padded(leaf, length, values.ndim - 1), (stations, values))
    if values.ndim == 1:
        result = _located(model, preset, *padded, values.shape[0], jax.random.key(seed))
    else:
        result = _batch(model, preset, *padded, values.shape[1], jax.random.key(seed))
    particles_, log_weights, log_evidence, trace, prior_ok, explained = jax.tree.map(np.asarray, result)
    _require_support(prior_ok)
    steps = values.shape[-1]
    trace = Trace(*(leaf[..., :steps, :] if leaf.ndim > values.ndim else leaf[..., :steps] for leaf in trace))
    _require_explained(explained[..., :steps], places, values)
    weights = np.exp(log_weights.astype(np.float64))
    return Posterior(
        parameters=model.prior.parameters,
        samples=particles_.astype(np.float64),
        weights=weights / weights.sum(axis=-1, keepdims=True),
        positions=places.astype(np.float64),
        readings=values.astype(np.float64),
        log_evidence=log_evidence.astype(np.float64),
        trace=trace,
    )


def _model(field: str | None, model: Model | None, prior: Prior | None) -> Model:
    if (field is None) == (model is None):
        raise ValueError("Give either `field`, the name of a benchmark field, or `model`.")
    if model is None:
        assert field is not None
        return benchmark_model(field, prior)
    return model if prior is None else eqx.tree_at(lambda at: at.prior, model, prior)


def _preset(preset: str | Preset, particles: int | None) -> Preset:
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ValueError(f"Unknown preset {preset!r}; known are {', '.join(PRESETS)}.")
        preset = PRESETS[preset]
    return preset if particles is None else preset.with_particles(particles)


def _like(stations: Station, places: np.ndarray) -> Station:
    """The stations as float32, their extras checked against the positions."""

    def checked(leaf):
        leaf = np.asarray(leaf, np.float32)
        if leaf.shape[: places.ndim - 1] != places.shape[:-1] or not np.isfinite(leaf).all():
            raise ValueError("What was measured along with a reading must be finite, one value a position.")
        return jnp.asarray(leaf)

    return jax.tree.map(checked, Station(jnp.asarray(places), stations.wind, stations.dwell, stations.time))


def _padded(leaf, length: int, axis: int):
    """Repeat the last entry up to the length; what is added is never looked at."""
    widths = [(0, 0)] * leaf.ndim
    widths[axis] = (0, length - leaf.shape[axis])
    return np.pad(leaf, widths, mode="edge")


def _run(model: Model, preset: Preset, stations: Station, values, num_readings, key: Key):
    """The filter over one survey, and the belief in few numbers after each reading."""
    init_key, step_key = jax.random.split(key)
    template = jax.tree.map(lambda leaf: leaf[0], stations)
    filter_ = preset.build(model, template=template)
    belief = filter_.init(init_key)
    prior_ok = jnp.any(jax.vmap(model.prior.log_prob)(belief.particles) > -jnp.inf)

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

    shapes = eqx.filter_eval_shape(lambda: summary(*filter_.step(key, belief, template, values[0])))
    outputs = jax.tree.map(lambda leaf: jnp.zeros((values.shape[0], *leaf.shape), leaf.dtype), shapes)
    belief, (trace, explained) = jax.lax.fori_loop(0, num_readings, step, (belief, outputs))
    return belief.particles, belief.log_weights, belief.log_evidence, trace, prior_ok, explained


@eqx.filter_jit
def _located(model: Model, preset: Preset, stations: Station, values, num_readings, key: Key):
    return _run(model, preset, stations, values, num_readings, key)


@eqx.filter_jit
def _located_together(model: Model, preset: Preset, stations: Station, values, num_readings, keys):
    run = lambda stations, values, key: _run(model, preset, stations, values, num_readings, key)  # noqa: E731
    return jax.vmap(run)(stations, values, keys)


def _batch(model: Model, preset: Preset, stations: Station, values, num_readings, key: Key):
    """All surveys of a batch. Survey i gets the same answer in every batch of the same size.

    An accelerator takes them in step. On a CPU each member of such a batch would wait for the slowest at
    every reading, so there they run one by one, as many at a time as there are cores.
    """
    keys = jax.random.split(key, values.shape[0])
    if jax.default_backend() != "cpu":
        return _located_together(model, preset, stations, values, num_readings, keys)

    def one(index: int):
        station = jax.tree.map(lambda leaf: leaf[index], stations)
        return jax.tree.map(
            np.asarray, _located(model, preset, station, values[index], num_readings, keys[index])
        )

    first = one(0)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rest = list(pool.map(one, range(1, values.shape[0])))
    return jax.tree.map(lambda *leaves: np.stack(leaves), first, *rest)


def _require_support(prior_ok: np.ndarray) -> None:
    if not prior_ok.all():
        raise ValueError("The prior excludes everything: its own samples have density zero. Widen its ranges.")


def _require_explained(explained: np.ndarray, places: np.ndarray, values: np.ndarray) -> None:
    if explained.all():
        return
    at = tuple(int(index) for index in np.argwhere(~explained)[0])
    survey = f" of survey {at[0]}" if len(at) == 2 else ""
    x, y = places[at]
    raise ValueError(
        f"No source that the prior allows explains reading {at[-1]}{survey} (counted from 0): {values[at]:g} at "
        f"({x:g}, {y:g}). Check its unit and position, the field and the prior."
    )
