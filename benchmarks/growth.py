"""How time grows with the particles and with the readings: `python -m benchmarks.growth`

Three curves. Attention alone (features, neighbours, softmax, smoothing) on a population that a filter made; a
whole step of the paper's filter, which attends at every reading; a whole survey with the default preset.
Neighbours are found by all pairs up to 4,000 particles and by the tree above, which trades a little recall
for time: the recall is measured beside, on a sample of rows.
"""

import argparse
import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.growth_figure import growth_figure
from benchmarks.timing import Timing, summarise, timed
from dowsax.evaluate.surveys import simulate_surveys
from dowsax.inference import DEFAULT, PAPER, AttentionConfig
from dowsax.inference.attention import attend, smooth
from dowsax.inference.features import Standardise, particle_features
from dowsax.inference.locate import locate
from dowsax.inference.neighbours import NeighbourSearch, exact_neighbours, tree_neighbours
from dowsax.inference.replay import reading_log_likelihood
from dowsax.inference.weights import normalise
from dowsax.types import Station
from dowsax.viz import save
from dowsax.world import benchmark_model

SEED = 93
FIELD = "temperature"
SIZES = (500, 1000, 2000, 4000, 10_000, 20_000, 50_000, 100_000)
LENGTHS = (10, 20, 50, 100, 200)
EXACT_UP_TO = 4000
NUM_STEPS = 8
NUM_ROWS = 256
# Far below the distance of neighbours that differ, far above what float32 makes of two copies.
TOLERANCE = 1e-6


class Point(NamedTuple):
    """One point of a curve, a line of the CSV."""

    curve: str
    """`attention`, `step` or `survey`."""
    size: int
    """Particles, or readings for a survey."""
    search: str
    wall_ms: float
    cpu_ms: float
    compiled: int
    """Programs compiled while the clock ran: 0, or the times are not those of a warm run."""
    recall: float | None
    """Share of the true neighbours that the search found; of attention alone."""


class Population(NamedTuple):
    """Particles (n, d), their terms (n,) of the newest reading and their log weights (n,)."""

    particles: jax.Array
    newest: jax.Array
    log_weights: jax.Array


def chosen_search(num_particles: int) -> NeighbourSearch:
    return exact_neighbours if num_particles <= EXACT_UP_TO else tree_neighbours


def population(num_particles: int, num_readings: int = 6) -> Population:
    """A belief after some readings, reweighted by one more.

    The default filter, made to resample and move at every reading, so that all particles are active and
    hardly two alike: dead ones and copies would make the search easier than it is.
    """
    model = benchmark_model(FIELD)
    surveys = simulate_surveys(jax.random.key(SEED), model, 1, num_readings + 1)
    positions, readings = jnp.asarray(surveys.positions[0]), jnp.asarray(surveys.readings[0])
    preset = replace(DEFAULT, config=replace(DEFAULT.config, temper=False, ess_ratio=1.0))
    post = locate(positions[:-1], readings[:-1], model=model, preset=preset, particles=num_particles)
    particles = jnp.asarray(post.samples, jnp.float32)
    newest = reading_log_likelihood(model, particles.T, Station(positions[-1]), readings[-1])
    log_weights = normalise(jnp.asarray(np.log(post.weights), jnp.float32) + newest)
    if not np.isfinite(log_weights).all():
        raise RuntimeError("Some particles of the population are inactive: the search would have less to do.")
    return Population(particles, newest, log_weights)


def part(whole: Population, num_particles: int) -> Population:
    """Every so-many-th particle, so that populations of all sizes have the same law."""
    kept = jnp.linspace(0, len(whole.newest) - 1, num_particles).astype(jnp.int32)
    return Population(whole.particles[kept], whole.newest[kept], normalise(whole.log_weights[kept]))


def recall(embeddings: np.ndarray, indices: np.ndarray, num_rows: int = NUM_ROWS) -> float:
    """The share of places held by a particle no farther than the last true neighbour, over a sample of rows.

    By distance and not by index, because of copies any is as good as the others. All particles are active.
    """
    embeddings = np.asarray(embeddings, np.float64)
    num_neighbours = indices.shape[1]
    rows = np.linspace(0, len(embeddings) - 1, min(num_rows, len(embeddings))).astype(int)
    shares = []
    for row in rows:
        distances = cdist(embeddings[row][None, :], embeddings)[0]
        farthest = np.partition(distances, num_neighbours - 1)[num_neighbours - 1]
        shares.append(np.mean(distances[indices[row]] <= farthest + TOLERANCE))
    return float(np.mean(shares))


