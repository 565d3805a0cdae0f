"""Does a learned projection make attention earn its cost? `python -m benchmarks.projection_study measure`

`train` makes the weights. `measure` runs the filter without attention, with the standardising and with the
learned projection, and larger without attention, so that equal times can be compared: on own simulated
surveys, with other seeds than in training. Results are appended to a file of JSON lines, and what is there
already is not run again.
"""

import argparse
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import numpy as np

from benchmarks.preset_study import FILTER_SEED, NUM_READINGS, SURVEY_SEED, median_interval
from benchmarks.projection_learner import ProjectionConfig
from benchmarks.projection_training import Training, train
from benchmarks.timing import timed
from dowsax.evaluate.statistics import bootstrap_interval, wilson_interval
from dowsax.evaluate.surveys import simulate_surveys
from dowsax.inference import DEFAULT, PAPER, AttentionConfig, Preset
from dowsax.inference.learned import PROJECTION, learned_attention, load_projection
from dowsax.inference.locate import locate
from dowsax.world import MODALITIES, benchmark_model

SIZES = ["small", "default", "paper"]
# Cases in which the two reference runs differ by more are left out of the gaps.
SETTLED = 0.1


def sized(particles: int, moves: int, **changes) -> Preset:
    """The default filter with another size."""
    config = replace(DEFAULT.config, num_particles=particles, num_moves=moves, max_moves=moves, **changes)
    return replace(DEFAULT, config=config)


def paper(**changes) -> Preset:
    """Algorithm 1 as printed, without attention unless it is among the changes."""
    return replace(PAPER, config=replace(PAPER.config, **({"attention": None} | changes)))


def variants(weights: str) -> dict[str, Preset]:
    """Filters as they are, smoothed in several ways, and larger without smoothing."""
    found = {}
    for size, (particles, moves), larger in (
        ("small", (256, 4), [(256, 6), (256, 8), (256, 12), (512, 8)]),
        ("default", (2048, 12), [(2048, 16), (2048, 24), (4096, 24), (4096, 48), (8192, 36)]),
    ):
        learned = sized(particles, moves, attention=learned_attention(weights))
        found |= {
            f"{size}: {particles} × {moves}": sized(particles, moves),
            f"{size}: {particles} × {moves}, uniform mixing": sized(particles, moves, mixing=0.2),
            f"{size}: {particles} × {moves}, standardising": sized(
                particles, moves, attention=AttentionConfig()
            ),
            f"{size}: {particles} × {moves}, learned": replace(learned, projection=weights),
        }
        found |= {f"{size}: {more} × {often}": sized(more, often) for more, often in larger}
    attention = learned_attention(weights)
    found |= {
        "paper: 500 × 1": paper(),
        "paper: 500 × 1, standardising": PAPER,
        "paper: 500 × 1, learned": replace(paper(attention=attention), projection=weights),
        "paper: 500 × 1, learned, first": replace(
            paper(attention=attention, smooth_first=True), projection=weights
        ),
        "paper: 500 × 4": paper(num_moves=4, max_moves=4),
    }
    return found


def measured(field: str, preset: Preset, cases: int, surveys) -> dict:
    """What one filter makes of all surveys: a number a case, and the time of a reading."""
    model, found = benchmark_model(field), []

    def locate_first(number: int) -> None:
        places, readings = surveys.positions[:number], surveys.readings[:number]
        found.append(locate(places, readings, model=model, preset=preset, seed=FILTER_SEED))

    # To compile. On an accelerator there is one program for each number of surveys.
    locate_first(1 if jax.default_backend() == "cpu" else cases)
    timing = timed(lambda: locate_first(cases))
    post, truth = found[-1], np.asarray(surveys.thetas)
    low, high = post.interval(0.9)
    readings = cases * NUM_READINGS
    return {
        "mean": post.mean[:, :2].tolist(),
        "std": post.std[:, :2].tolist(),
        "covered": ((truth >= low) & (truth <= high))[:, :2].sum(axis=1).tolist(),
        "error": np.linalg.norm(post.mean[:, :2] - truth[:, :2], axis=1).tolist(),
        "contracted": np.asarray(post.contracted).tolist(),
        "terms": float(post.trace.evaluations.sum(axis=1).mean() / NUM_READINGS),
        "cpu_ms": 1000 * timing.cpu / readings,
        "wall_ms": 1000 * timing.wall / readings,
    }


def reference(field: str, surveys, size: tuple[int, int], folder: Path) -> dict[str, np.ndarray]:
    """Mean and standard deviation of two long runs, and how far their means are apart."""
    path = folder / f"reference-{field}-{len(surveys.thetas)}-{size[0]}-{size[1]}.npz"
    if not path.exists():
        model, preset = benchmark_model(field), sized(*size)
        first, second = (
            locate(surveys.positions, surveys.readings, model=model, preset=preset, seed=seed)
            for seed in (901, 902)
        )
        std = (first.std + second.std)[:, :2] / 2
        gap = (np.abs(first.mean - second.mean)[:, :2] / std).max(axis=1)
        np.savez(path, mean=(first.mean + second.mean)[:, :2] / 2, std=std, gap=gap)
    return dict(np.load(path))


def gaps(row: dict, against: dict[str, np.ndarray]) -> np.ndarray:
    """The distance of the means from the settled reference means, in reference standard deviations."""
    gap = (np.abs(np.asarray(row["mean"]) - against["mean"]) / against["std"]).max(axis=1)
    return gap[against["gap"] < SETTLED]


