"""Many rollouts of location finding: information, calibration and time, with intervals."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dowsax.evaluate.statistics import bootstrap_interval, wilson_interval
from dowsax.evaluate.tables import markdown
from dowsax.evaluate.uniformity import uniformity
from dowsax.inference.labels import sort_sources
from dowsax.inference.resampling import systematic
from dowsax.inference.sources import ospa
from dowsax.leaderboards.location_finding import NUM_READINGS, SETTINGS, Rollout, Setting, roll_out, score
from dowsax.world.several_columns import SourceColumns

NUM_CONTRASTS = 1_000_000
_NUM_DRAWS = 99
_PROBABILITY = 0.9
_CUTOFF = 1.0
"""Of the distance of a source from its estimate."""
_HEADINGS = ("readings", "places", "lower bound", "upper bound", "90 % hold", "p of ranks", "OSPA", "ms")


@dataclass(frozen=True)
class Row:
    """One way of choosing places, in one form of the task."""

    setting: str
    places: str
    rollouts: int
    lower: float
    """[nats], mean over rollouts, and the 95 % interval of the mean."""
    lower_interval: tuple[float, float]
    upper: float
    """[nats], mean over rollouts."""
    covered90: float
    """How often the central 90 % interval of a coordinate holds the source, sources sorted by x."""
    covered90_interval: tuple[float, float]
    """95 %; coordinates of one rollout count as independent."""
    rank_p: float
    """Of the hypothesis that the ranks of the sources among draws of the belief are uniform."""
    ospa: float
    """Mean distance of the sources from their estimates, at most 1 each."""
    milliseconds: float
    """CPU time of one decision and its reading, median over rollouts."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def measure(
    rollouts: int, seed: int, num_contrasts: int = NUM_CONTRASTS, step: Callable[[], None] = lambda: None
) -> Iterator[Row]:
    """Yield a row for each form of the task and way of choosing; `step` is called after each rollout."""
    for setting in SETTINGS:
        for is_random in (False, True):
            yield _measure(setting, is_random, rollouts, seed, num_contrasts, step)


def _measure(
    setting: Setting, is_random: bool, rollouts: int, seed: int, num_contrasts: int, step: Callable[[], None]
) -> Row:
    roll = jax.jit(lambda key: roll_out(key, setting, is_random))
    bounds = jax.jit(lambda key, rollout: score(key, setting, rollout, num_contrasts))
    draw = jax.jit(lambda key, log_weights: systematic(key, log_weights, _NUM_DRAWS))
    blocks = SourceColumns(2, (0, 1), setting.num_sources).blocks
    # Compiled before the first is timed.
    jax.block_until_ready(roll(jax.random.key(seed)))
    scores, ranks, distances, seconds = [], [], [], []
    for number in range(rollouts):
        roll_key, score_key, draw_key = jax.random.split(jax.random.fold_in(jax.random.key(seed), number), 3)
        begun = time.process_time()
        rollout = jax.block_until_ready(roll(roll_key))
        seconds.append(time.process_time() - begun)
        scores.append([float(bound) for bound in bounds(score_key, rollout)])
        drawn = np.asarray(rollout.particles[draw(draw_key, rollout.log_weights)])
        ranks.append(_ranks(drawn, np.asarray(rollout.theta), blocks))
        distances.append(distance_of_means(rollout, setting.num_sources))
        step()
    lower, upper = np.array(scores).T
    all_ranks = np.array(ranks)
    tail = (1 - _PROBABILITY) / 2 * (_NUM_DRAWS + 1)
    inside = (all_ranks >= tail) & (all_ranks < _NUM_DRAWS + 1 - tail)
    tests = [uniformity(column, _NUM_DRAWS).ecdf for column in all_ranks.T]
    return Row(
        setting=setting.name,
        places="random" if is_random else "most information",
        rollouts=rollouts,
        lower=float(lower.mean()),
        lower_interval=bootstrap_interval(lower),
        upper=float(upper.mean()),
        covered90=float(inside.mean()),
        covered90_interval=wilson_interval(int(inside.sum()), inside.size),
        rank_p=min(1.0, len(tests) * min(tests)),
        ospa=float(np.mean(distances)),
        milliseconds=1e3 * float(np.median(seconds)) / NUM_READINGS,
    )


def _ranks(drawn: np.ndarray, theta: np.ndarray, blocks: Sequence[Sequence[int]]) -> np.ndarray:
    """Return how many draws (n, d) are below the truth (d,) in each coordinate, sources sorted by x."""
    return (sort_sources(drawn, blocks) < sort_sources(theta[None], blocks)[0]).sum(axis=0)


def distance_of_means(rollout: Rollout, num_sources: int) -> float:
    """Return the distance (`ospa`) of the sources from the means of the belief, whose labels agree."""
    weights = np.asarray(jnp.exp(rollout.log_weights), np.float64)
    means = weights @ np.asarray(rollout.particles, np.float64) / weights.sum()
    return ospa(means.reshape(num_sources, 2), np.asarray(rollout.theta).reshape(num_sources, 2), _CUTOFF)


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    cells = [
        (
            row.setting,
            row.places,
            f"{row.lower:.3f} [{row.lower_interval[0]:.3f}, {row.lower_interval[1]:.3f}]",
            f"{row.upper:.1f}",
            f"{row.covered90:.3f} [{row.covered90_interval[0]:.3f}, {row.covered90_interval[1]:.3f}]",
            f"{row.rank_p:.2f}",
            f"{row.ospa:.3f}",
            f"{row.milliseconds:.1f}",
        )
        for row in rows
    ]
    return "\n".join(markdown(_HEADINGS, cells))
