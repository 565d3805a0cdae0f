"""How probable each number of sources is: results/tables/calibration/number-of-sources.md.

    python -m benchmarks.number_of_sources --surveys 100 --seed 1   # as published
    python -m benchmarks.number_of_sources --surveys 2              # a trial; its numbers mean little
    python -m benchmarks.number_of_sources --surveys 40 --clear      # clear surveys, also with more work
    python -m benchmarks.number_of_sources --metec                  # the releases of METEC, one leak each

Surveys of benchmark fields: one to three sources, each number as often as the others, from the prior, and
30 readings at random places of the square. They are located with `sources = "1-3"`.

The rival is the Bayesian information criterion: the likelihood of the best fit of each number, times
readings^(−parameters/2). Fits start from the best particles of a belief with this number.
"""

import argparse
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.optimize import minimize

from benchmarks import real_sets
from dowsax.compilation import enable_cache
from dowsax.evaluate.statistics import bootstrap_interval, wilson_interval
from dowsax.evaluate.tables import markdown
from dowsax.inference.locate import locate
from dowsax.inference.presets import SEVERAL
from dowsax.types import Station
from dowsax.world import Model, benchmark_model, source_columns
from dowsax.world.motion import AREA_SIDE_M
from dowsax.world.sensors import Gaussian

NUMBERS = (1, 2, 3)
NUM_READINGS = 30
APART_M, MIN_SIGNAL_TO_NOISE = 5.0, 5.0
"""Sources are clear where each is this far from the others, and seen in some reading at this ratio."""
_NUM_STARTS, _FIT = 3, {"maxfev": 6000, "adaptive": True}
"""Of the fits of each number."""
_MIN_LOG_LIKELIHOOD = -1e9


def is_clear(model: Model, theta: np.ndarray, number: int, places: np.ndarray) -> bool:
    """Whether the sources are far from each other, and each is seen well; for additive noise."""
    columns, sensor = model.prior.source_columns, model.sensor  # pyright: ignore[reportAttributeAccessIssue]
    blocks = columns.blocks[:number]
    positions = np.array([theta[list(block[:2])] for block in blocks])
    pairs = itertools.combinations(positions, 2)
    if any(np.linalg.norm(one - other) < APART_M for one, other in pairs):
        return False
    single = benchmark_model("temperature").field
    each = np.array(
        [
            jax.vmap(lambda at, own=at: single(columns.of(jnp.asarray(theta), own), Station(at)))(
                jnp.asarray(places)
            )
            for at in range(number)
        ]
    )
    noise = sensor.noise_ratio * each.sum(axis=0) + sensor.noise_floor
    return bool(((each / noise).max(axis=1) >= MIN_SIGNAL_TO_NOISE).all())


def bic_chances(field: str, places: np.ndarray, values: np.ndarray, seed: int) -> np.ndarray:
    """The probability of each number by the Bayesian information criterion."""
    stations, readings = Station(jnp.asarray(places, jnp.float32)), jnp.asarray(values, jnp.float32)
    logs = []
    for number, model in zip(NUMBERS, benchmark_model(field, sources=NUMBERS).by_number, strict=True):
        found = locate(places, values, field, sources=number, seed=seed)
        # As published, the columns of Θ come source by source.
        columns = source_columns(model.prior)
        order = np.arange(found.samples.shape[1]) if columns is None else np.argsort(columns.by_source)
        samples, scale = found.samples[:, order], found.std[order]
        terms = np.asarray(_log_likelihoods(model, jnp.asarray(samples, jnp.float32), stations, readings))

        def misfit(theta: np.ndarray, model: Model = model, scale: np.ndarray = scale) -> float:
            one = jnp.asarray(theta * scale, jnp.float32)[None]
            return -float(_log_likelihoods(model, one, stations, readings)[0])

        fits = [
            minimize(misfit, samples[at] / scale, method="Nelder-Mead", options=_FIT).fun
            for at in np.argsort(terms)[-_NUM_STARTS:]
        ]
        logs.append(-min(fits) - 0.5 * samples.shape[1] * math.log(len(values)))
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum()


@eqx.filter_jit
def _log_likelihoods(model: Model, thetas: jax.Array, stations: Station, readings: jax.Array) -> jax.Array:
    """Of samples (n, d), very small outside the support of the prior."""

    def one(theta: jax.Array) -> jax.Array:
        terms = jax.vmap(model.log_likelihood, in_axes=(None, 0, 0))(theta, stations, readings)
        inside = model.prior.log_prob(theta) > -jnp.inf
        return jnp.where(inside, jnp.maximum(jnp.sum(terms), _MIN_LOG_LIKELIHOOD), _MIN_LOG_LIKELIHOOD)

    return jax.vmap(one)(thetas)


class Survey(NamedTuple):
    """Sources, and readings of them."""

    theta: np.ndarray
    truth: int
    """The number of sources."""
    places: np.ndarray
    values: np.ndarray
    is_clear: bool


