"""Training of the attention projection: simulated surveys, populations, g, and what it does on held-out ones.

Populations take the most time and are kept in the folder, so that they are not made again after an
interruption. The same arguments give the same weights.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rich.progress import track

from benchmarks import machine
from benchmarks.populations import Reweighted, collect, degenerate, join
from benchmarks.projection_learner import (
    ProjectionConfig,
    Smoother,
    build,
    population_score,
    smoothed_weights,
    updates,
)
from dowsax.evaluate.statistics import bootstrap_interval
from dowsax.evaluate.surveys import simulate_surveys
from dowsax.inference import DEFAULT, Preset
from dowsax.inference.attention import attend, smooth, uniform_mixing
from dowsax.inference.learned import save_projection
from dowsax.inference.weights import ess
from dowsax.world import MODALITIES, benchmark_model

NUM_READINGS = 36
CHUNK = 100
# Spreads below this share of the prior's do not count for more.
LEAST_SPREAD = 0.02
STANDARD = ProjectionConfig()


@dataclass(frozen=True)
class Training:
    """What the weights depend on, and nothing else."""

    fields: tuple[str, ...] = tuple(MODALITIES)
    surveys: int = 192
    """Simulated for each field; held-out ones are a third as many more."""
    particles: int = 256
    moves: int = 4
    seed: int = 0
    projection: ProjectionConfig = STANDARD

    @property
    def preset(self) -> Preset:
        """The filter whose populations are learned from: small, so that its weights are noisy."""
        config = replace(
            DEFAULT.config, num_particles=self.particles, num_moves=self.moves, max_moves=self.moves
        )
        return replace(DEFAULT, config=config)


def gather(training: Training, held_out: bool, folder: Path) -> list[Reweighted]:
    """Degenerate populations, one batch a field; from the folder where they are there already."""
    found = []
    for number, field in enumerate(training.fields):
        kind = "held-out" if held_out else "training"
        name = f"{kind}-{field}-{training.surveys}-{training.particles}-{training.moves}-{training.seed}"
        path = folder / f"{name}.npz"
        if not path.exists():
            key = jax.random.fold_in(jax.random.key(training.seed), 2 * number + held_out)
            populations = _populations(key, field, training, training.surveys // (3 if held_out else 1))
            np.savez(path, **{name: getattr(populations, name) for name in Reweighted.__annotations__})
        stored = np.load(path)
        found.append(Reweighted(**{name: jnp.asarray(stored[name]) for name in Reweighted.__annotations__}))
        print(f"{kind} {field}: {len(found[-1].theta)} populations", flush=True)
    return found


def _populations(key, field: str, training: Training, num_surveys: int) -> Reweighted:
    model, preset = benchmark_model(field), training.preset
    survey_key, filter_key, prior_key = jax.random.split(key, 3)
    surveys = simulate_surveys(survey_key, model, num_surveys, NUM_READINGS)
    drawn = jax.vmap(model.prior.sample)(jax.random.split(prior_key, 4096))
    floor = LEAST_SPREAD * jnp.std(drawn, axis=0)

    @eqx.filter_jit
    def all_of(keys, thetas, positions, readings):
        one = lambda case: collect(case[0], model, preset, *case[1:], floor)  # noqa: E731
        cases = (keys, thetas, positions, readings)
        return jax.lax.map(one, cases) if jax.default_backend() == "cpu" else jax.vmap(one)(cases)

    found = all_of(jax.random.split(filter_key, num_surveys), *map(jnp.asarray, surveys))
    return degenerate(found, preset.config.ess_ratio)


def train(training: Training, folder: Path, command: str) -> None:
    """Gather, train, measure on held-out populations, save."""
    folder.mkdir(parents=True, exist_ok=True)
    populations = join(gather(training, False, folder))
    config = training.projection
    init_key, update_key = jax.random.split(jax.random.fold_in(jax.random.key(training.seed), 1000))
    state = build(populations.theta.shape[1], config).init(init_key)
    curve = []
    for number in track(range(config.num_steps // CHUNK), "training"):
        chunk_key = jax.random.fold_in(update_key, number)
        state, infos = updates(chunk_key, state, populations, config, CHUNK)
        curve.append([float(np.mean(leaf)) for leaf in infos])
        print(f"{(number + 1) * CHUNK} steps: gain {curve[-1][1]:.4f}, ε {curve[-1][2]:.3f}", flush=True)
    results = held_out_scores(state.smoother, gather(training, True, folder), training)
    card = {
        "command": command,
        "training": asdict(training),
        "epsilon": round(float(state.smoother.epsilon), 6),
        "num_neighbours": config.num_neighbours,
        "populations": int(populations.theta.shape[0]),
        "commit": machine.commit(),
        "jax": jax.__version__,
        "device": jax.devices()[0].device_kind,
        "curve": {"score, gain, epsilon, means of steps": CHUNK, "rows": np.round(curve, 5).tolist()},
        "held_out": results,
    }
    save_projection(folder / "projection.safetensors", state.smoother.project, card)


def held_out_scores(smoother: Smoother, parts: list[Reweighted], training: Training) -> dict:
    """By how much each smoothing lowers the score of the location: mean and 95 % interval over populations.

    In units of the spread before the reading. Populations of one survey depend on each other, so the
    bootstrap draws sources, not populations.
    """
    config = training.projection
    ways = {
        "none": lambda at: at.log_weights,
        "uniform mixing 0.2": lambda at: uniform_mixing(at.log_weights, 0.2),
        "standardising, 0.2": lambda at: smooth(
            at.log_weights, attend(at.particles, at.log_likelihoods, at.log_weights), 0.2
        ),
        "learned": lambda at: smoothed_weights(smoother, at, config.num_neighbours),
    }
    populations = join(parts)
    sources = np.unique(np.asarray(populations.theta), axis=0, return_inverse=True)[1].ravel()
    results, base = {}, None
    for name, way in ways.items():

        def one(population: Reweighted, way=way):
            log_weights = way(population)
            offset = (jnp.exp(log_weights) @ population.particles - population.theta)[:2]
            score = population_score(population, log_weights)
            return score, jnp.sum(offset**2), ess(log_weights) / log_weights.shape[0]

        scores, squares, sizes = (
            np.asarray(leaf)
            for leaf in eqx.filter_jit(lambda all_, one=one: jax.lax.map(one, all_))(populations)
        )
        base = scores if base is None else base
        sums = np.bincount(sources, base - scores)
        results[name] = {
            "score": float(scores.mean()),
            "gain": float(np.mean(base - scores)),
            "gain_interval": [bound * len(sums) / len(scores) for bound in bootstrap_interval(sums)],
            "rmse": float(np.sqrt(squares.mean())),
            "ess_share": float(sizes.mean()),
            "populations": len(scores),
            "sources": len(sums),
        }
        print(name, results[name], flush=True)
    return results
