"""Readings chosen anew from surveys that were made: `python -m benchmarks.replay`

How many readings it takes to come within twice the final error, that of the belief after all of them:
Infotaxis against random picks and against going round. Truth is for scoring alone. Prints a table with
intervals, writes one line a replay. Seeds are fixed.
"""

import argparse
import csv
import math
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int
from rich.console import Console
from rich.progress import Progress

from benchmarks import real_sets, replay_pools
from benchmarks.real import median_interval
from benchmarks.replay_pools import ANY_TURN, Pool, going_round, random_picks
from dowsax.evaluate.statistics import bootstrap_interval
from dowsax.inference import DEFAULT, Belief, Preset, summaries, systematic
from dowsax.inference.weights import normalise
from dowsax.policies import Prediction
from dowsax.policies.lookahead import simulate_log_likelihoods
from dowsax.policies.utilities import information_gain
from dowsax.types import Key, Station
from dowsax.world import Model

OUT = Path(__file__).resolve().parents[1] / "results" / "replay.csv"
INFOTAXIS = "infotaxis"
BLIND = {"random": random_picks, "round": going_round}
ORDERS = (INFOTAXIS, *BLIND)
NUM_PARTICLES = 512
HOLD = 3
"""Readings in a row after which the error has to be small: once may be luck."""
_NUM_IMAGINED = 16
"""Readings for each candidate."""
_AT_ONCE = 16
"""Candidates judged together, to bound the memory."""


class Deck(eqx.Module):
    """A pool with room for more readings than it has."""

    stations: Station
    values: Float[Array, " k"]
    turns: Int[Array, " k"]
    filled: Bool[Array, " k"]


class Score(NamedTuple):
    """One replay against the truth; lengths in the unit of the set."""

    group: str
    name: str
    order: str
    seed: int
    pool: int
    """The readings there are."""
    turns: int
    """How many of them can be chosen."""
    readings: int
    """The fewest after which the error is at most twice the final one; `turns` where it never is."""
    reached: bool
    settled: int
    """The fewest after which it is so to the end; `turns` where it is not even then."""
    final_error: float
    """Of the mean after all readings of the pool, which is itself averaged over replays."""
    error: float
    """After the last reading of this replay."""


