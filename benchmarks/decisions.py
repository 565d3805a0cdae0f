"""What one decision costs, and how many simulated readings it needs: `python -m benchmarks.decisions`

The cost: Infotaxis against Stone Soup's planner of information, on the same particles (gas, prior draws, four
moves; the peer judges standing still as well), in turns, warm.

The readings: beliefs from real searches; for each, what Infotaxis chooses with few simulated readings against
what is best by very many. `loss` is the information that a choice gives away, as a share of the best one's.
A few of the simulated readings carry nearly all of the variance, so that agreement need not grow with their
number.
"""

import argparse
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers.model import sample_prior
from benchmarks.timing import Timing, summarise, timed
from dowsax.envs import SCENARIOS, SearchProblem, SearchState
from dowsax.evaluate.episodes import PROGRAMS
from dowsax.evaluate.search_steps import as_arrays
from dowsax.evaluate.trace import row
from dowsax.inference import PRESETS
from dowsax.inference.belief import Belief, History
from dowsax.inference.weights import normalise
from dowsax.policies import Lookahead
from dowsax.policies.utilities import information_gain
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, Budget, benchmark_model

SEED = 93
POSITION = np.array([4.0, 3.0])
OURS = ((10_000, 32), (2_048, 32))
THEIRS = ((10_000, 1), (10_000, 10), (10_000, 32))
"""(particles, simulated readings for each candidate)"""
READINGS = (8, 16, 32, 64)
MANY, REFERENCE_RUNS = 512, 16
MOMENTS = (1, 4, 9, 16, 25)
"""The number of readings after which a search lends its belief."""
_LEAST = 1e-9
CHOICES = 16
"""Keys with which each choice is made."""


def prior_belief(particles: np.ndarray) -> Belief:
    """Equal weights and no history: the cost of a decision depends on neither."""
    count = len(particles)
    zeros = jnp.zeros(count, jnp.float32)
    history = History(Station(jnp.zeros((1, 2))), jnp.zeros(1), jnp.zeros((), jnp.int32))
    starts = jnp.zeros(count, jnp.int32)
    thetas = jnp.asarray(particles, jnp.float32)
    return Belief(thetas, normalise(zeros), zeros, starts, history, jnp.zeros(()), jnp.ones(()))


def our_decision(num_particles: int, num_readings: int):
    """(number) -> one decision of Infotaxis, finished."""
    policy = Lookahead(benchmark_model("gas"), information_gain, num_readings=num_readings)
    belief = prior_belief(sample_prior(np.random.default_rng(SEED), num_particles))
    station = Station(jnp.asarray(POSITION, jnp.float32))
    budget = Budget()
    candidates = FOUR_MOVES.candidates(station.position, budget)
    decide = eqx.filter_jit(policy)
    keys = jax.random.split(jax.random.key(SEED), 64)
    return lambda number: decide(keys[number % 64], belief, station, candidates, budget).block_until_ready()


def their_decision(num_particles: int, num_readings: int):
    from benchmarks.peers.stone_soup_planner import planner

    decide = planner(sample_prior(np.random.default_rng(SEED), num_particles), POSITION, num_readings)
    return lambda number: decide()