def line(row: dict, base: dict, against: dict[str, np.ndarray]) -> str:
    """One filter in one field; brackets are 95 % intervals."""
    gap, ratio = gaps(row, against), gaps(row, against) / gaps(base, against)
    low, high = median_interval(gap)
    covered, number = int(np.sum(row["covered"])), 2 * len(row["covered"])
    cover_low, cover_high = wilson_interval(covered, number)
    squares = np.square(row["error"])
    bounds = [np.exp(bound) for bound in bootstrap_interval(np.log(ratio))]
    compared = f"{np.exp(np.mean(np.log(ratio))):.2f} [{bounds[0]:.2f}, {bounds[1]:.2f}]"
    compared = "1" if row is base else compared
    rmse = np.sqrt([squares.mean(), *bootstrap_interval(squares)])
    spread = np.median(np.asarray(row["std"]) / against["std"])
    return (
        f"| {row['variant'].split(': ')[1]} | {covered / number:.3f} [{cover_low:.3f}, {cover_high:.3f}] | "
        f"{rmse[0]:.2f} [{rmse[1]:.2f}, {rmse[2]:.2f}] | {np.median(gap):.3f} [{low:.3f}, {high:.3f}] | "
        f"{np.quantile(gap, 0.9):.3f} | {compared} | {spread:.3f} | "
        f"{row['cpu_ms']:.2f} | {row['wall_ms']:.3f} |"
    )


def table(rows: list[dict], field: str, size: str, against: dict[str, np.ndarray]) -> str:
    """The filters of one size in one field, the plain one first."""
    chosen = [row for row in rows if row["field"] == field and row["variant"].startswith(f"{size}: ")]
    if not chosen or "," in chosen[0]["variant"]:
        return ""
    settled = int(np.sum(against["gap"] < SETTLED))
    heading = [
        f"### {field}, {size} ({len(chosen[0]['error'])} surveys, {settled} with a settled reference)",
        "",
        "| particles × moves | 90 % coverage | RMSE [m] | gap median | gap p90 | gap over the first row's | "
        "σ ratio | CPU ms a reading | wall ms a reading |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(heading + [line(row, chosen[0], against) for row in chosen])


def digest(weights: str) -> str:
    """Tells trained weights apart."""
    leaves = jax.tree.leaves(eqx.filter(load_projection(weights), eqx.is_array))
    return hashlib.sha256(b"".join(np.asarray(leaf).tobytes() for leaf in leaves)).hexdigest()[:12]


def measure(arguments: argparse.Namespace) -> None:
    folder, size = arguments.out, (arguments.reference_particles, arguments.reference_moves)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.jsonl"
    rows = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    # Times belong to a device, and everything to the surveys and the weights.
    same = {
        "cases": arguments.cases,
        "device": jax.devices()[0].device_kind,
        "survey_seed": SURVEY_SEED,
        "seed": FILTER_SEED,
    }
    kept = {None, digest(arguments.weights)}
    rows = [row for row in rows if all(row[name] == value for name, value in same.items())]
    rows = [row for row in rows if row["weights"] in kept]
    seen = {(row["variant"], row["field"]) for row in rows}
    wanted = {
        name: preset
        for name, preset in variants(arguments.weights).items()
        if name.split(":")[0] in arguments.sizes
    }
    text = ""
    for field in arguments.fields:
        key = jax.random.key(SURVEY_SEED)
        surveys = simulate_surveys(key, benchmark_model(field), arguments.cases, NUM_READINGS)
        against = reference(field, surveys, size, folder)
        for variant in (name for name in wanted if (name, field) not in seen):
            preset = wanted[variant]
            row = {"variant": variant, "field": field} | same
            row |= {"weights": None if preset.projection is None else digest(preset.projection)}
            row |= measured(field, preset, arguments.cases, surveys)
            rows.append(row)
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{field}, {variant}: {row['cpu_ms']:.2f} CPU ms a reading", flush=True)
        order = {name: number for number, name in enumerate(wanted)}
        ranked = sorted(
            (row for row in rows if row["variant"] in order), key=lambda row: order[row["variant"]]
        )
        text += "".join(f"{table(ranked, field, kind, against)}\n\n" for kind in arguments.sizes)
        (folder / "table.md").write_text(text)
    print(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    training = commands.add_parser("train", help="make the weights")
    training.add_argument("--fields", nargs="+", default=list(MODALITIES))
    training.add_argument("--surveys", type=int, default=Training.surveys)
    training.add_argument("--steps", type=int, default=ProjectionConfig.num_steps)
    training.add_argument("--seed", type=int, default=0)
    training.add_argument("--learn-epsilon", action="store_true")
    training.add_argument("--out", type=Path, default=Path("runs/projection"))
    measuring = commands.add_parser("measure", help="run the filters")
    measuring.add_argument("--fields", nargs="+", default=["temperature", "magnetic", "gas"])
    measuring.add_argument("--sizes", nargs="+", default=SIZES, choices=SIZES)
    measuring.add_argument("--cases", type=int, default=128)
    measuring.add_argument("--weights", default=PROJECTION, help="a shipped name, or a .safetensors file")
    measuring.add_argument("--reference-particles", type=int, default=16384)
    measuring.add_argument("--reference-moves", type=int, default=60)
    measuring.add_argument("--out", type=Path, default=Path("runs/projection-study"))
    arguments = parser.parse_args()
    if arguments.command == "measure":
        return measure(arguments)
    config = ProjectionConfig(num_steps=arguments.steps, learn_epsilon=arguments.learn_epsilon)
    wanted = Training(tuple(arguments.fields), arguments.surveys, seed=arguments.seed, projection=config)
    flag = " --learn-epsilon" if config.learn_epsilon else ""
    command = (
        f"python -m benchmarks.projection_study train --fields {' '.join(wanted.fields)} "
        f"--surveys {wanted.surveys} --steps {config.num_steps} --seed {wanted.seed}{flag}"
    )
    return train(wanted, arguments.out, command)


if __name__ == "__main__":
    main()
