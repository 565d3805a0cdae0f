"""The door for library users: a survey in, a posterior out."""

import math
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
from dowsax.inference.filter import initial_info
from dowsax.inference.fit import predictive_fit
from dowsax.inference.posterior import Posterior, Trace
from dowsax.inference.presets import PRESETS, Preset
from dowsax.inference.redundancy import counted, most_redundant
from dowsax.inference.redundancy import redundancy as estimated
from dowsax.inference.survey import checked_survey
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model, Prior, benchmark_model
from dowsax.world.sensors.redundant import Redundant

# Surveys are padded to one of these lengths, so that another number of readings rarely compiles again.
_LENGTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096)

# As many readings as often count as one. A belief that is too loose fits as one that is not, and is quicker.
_FIRST_COUNT = 4.0
# A belief whose errors ask for this much more is not made anew: it would be a tenth wider.
_SETTLED = 1.2
_MOST_TURNS = 3


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
    redundancy: float | int | str | None = None,
) -> Posterior:
    """Where the source is, how strong, and what carries it, from readings taken one after another.

    `positions` (k, 2) [m] and `readings` (k,), or batches (b, k, 2) and (b, k); `positions` may be a
    `Station` with wind, dwell or time besides. Either `field` names one of the seven benchmark fields,
    optionally with another `prior`, or `model` says it all. The filter is `preset`, with another number of
    `particles` if given. The same seed gives the same answer. `redundancy` is how many readings count as one,
    as neighbours err together; "estimated" takes the survey in two to four times, and what a belief leaves
    unexplained says how many in the next, as long as a dozen are left.
    """
    model = _model(field, model, prior)
    preset = _preset(preset, particles)
    key = _key(seed)
    stations, values = _survey(positions, readings, model)
    if redundancy is None:
        return _posterior(model, preset, stations, values, key)
    if redundancy != "estimated":
        return _posterior(counted(model, _count(redundancy)), preset, stations, values, key)
    if values.ndim != 1:
        raise ValueError(
            "`redundancy` can be estimated for one survey, not for a batch: locate them one by one."
        )
    return _as_its_errors_ask(model, preset, stations, values, key)


def compile_for(
    positions, readings, *, model: Model, preset: str | Preset = "default", particles: int | None = None
) -> None:
    """Compile what `locate` needs for such a survey, by taking in its first reading.

    For who knows that there will be two models, and has another core for the second one meanwhile.
    """
    stations, values = _survey(positions, readings, model)
    jax.block_until_ready(_taken_in(model, _preset(preset, particles), stations, values, 1, _key(0)))


def _count(redundancy: float | int | str) -> float:
    if isinstance(redundancy, str) or not 1 <= redundancy < math.inf:
        raise ValueError(f'`redundancy` is a number from 1 on, or "estimated"; got {redundancy!r}.')
    return float(redundancy)


def _as_its_errors_ask(
    model: Model, preset: Preset, stations: Station, values: np.ndarray, key: Key
) -> Posterior:
    """The belief that counts as many readings as one as its own errors ask for.

    From a belief that is too sure one cannot tell how wide it would be without some readings: what it asks
    for is less than enough, and the next belief asks again.
    """
    most = most_redundant(len(values))

    def believed(count: float, turn: int) -> tuple[Posterior, float]:
        used = counted(model, count)
        found = _posterior(used, preset, stations, values, key)
        turn_key = jax.random.fold_in(key, turn)
        return found, estimated(turn_key, used, found.samples, found.weights, stations, values)

    found, asked = believed(_FIRST_COUNT, 1)
    for turn in range(_MOST_TURNS):
        count = min(asked, most)
        found, again = believed(count, turn + 2)
        asked = max(asked, again)
        if min(again, most) <= _SETTLED * count:
            break
    return replace(found, redundancy_estimate=asked)


def _posterior(model: Model, preset: Preset, stations: Station, values: np.ndarray, key: Key) -> Posterior:
    """The filter over the survey, and its answer checked."""
    num_readings = values.shape[-1]
    found = jax.tree.map(np.asarray, _taken_in(model, preset, stations, values, num_readings, key))
    places = np.asarray(stations.position)
    _require_support(found.supported)
    _require_explained(found.explained[..., :num_readings], places, values)
    weights = np.exp(found.log_weights.astype(np.float64))
    axis = values.ndim - 1
    return Posterior(
        parameters=model.prior.parameters,
        samples=found.particles.astype(np.float64),
        weights=weights / weights.sum(axis=-1, keepdims=True),
        positions=places.astype(np.float64),
        readings=values.astype(np.float64),
        log_evidence=found.log_evidence.astype(np.float64),
        fit=found.fit.astype(np.float64),
        trace=Trace(*(np.take(leaf, np.arange(num_readings), axis) for leaf in found.trace)),
        redundancy=float(model.sensor.count) if isinstance(model.sensor, Redundant) else 1.0,
    )