def gains(
    key: Key, model: Model, belief: Belief, stations: Station, chosen: Bool[Array, " k"]
) -> Float[Array, " k"]:
    """What a reading at each chosen station is expected to tell [nats], at least 0; −∞ at the others.

    The chosen ones are put first, so that no more of them are judged than there are.
    """
    draw_key, noise_key = jax.random.split(key)
    log_weights = normalise(belief.log_weights)
    sources = belief.particles[systematic(draw_key, log_weights, _NUM_IMAGINED)]
    noise_keys = jax.random.split(noise_key, _NUM_IMAGINED)
    size = chosen.shape[0]
    first = jnp.argsort(~chosen)

    def judge(station: Station) -> Float[Array, ""]:
        terms = simulate_log_likelihoods(noise_keys, model, belief.particles, sources, station)
        return information_gain(Prediction(station.position, belief.particles, log_weights, terms))

    def judge_some(number, worth):
        at = first[jnp.minimum(number * _AT_ONCE + jnp.arange(_AT_ONCE), size - 1)]
        some = jax.vmap(judge)(jax.tree.map(lambda leaf: leaf[at], stations))
        return worth.at[at].set(jnp.nan_to_num(some, nan=0.0))

    turns = -(-jnp.sum(chosen) // _AT_ONCE)
    worth = jax.lax.fori_loop(0, turns, judge_some, jnp.zeros(size))
    return jnp.where(chosen, worth, -jnp.inf)


@eqx.filter_jit
def replay(
    model: Model, preset: Preset, deck: Deck, order: Int[Array, " t"], num_turns, informed, key: Key
) -> Float[Array, "t 2"]:
    """Where the source is believed to be after each reading; what is beyond `num_turns` is zero.

    The readings are those of the order, or, `informed`, those from which most is expected.
    """
    init_key, step_key = jax.random.split(key)
    template = jax.tree.map(lambda leaf: leaf[0], deck.stations)
    filter_ = preset.with_horizon(order.shape[0]).build(model, template=template)

    def step(turn, carry):
        belief, unread, places = carry
        choice_key, filter_key = jax.random.split(jax.random.fold_in(step_key, turn))
        there = unread & ((deck.turns == ANY_TURN) | (deck.turns == turn))
        at = jax.lax.cond(
            informed,
            lambda: jnp.argmax(gains(choice_key, model, belief, deck.stations, there)),
            lambda: order[turn].astype(int),
        )
        station = jax.tree.map(lambda leaf: leaf[at], deck.stations)
        belief, info = filter_.step(filter_key, belief, station, deck.values[at])
        # A belief that cannot explain a reading says nothing: it is nowhere, and not at the origin.
        place = jnp.where(info.explained, summaries.mean(belief)[:2], jnp.nan)
        return belief, unread.at[at].set(False), places.at[turn].set(place)

    start = filter_.init(init_key), deck.filled, jnp.zeros((order.shape[0], 2))
    return jax.lax.fori_loop(0, num_turns, step, start)[2]


def deck_of(pool: Pool, size: int, *, any_turn: bool = False) -> Deck:
    """The pool with room for `size` readings, the last one repeated; with `any_turn` none has to wait."""
    number = len(pool.turns)

    def padded(leaf):
        return jnp.pad(jnp.asarray(leaf), [(0, size - number), *[(0, 0)] * (jnp.ndim(leaf) - 1)], "edge")

    turns = np.full(number, ANY_TURN, np.int32) if any_turn else pool.turns
    values = pool.case.values.astype(np.float32)
    filled = jnp.arange(size) < number
    return Deck(jax.tree.map(padded, pool.case.stations), padded(values), padded(turns), filled)


def needed(errors: np.ndarray, bound: float) -> tuple[int, bool]:
    """The fewest readings after which the error stays within the bound for `HOLD` readings, if any.

    At the end of the pool fewer have to do; all readings where the bound is never kept.
    """
    within = errors <= bound
    starts = [at for at in range(len(errors)) if within[at : at + HOLD].all()]
    return (starts[0] + 1, True) if starts else (len(errors), False)


def settled(errors: np.ndarray, bound: float) -> int:
    """The fewest readings after which the error is within the bound to the end; all where it is not there."""
    outside = np.flatnonzero(~(errors <= bound))
    return min(int(outside[-1]) + 2, len(errors)) if len(outside) else 1


class Bench(NamedTuple):
    """How the pools of one set are replayed: the same shapes for all of them, so that programs are shared."""

    preset: Preset
    size: int
    """The largest pool."""
    turns: int
    """The most readings that can be chosen."""
    seeds: Sequence[int]

    def places(self, pool: Pool, order: str, seed: int) -> np.ndarray:
        """(turns, 2): where the source is believed to be after each reading, in the frame of the set."""
        generator = np.random.default_rng([seed, *order.encode(), *pool.case.name.encode()])
        picks = np.zeros(self.turns, np.int32)
        if order in BLIND:
            picks[: pool.num_turns] = BLIND[order](pool, generator)
        informed, key = jnp.asarray(order == INFOTAXIS), _key(pool, seed)
        deck = deck_of(pool, self.size)
        number = jnp.asarray(pool.num_turns)
        means = replay(pool.model, self.preset, deck, jnp.asarray(picks), number, informed, key)
        return np.asarray(means, np.float64)[: pool.num_turns] + pool.case.origin

    def everything(self, pool: Pool, seed: int) -> np.ndarray:
        """(2,): where it is believed to be after all readings, under the model for all of them."""
        generator = np.random.default_rng([seed, *pool.case.name.encode()])
        number = len(pool.turns)
        picks = np.zeros(self.size, np.int32)
        picks[:number] = generator.permutation(number)
        deck, informed = deck_of(pool, self.size, any_turn=True), jnp.zeros((), bool)
        means = replay(
            pool.whole,
            self.preset,
            deck,
            jnp.asarray(picks),
            jnp.asarray(number),
            informed,
            _key(pool, seed),
        )
        return np.asarray(means, np.float64)[number - 1] + pool.case.origin


def bench_for(pools: Sequence[Pool], preset: Preset, seeds: Sequence[int]) -> Bench:
    """Room for the largest of the pools."""
    sizes, turns = [len(pool.turns) for pool in pools], [pool.num_turns for pool in pools]
    return Bench(preset, max(sizes), max(turns), seeds)


def _key(pool: Pool, seed: int) -> Key:
    return jax.random.fold_in(jax.random.key(seed), int.from_bytes(pool.case.name.encode()[-3:], "big"))


def scores(bench: Bench, pool: Pool, truth: np.ndarray) -> Iterator[Score]:
    """Every order and seed on one pool."""
    tracks = {(order, seed): bench.places(pool, order, seed) for order in ORDERS for seed in bench.seeds}
    if pool.turns[0] == ANY_TURN:
        # At the end of a pool everything has been read, whatever the order.
        last = [track[-1] for track in tracks.values()]
    else:
        last = [bench.everything(pool, seed) for seed in bench.seeds]
    final = float(np.linalg.norm(np.mean(last, axis=0) - truth))
    for (order, seed), track in tracks.items():
        errors = np.linalg.norm(track - truth, axis=1)
        readings, reached = needed(errors, 2 * final)
        yield Score(
            pool.case.group,
            pool.case.name,
            order,
            seed,
            len(pool.turns),
            pool.num_turns,
            readings,
            reached,
            settled(errors, 2 * final),
            final,
            float(errors[-1]),
        )


def by_run(rows: Sequence[Score], order: str) -> np.ndarray:
    """(runs,): the readings that an order needed, averaged over seeds; those of each seed of a lone run."""
    names = list(dict.fromkeys(one.name for one in rows))
    counts = [[one.readings for one in rows if (one.name, one.order) == (name, order)] for name in names]
    return np.array(counts[0] if len(names) == 1 else [np.mean(few) for few in counts], np.float64)


def ratio_interval(others: np.ndarray, ours: np.ndarray) -> tuple[float, float, float]:
    """The geometric mean of others/ours over runs, and its bootstrap interval."""
    logs = np.log(others / ours)
    low, high = bootstrap_interval(logs)
    return math.exp(logs.mean()), math.exp(low), math.exp(high)


def table(scored: Sequence[Score]) -> str:
    """One row an order of each set. The ratio is to the readings that Infotaxis needed.

    "To the end" is the median of `Score.settled`: a mean that starts near the source by luck counts as within
    until readings lead it away.
    """
    lines = [
        "| set | runs × seeds | readings | order | needed, median [95 %] | reached | to the end | "
        "ratio [95 %] | more / fewer |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for group in dict.fromkeys(one.group for one in scored):
        rows = [one for one in scored if one.group == group]
        ours, runs = by_run(rows, INFOTAXIS), len({one.name for one in rows})
        for order in ORDERS:
            mine, counts = [one for one in rows if one.order == order], by_run(rows, order)
            low, high = median_interval(list(counts))
            ratio, least, most = ratio_interval(counts, ours)
            against = f"{ratio:.2f} [{least:.2f}, {most:.2f}]" if order != INFOTAXIS else ""
            signs = f"{np.sum(counts > ours)} / {np.sum(counts < ours)}" if order != INFOTAXIS else ""
            lines.append(
                f"| {group} | {runs} × {len(mine) // runs} | {np.median([one.turns for one in mine]):.0f} | "
                f"{order} | {np.median(counts):.1f} [{low:.1f}, {high:.1f}] | "
                f"{np.mean([one.reached for one in mine]):.2f} | "
                f"{np.median([one.settled for one in mine]):.0f} | {against} | {signs} |"
            )
    return "\n".join(lines)


def write(scored: Sequence[Score], path: Path) -> None:
    """One line a replay."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(Score._fields)
        lines.writerows(
            [f"{cell:.4g}" if isinstance(cell, float) else cell for cell in one] for one in scored
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=real_sets.DATA)
    names = list(replay_pools.SETS)
    parser.add_argument("--sets", nargs="+", choices=names, default=names)
    parser.add_argument("--particles", type=int, default=NUM_PARTICLES)
    parser.add_argument("--seeds", type=int, default=3, help="replays of each order on each pool")
    parser.add_argument("--most", type=int, default=None, help="at most so many pools of each set")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    absent = real_sets.missing(arguments.data)
    if absent is not None:
        raise SystemExit(absent)
    preset = DEFAULT.with_particles(arguments.particles)
    pools = {
        name: list(islice(replay_pools.SETS[name](arguments.data), arguments.most)) for name in arguments.sets
    }
    scored: list[Score] = []
    # The bar goes to stderr, so that stdout is the table and nothing else.
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("replays", total=sum(map(len, pools.values())))
        for name, of_set in pools.items():
            truths = real_sets.truths(arguments.data, name)
            bench = bench_for(of_set, preset, range(arguments.seeds))
            for pool in of_set:
                scored.extend(scores(bench, pool, truths[pool.case.name].position))
                progress.advance(bar)
                # After each: what was found is kept when the rest is cut short.
                write(scored, arguments.out)
    print(table(scored))


if __name__ == "__main__":
    main()