def costs(repeats: int, shrink: int) -> list[dict]:
    """Every engine in turns, so that whatever else the machine does falls on all of them."""
    makers = {("dowsax Infotaxis", *size): our_decision for size in OURS}
    if importlib.util.find_spec("stonesoup") is not None:
        makers |= {("Stone Soup", *size): their_decision for size in THEIRS}
    else:
        print("Stone Soup is not installed: its rows are left out.", flush=True)
    decisions = {name: make(name[1] // shrink, name[2]) for name, make in makers.items()}
    timings: dict[tuple, list[Timing]] = {name: [] for name in decisions}
    for decide in decisions.values():
        decide(0)
    for number in range(repeats):
        for name, decide in decisions.items():
            timings[name].append(timed(lambda decide=decide, number=number: decide(number)))
    rows = []
    for (engine, particles, readings), taken in timings.items():
        row = {"engine": engine, "particles": particles // shrink, "readings": readings, **summarise(taken)}
        rows.append(row)
        print(
            f"{engine}, {row['particles']:,} particles, {readings} readings: {row['cpu_ms']:.1f} ms",
            flush=True,
        )
    return rows


def searched_beliefs(field: str, count: int, num_particles: int | None) -> list[SearchState]:
    """States of searches by Infotaxis after the readings of `MOMENTS`."""
    preset = PRESETS["default"]
    preset = preset if num_particles is None else preset.with_particles(num_particles)
    search = as_arrays(SearchProblem(benchmark_model(field), preset, SCENARIOS["id"]))
    policy = as_arrays(Lookahead(search.model, information_gain, FOUR_MOVES))
    states = []
    for number in range(-(-count // len(MOMENTS))):
        key = jax.random.fold_in(jax.random.key(SEED), number)
        state = PROGRAMS.prepare(search, key)
        position = state.station.position
        for reading in range(1, max(MOMENTS) + 1):
            state, *_ = PROGRAMS.read(search, row, key, state, position)
            position = PROGRAMS.decide(search, policy, key, state)
            states += [state] if reading in MOMENTS else []
    return states[:count]


def worths(policy: Lookahead, states: Sequence[SearchState], num_keys: int) -> np.ndarray:
    """(states, keys, actions), a move cut short worth nothing."""

    @eqx.filter_jit
    def judge(policy, keys, state):
        candidates = FOUR_MOVES.candidates(state.station.position, Budget())
        found = jax.lax.map(
            lambda key: policy.expected_utilities(key, state.belief, state.station, candidates), keys
        )
        return jnp.where(candidates.mask[None, :], found, -jnp.inf)

    keys = jax.random.split(jax.random.key(SEED + policy.num_readings), (len(states), num_keys))
    return np.stack([judge(policy, row, state) for row, state in zip(keys, states, strict=True)])


def agreement(found: np.ndarray, reference: np.ndarray) -> dict[str, float]:
    """How often the choice is the best by the reference (states, actions), and the mean loss (see above).

    The standard error is over beliefs; rows of one table share them, and differ by less than it says.
    """
    chosen = np.argmax(found, axis=2)
    best = reference.max(axis=1, keepdims=True)
    got = np.take_along_axis(reference, chosen, axis=1)
    hits, losses = (got == best).mean(axis=1), (best - got) / np.maximum(best, _LEAST)
    error = hits.std(ddof=1) / len(hits) ** 0.5
    return {"agreement": float(hits.mean()), "error": float(error), "loss": float(losses.mean())}


def readings_needed(field: str, count: int, num_particles: int | None) -> list[dict]:
    """A row for each number of simulated readings; the reference has keys of its own."""
    states = searched_beliefs(field, count, num_particles)
    planner = lambda readings: as_arrays(  # noqa: E731
        Lookahead(benchmark_model(field), information_gain, num_readings=readings)
    )
    many = worths(planner(MANY), states, 1 + REFERENCE_RUNS)
    reference = many[:, 1:].mean(axis=1)
    rows = []
    for readings in (*READINGS, MANY):
        found = many[:, :1] if readings == MANY else worths(planner(readings), states, CHOICES)
        row = {"field": field, "readings": readings, **agreement(found, reference)}
        rows.append(row)
        print(f"{field}, {readings}: agreement {row['agreement']:.2f}, loss {row['loss']:.3f}", flush=True)
    return rows


def table(report: dict) -> str:
    """Both tables in markdown."""
    lines = [
        "| engine | particles | simulated readings | CPU ms a decision | wall ms | CPU, ours at 10,000 = 1 |",
        "|---|---|---|---|---|---|",
    ]
    base = report["costs"][0]["cpu_ms"]
    lines += [
        f"| {row['engine']} | {row['particles']:,} | {row['readings']} | {row['cpu_ms']:.1f} "
        f"| {row['wall_ms']:.1f} | {row['cpu_ms'] / base:.2f} |"
        for row in report["costs"]
    ]
    fields = list(dict.fromkeys(row["field"] for row in report["readings"]))
    lines += ["", f"| simulated readings | {' | '.join(f'{field}: agreement, loss' for field in fields)} |"]
    lines.append("|---|" + "---|" * len(fields))
    for readings in dict.fromkeys(line["readings"] for line in report["readings"]):
        cells = [
            f"{row['agreement']:.2f} ± {row['error']:.2f}, {100 * row['loss']:.1f} %"
            for row in report["readings"]
            if row["readings"] == readings
        ]
        lines.append(f"| {readings} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15, help="timed decisions of each engine")
    parser.add_argument("--shrink", type=int, default=1, help="divide the numbers of particles by this")
    parser.add_argument("--fields", nargs="+", default=["temperature", "gas", "energy"])
    parser.add_argument("--beliefs", type=int, default=50, help="beliefs of each field")
    parser.add_argument("--particles", type=int, default=None, help="of the searches, not the preset's own")
    parser.add_argument("--out", type=Path, default=Path("runs/bench"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    needed = [readings_needed(field, arguments.beliefs, arguments.particles) for field in arguments.fields]
    report = {
        "device": jax.devices()[0].device_kind,
        "beliefs": arguments.beliefs,
        "costs": costs(arguments.repeats, arguments.shrink),
        "readings": [row for rows in needed for row in rows],
    }
    (arguments.out / "decisions.json").write_text(json.dumps(report, indent=1) + "\n")
    (arguments.out / "decisions.md").write_text(table(report), encoding="utf-8")


if __name__ == "__main__":
    main()