def _taken_in(
    model: Model, preset: Preset, stations: Station, values: np.ndarray, number: int, key: Key
) -> "Found":
    """The filter over the first `number` readings; how many these are is not compiled in."""
    size = values.shape[-1]
    length = next((enough for enough in _LENGTHS if enough >= size), size)
    at, padded = jax.tree.map(lambda leaf: _padded(leaf, length, values.ndim - 1), (stations, values))
    run = _located if values.ndim == 1 else _batch
    return run(model, preset.with_horizon(length), at, padded, jnp.asarray(number), key)


class Found(NamedTuple):
    """What the filter made of one survey."""

    particles: Float[Array, "n d"]
    log_weights: Float[Array, " n"]
    log_evidence: Scalar
    fit: Scalar
    supported: Bool[Array, ""]
    trace: tuple
    explained: Bool[Array, " k"]


def _survey(positions, readings, model: Model) -> tuple[Station, np.ndarray]:
    """The stations and readings, checked."""
    given = positions.position if isinstance(positions, Station) else positions
    places, values = checked_survey(given, readings, model.sensor)
    if isinstance(positions, Station):
        return _like(positions, places), values
    return Station(jnp.asarray(places)), values


def _key(seed: int) -> Key:
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise ValueError(f"`seed` is a whole number from 0 to 2**32 − 1; got {seed!r}.")
    return jax.random.key(int(seed))


def _model(field: str | None, model: Model | None, prior: Prior | None) -> Model:
    if (field is None) == (model is None):
        raise ValueError("Give either `field`, the name of a benchmark field, or `model`.")
    if model is not None and not isinstance(model, Model):
        raise ValueError(f"`model` is a dowsax.Model; for a benchmark field use `field`. Got {model!r}.")
    if prior is not None and not isinstance(prior, Prior):
        raise ValueError(f"`prior` needs parameters, coordinates, sample and log_prob; got {prior!r}.")
    if model is None:
        assert field is not None
        return benchmark_model(field, prior)
    return model if prior is None else eqx.tree_at(lambda at: at.prior, model, prior)


def _preset(preset: str | Preset, particles: int | None) -> Preset:
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ValueError(f"Unknown preset {preset!r}; known are {', '.join(PRESETS)}.")
        preset = PRESETS[preset]
    if not isinstance(preset, Preset):
        raise ValueError(f"`preset` is one of {', '.join(PRESETS)}, or a Preset; got {preset!r}.")
    if particles is None:
        return preset
    if not isinstance(particles, int | np.integer):
        raise ValueError(f"`particles` is a whole number; got {particles!r}.")
    return preset.with_particles(int(particles))


def _like(stations: Station, places: np.ndarray) -> Station:
    """The stations as float32 and numbers of sensors as int32, their extras checked against the positions."""

    def checked(path, leaf):
        leaf = np.asarray(leaf, np.int32 if path[-1].name == "sensor" else np.float32)
        if leaf.shape[: places.ndim - 1] != places.shape[:-1] or not np.isfinite(leaf).all():
            raise ValueError("What was measured along with a reading must be finite, one value a position.")
        return jnp.asarray(leaf)

    return jax.tree.map_with_path(checked, replace(stations, position=jnp.asarray(places)))


def _padded(leaf, length: int, axis: int):
    """Repeat the last entry up to the length; what is added is never looked at."""
    widths = [(0, 0)] * leaf.ndim
    widths[axis] = (0, length - leaf.shape[axis])
    return np.pad(leaf, widths, mode="edge")


def _run(model: Model, preset: Preset, stations: Station, values, num_readings, key: Key) -> Found:
    """The filter over one survey, and the belief in few numbers after each reading."""
    init_key, step_key, fit_key = jax.random.split(key, 3)
    template = jax.tree.map(lambda leaf: leaf[0], stations)
    filter_ = preset.build(model, template=template)
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

    # The shapes of what a step emits, without tracing a step for them.
    shapes = eqx.filter_eval_shape(lambda: summary(belief, initial_info(belief, belief.log_weights)))
    outputs = jax.tree.map(lambda leaf: jnp.zeros((values.shape[0], *leaf.shape), leaf.dtype), shapes)
    belief, (trace, explained) = jax.lax.fori_loop(0, num_readings, step, (belief, outputs))
    fit = predictive_fit(fit_key, model, belief)
    return Found(belief.particles, belief.log_weights, belief.log_evidence, fit, supported, trace, explained)


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