def attention_point(whole: Population, num_particles: int, repeats: int) -> Point:
    """Attend and smooth, nothing else."""
    search, config, now = chosen_search(num_particles), AttentionConfig(), part(whole, num_particles)

    @jax.jit
    def smoothed(now: Population):
        attention = attend(*now, config, search)
        return smooth(now.log_weights, attention, config.epsilon), attention.indices

    _, indices = jax.block_until_ready(smoothed(now))
    timings = [timed(lambda: jax.block_until_ready(smoothed(now))) for _ in range(repeats)]
    embeddings = Standardise()(particle_features(*now), now.log_weights)
    found = recall(np.asarray(embeddings), np.asarray(indices))
    return point("attention", num_particles, search, timings, found)


def step_point(num_particles: int, num_steps: int) -> Point:
    """A step of Algorithm 1 in the mean over a survey's first readings, some of which resample and move."""
    model, search = benchmark_model(FIELD), chosen_search(num_particles)
    preset = PAPER.with_particles(num_particles).with_horizon(num_steps)
    filter_ = preset.build(model, search=search)
    surveys = simulate_surveys(jax.random.key(SEED), model, 1, num_steps)
    keys = jax.random.split(jax.random.key(SEED), num_steps + 1)
    start = filter_.init(keys[0])
    step = eqx.filter_jit(filter_.step)

    # Taken apart beforehand, so that nothing but the steps is timed.
    stations = [Station(jnp.asarray(position)) for position in surveys.positions[0]]
    readings = [jnp.asarray(reading) for reading in surveys.readings[0]]
    survey = list(zip(list(keys[1:]), stations, readings, strict=True))

    def walk(survey: Sequence) -> None:
        belief = start
        for key, station, reading in survey:
            belief, _ = step(key, belief, station, reading)
        jax.block_until_ready(belief)

    # Two, in case that the belief after a step is of another type than the one at the start.
    walk(survey[:2])
    whole = timed(lambda: walk(survey))
    mean = Timing(whole.wall / num_steps, whole.cpu / num_steps, whole.compiled)
    return point("step", num_particles, search, [mean], None)


def survey_point(num_readings: int, num_surveys: int, most: int, particles: int | None) -> Point:
    """The first readings of the same surveys, through `locate`."""
    model = benchmark_model(FIELD)
    surveys = simulate_surveys(jax.random.key(SEED), model, num_surveys, most)

    def run(number: int) -> None:
        survey = surveys.positions[number, :num_readings], surveys.readings[number, :num_readings]
        locate(*survey, model=model, particles=particles, seed=number)

    run(0)
    timings = [timed(lambda number=number: run(number)) for number in range(num_surveys)]
    return point("survey", num_readings, None, timings, None)


def point(
    curve: str, size: int, search: NeighbourSearch | None, timings: Sequence[Timing], found: float | None
) -> Point:
    middle = summarise(timings)
    name = {exact_neighbours: "exact", tree_neighbours: "tree", None: ""}[search]
    told = "" if found is None else f", recall {found:.3f}"
    print(f"{curve}, {size:,}: {middle['wall_ms']:.1f} ms{told}", flush=True)
    return Point(curve, size, name, middle["wall_ms"], middle["cpu_ms"], middle["compiled"], found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="particles")
    parser.add_argument("--lengths", nargs="+", type=int, default=list(LENGTHS), help="readings")
    parser.add_argument("--repeats", type=int, default=5, help="runs of the attention")
    parser.add_argument("--steps", type=int, default=NUM_STEPS, help="steps of the filter")
    parser.add_argument("--surveys", type=int, default=6, help="surveys of each length")
    parser.add_argument("--particles", type=int, default=None, help="instead of the default preset's own")
    parser.add_argument("--out", type=Path, default=Path("runs/bench"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    whole = population(max(arguments.sizes))
    points = [attention_point(whole, size, arguments.repeats) for size in arguments.sizes]
    points += [step_point(size, arguments.steps) for size in arguments.sizes]
    most = max(arguments.lengths)
    points += [
        survey_point(length, arguments.surveys, most, arguments.particles) for length in arguments.lengths
    ]
    with (arguments.out / "growth.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Point._fields)
        writer.writerows(points)
    save(growth_figure(points), arguments.out / "growth.png")


if __name__ == "__main__":
    main()
