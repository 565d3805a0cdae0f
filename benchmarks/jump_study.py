"""Does the filter survive a jump of the source? `python -m benchmarks.jump_study`

A walk approaches the source; after 15 readings the source is somewhere else (everything else stays as it
was) and the walk approaches that one for 20 readings more. Three filters see the readings: one that knows of
no jumps, one with the hazard, and one that was restarted at the jump. Counted is whether the true position
lies in the disc around the mean that holds 95 % of the belief. Two more rows are the price of the hazard
where nothing jumps.
"""

import argparse
import json
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.evaluate.statistics import wilson_interval
from dowsax.inference import DEFAULT, Preset, summaries
from dowsax.types import Key, Station
from dowsax.world import Jump, Model, approach, benchmark_model

BEFORE, AFTER = 15, 20
SEED = 81


def survey(key: Key, model: Model, jumps: bool):
    """Θ at the end, the path and its readings."""
    keys = jax.random.split(key, 6)
    first, other = model.prior.sample(keys[0]), model.prior.sample(keys[1])
    second = first.at[:2].set(other[:2]) if jumps else first
    there = approach(keys[2], first[:2], BEFORE)
    back = approach(keys[3], second[:2], AFTER + 1, there[-1])[1:]
    readings = [
        model.simulate(keys[4], first, Station(there)),
        model.simulate(keys[5], second, Station(back)),
    ]
    return second, jnp.concatenate([there, back]), jnp.concatenate(readings)


def followed(key: Key, model: Model, preset: Preset, positions, readings, transition: Jump | None):
    """The belief's location after the last reading: mean, 95 % radius and probability of a jump so far."""
    filter_ = preset.with_horizon(len(readings)).build(model, transition=transition)
    init_key, step_key = jax.random.split(key)

    def step(belief, now):
        key, position, reading = now
        return filter_.step(key, belief, Station(position), reading)

    keys = jax.random.split(step_key, len(readings))
    belief, _ = jax.lax.scan(step, filter_.init(init_key), (keys, positions, readings))
    jumped = jnp.sum(jnp.exp(belief.log_weights), where=belief.starts > 0)
    return summaries.mean(belief)[:2], summaries.credible_radius(belief, 0.95), jumped


def study(field: str, cases: int, jump: Jump, preset: Preset) -> dict:
    """Shares of the cases in which each filter's 95 % disc holds the source."""
    model = benchmark_model(field)
    hold, radius = {}, {}

    @eqx.filter_jit
    def batch(keys, jumps: bool, transition: Jump | None, start: int):
        def case(key):
            survey_key, filter_key = jax.random.split(key)
            theta, positions, readings = survey(survey_key, model, jumps)
            mean, disc, jumped = followed(
                filter_key, model, preset, positions[start:], readings[start:], transition
            )
            return jnp.linalg.norm(theta[:2] - mean) <= disc, disc, jumped

        in_step = jax.default_backend() != "cpu"
        return jax.vmap(case)(keys) if in_step else jax.lax.map(case, keys)

    keys = jax.random.split(jax.random.key(SEED), cases)
    rows = {
        "no jumps known": (True, None, 0),
        "hazard": (True, jump, 0),
        "restarted": (True, None, BEFORE),
        "hazard, nothing jumps": (False, jump, 0),
        "no jumps known, nothing jumps": (False, None, 0),
    }
    for name, (jumps, transition, start) in rows.items():
        hold[name], radius[name], _ = (np.asarray(leaf) for leaf in batch(keys, jumps, transition, start))
    report = {"field": field, "cases": cases, "seed": SEED}
    report |= {"hazard_rate": jump.hazard, "birth_share": jump.birth_share, "columns": jump.columns}
    for name in rows:
        number = int(hold[name].sum())
        report[name] = {
            "holds": number / cases,
            "interval": wilson_interval(number, cases),
            "median_radius": float(np.median(radius[name])),
        }
    both = int((hold["hazard"] & hold["restarted"]).sum())
    total = int(hold["restarted"].sum())
    report["hazard where restarted holds"] = {
        "holds": both / total,
        "interval": wilson_interval(both, total),
    }
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fields", nargs="+", default=["temperature"])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--hazard", type=float, default=Jump().hazard)
    parser.add_argument("--columns", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--out", type=Path, default=Path("runs/jump-study"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    jump = Jump(arguments.hazard, columns=tuple(arguments.columns))
    for field in arguments.fields:
        report = study(field, arguments.cases, jump, DEFAULT)
        name = f"{field}-{len(jump.columns)}-columns.json"
        (arguments.out / name).write_text(json.dumps(report, indent=1))
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