def simulate(field: str, number: int, seed: int) -> Survey:
    """The survey of this number."""
    model = benchmark_model(field, sources=NUMBERS)
    theta_key, noise_key = jax.random.split(jax.random.fold_in(jax.random.key(seed), number))
    places = np.random.default_rng([seed, number]).uniform(0, AREA_SIDE_M, (NUM_READINGS, 2))
    theta = model.prior.sample(theta_key)
    values = np.asarray(model.simulate(noise_key, theta, Station(jnp.asarray(places, jnp.float32))))
    truth = int(theta[model.prior.source_columns.number_column])  # pyright: ignore
    additive, whole = isinstance(model.sensor, Gaussian), np.asarray(theta)
    return Survey(whole, truth, places, values, additive and is_clear(model, whole, truth, places))


def clear(fields: Sequence[str], surveys: int, seed: int) -> str:
    """The probability of the true number in clear surveys, with the preset and with 16 times its work."""
    config = replace(SEVERAL.config, num_particles=4096, num_moves=48, max_moves=192)
    presets = {"several": SEVERAL, "16 times the work": replace(SEVERAL, config=config)}
    chances: dict[str, list[float]] = {name: [] for name in presets}
    for field in fields:
        for number in track(range(surveys), field, console=Console(stderr=True)):
            survey = simulate(field, number, seed)
            for name, preset in presets.items() if survey.is_clear else ():
                found = locate(survey.places, survey.values, field, sources="1-3", preset=preset, seed=number)
                chances[name].append(found.number_probabilities[survey.truth])
    rows = []
    for name, each in chances.items():
        seen = np.array(each)
        number = int((seen >= 0.8).sum())
        low, high = wilson_interval(number, len(seen))
        rows.append((name, f"{np.median(seen):.2f}", f"{number} of {len(seen)} [{low:.2f}, {high:.2f}]"))
    return "\n".join(markdown(("preset", "median probability of the true number", "0.8 or more"), rows))


def measure(field: str, surveys: int, seed: int) -> tuple[str, ...]:
    """One line of the table."""
    chances, rivals, truths, clear = [], [], [], []
    for number in track(range(surveys), field, console=Console(stderr=True)):
        _, truth, places, values, is_clear_one = simulate(field, number, seed)
        found = locate(places, values, field, sources="1-3", seed=number)
        chances.append([found.number_probabilities[each] for each in NUMBERS])
        rivals.append(bic_chances(field, places, values.astype(float), number))
        truths.append(truth)
        clear.append(is_clear_one)
    return _row(field, np.array(chances), np.array(rivals), np.array(truths), np.array(clear))


def _row(
    field: str, chances: np.ndarray, rivals: np.ndarray, truths: np.ndarray, clear: np.ndarray
) -> tuple[str, ...]:
    """Reliability of the stated probabilities, log scores, and the probability of a clear truth."""
    of_truth, of_rival = (each[np.arange(len(truths)), truths - 1] for each in (chances, rivals))
    scores, rival_scores = (np.log(np.maximum(each, 1e-6)) for each in (of_truth, of_rival))
    cells = []
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
        inside = (chances >= low) & (chances < high)
        hits = (truths[:, None] == np.array(NUMBERS)[None, :]) & inside
        number = int(inside.sum())
        at_least, at_most = wilson_interval(int(hits.sum()), number)
        cells.append(
            f"{chances[inside].mean():.2f}: {hits.sum() / number:.2f} [{at_least:.2f}, {at_most:.2f}]"
            if number
            else ""
        )
    low, high = bootstrap_interval(scores)
    less, more = bootstrap_interval(scores - rival_scores)
    seen = of_truth[clear]
    return (
        field,
        str(len(truths)),
        *cells,
        f"{scores.mean():.2f} [{low:.2f}, {high:.2f}]",
        f"{(scores - rival_scores).mean():+.2f} [{less:+.2f}, {more:+.2f}]",
        f"{np.median(seen):.2f}, {np.mean(seen >= 0.8):.2f} of {len(seen)}" if len(seen) else "",
    )


HEADINGS = (
    "field",
    "surveys",
    "0 to 0.2",
    "0.2 to 0.5",
    "0.5 to 0.8",
    "0.8 to 1",
    "log score",
    "better than BIC by",
    "clear ones",
)


def metec(data: Path, seed: int) -> str:
    """The probability of one leak in each release of METEC, which had one."""
    rows = []
    for case in real_sets.metec(data, sources=(1, 2)):
        found = locate(
            case.stations, case.values, model=case.model, preset="survey", seed=seed, redundancy="estimated"
        )
        rows.append((case.name, str(len(case.values)), f"{found.number_probabilities[1]:.3f}"))
        Console(stderr=True).print(*rows[-1])
    return "\n".join(markdown(("event", "readings", "probability of one leak"), rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fields", nargs="+", default=["temperature"])
    parser.add_argument("--surveys", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clear", action="store_true")
    parser.add_argument("--metec", action="store_true")
    parser.add_argument("--data", type=Path, default=real_sets.DATA)
    arguments = parser.parse_args()
    enable_cache()
    if arguments.metec:
        absent = real_sets.missing(arguments.data)
        if absent is not None:
            raise SystemExit(absent)
        print(metec(arguments.data, arguments.seed))
        return
    if arguments.clear:
        print(clear(arguments.fields, arguments.surveys, arguments.seed))
        return
    rows = [measure(field, arguments.surveys, arguments.seed) for field in arguments.fields]
    print("\n".join(markdown(HEADINGS, rows)))


if __name__ == "__main__":
    main()
