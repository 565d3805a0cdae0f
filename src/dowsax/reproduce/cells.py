"""Cells: the searches of one policy on one field with one filter, or one filter on many fixed walks.

A cell is computed once and kept in a small file, from which any stop rule can be asked afterwards. Suites
that want the same cell share it.
"""

import time
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from dowsax.envs import SCENARIOS, Search
from dowsax.evaluate.episodes import Progress, run_episodes
from dowsax.evaluate.stops import LADDER, TraceRule
from dowsax.evaluate.surveys import wandering_survey
from dowsax.evaluate.trace import Episode, Row
from dowsax.experiment.assemble import episode_keys
from dowsax.inference import Preset
from dowsax.inference.locate import locate
from dowsax.policies import policy_named
from dowsax.reproduce.filters import FILTERS
from dowsax.world import benchmark_model

Arrays = dict[str, np.ndarray]
WHOLE = (("att-pfrl", "temperature", "id", "paper"), ("att-pfrl", "temperature", "id", "default"))
"""Cells whose searches take all their readings, as rules that may never speak are asked of them."""
WALK_READINGS = 20
_WALKS_A_BATCH = 100
_LEAST_PARTICLES = 16


@dataclass(frozen=True)
class Sizes:
    """How much is computed of every cell."""

    episodes: int = 1000
    seed: int = 0
    particles: int | None = None
    """Another number than each filter's, for rehearsals."""
    max_readings: int = 200

    def __post_init__(self) -> None:
        if self.episodes < 1:
            raise ValueError(f"A cell has at least 1 search; got --episodes {self.episodes}.")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"A seed is a whole number from 0 to {2**32 - 1}; got {self.seed}.")
        if self.max_readings < 2:
            raise ValueError(f"A search has at least 2 readings; got {self.max_readings}.")
        if self.particles is not None and self.particles < _LEAST_PARTICLES:
            raise ValueError(f"A filter has at least {_LEAST_PARTICLES} particles; got {self.particles}.")

    def preset(self, name: str) -> Preset:
        """The filter of this name."""
        preset = FILTERS[name]
        return preset if self.particles is None else preset.with_particles(self.particles)


@dataclass(frozen=True)
class SearchCell:
    """The searches of a policy."""

    policy: str
    """As tables call it; its weights may be a file of another name."""
    field: str
    scenario: str = "id"
    filter: str = "default"

    @property
    def whole(self) -> bool:
        return (self.policy, self.field, self.scenario, self.filter) in WHOLE

    @property
    def folder(self) -> str:
        return f"{self.filter}/{self.scenario}/{self.field}"

    @property
    def name(self) -> str:
        return self.policy

    def until(self, sizes: Sizes) -> tuple[TraceRule, ...]:
        """A search goes on until all of these have spoken."""
        return (TraceRule("fixed", float(sizes.max_readings)),) if self.whole else LADDER

    def settings(self, sizes: Sizes) -> dict[str, Any]:
        """What decides about the numbers, but for weights and code."""
        until = [str(rule) for rule in self.until(sizes)]
        return (
            asdict(self)
            | {"episodes": sizes.episodes, "seed": sizes.seed, "until": until}
            | {"max_readings": sizes.max_readings}
        )

    def measure(self, sizes: Sizes, source: str, progress: Progress, threads: int | None) -> Arrays:
        """Run the searches, which are those of `dowsax evaluate` with the same seed."""
        model = benchmark_model(self.field)
        scenario = SCENARIOS[self.scenario]
        search = Search(model, sizes.preset(self.filter), scenario, max_readings=sizes.max_readings)
        policy = policy_named(source)(model, search.motion)
        keys = episode_keys(sizes.seed, self.field, np.arange(sizes.episodes))
        episodes = run_episodes(
            search, policy, keys, self.until(sizes), threads=threads, on_progress=progress
        )
        return packed(episodes, self.whole)


@dataclass(frozen=True)
class WalkCell:
    """One filter on the readings of random walks, which are the same for every filter."""

    filter: str
    field: str = "temperature"

    @property
    def folder(self) -> str:
        return f"{self.filter}/walks/{self.field}"

    name = "walks"
    policy = "random"
    """Nobody's weights."""

    def settings(self, sizes: Sizes) -> dict[str, Any]:
        return asdict(self) | {"walks": sizes.episodes, "seed": sizes.seed, "readings": WALK_READINGS}

    def measure(self, sizes: Sizes, source: str, progress: Progress, threads: int | None) -> Arrays:
        """Locate the source of every walk, in batches that are each timed when compiled."""
        del source, threads
        preset, model = sizes.preset(self.filter), benchmark_model(self.field)
        parts = []
        for start in range(0, sizes.episodes, _WALKS_A_BATCH):
            stop = min(start + _WALKS_A_BATCH, sizes.episodes)
            thetas, positions, readings = _walks(sizes.seed, self.field, np.arange(start, stop))

            seed = int(np.random.SeedSequence([sizes.seed, start]).generate_state(1)[0])

            def once(places=positions, values=readings, seed=seed):
                return locate(places, values, model=model, preset=preset, seed=seed)

            if start == 0 or stop - start < _WALKS_A_BATCH:
                once()
            begun = time.perf_counter()
            posterior = once()
            seconds = np.full(stop - start, (time.perf_counter() - begun) / (stop - start))
            low, high = posterior.interval(0.9)
            inside = ((thetas >= low) & (thetas <= high))[:, :2]
            trace = posterior.trace
            error = np.linalg.norm(trace.mean[:, :, :2] - thetas[:, None, :2], axis=2)
            parts.append(
                (error, trace.std[:, :, :2], trace.ess, trace.evaluations.sum(axis=1), inside, seconds)
            )
            progress(stop - start)
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return Walks(*(column.astype(np.float32) for column in columns[:4]), *columns[4:])._asdict()


Cell = SearchCell | WalkCell


class Walks(NamedTuple):
    """What a filter makes of n walks of k readings."""

    error: np.ndarray
    """(n, k) [m]"""
    std: np.ndarray
    """(n, k, 2) [m]"""
    ess: np.ndarray
    """(n, k), before anything is done about it."""
    evaluations: np.ndarray
    """(n,), likelihood terms."""
    inside: np.ndarray
    """(n, 2), whether the 90 % interval of x and of y holds the source."""
    seconds: np.ndarray
    """(n,)"""


def _walks(seed: int, field: str, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    model = benchmark_model(field)

    def one(key):
        source_key, walk_key = jax.random.split(key)
        theta = model.prior.sample(source_key)
        return theta, *wandering_survey(walk_key, model, theta, WALK_READINGS)

    thetas, positions, readings = jax.vmap(one)(episode_keys(seed, f"walks {field}", numbers))
    return np.asarray(thetas), np.asarray(positions), np.asarray(readings)


_ALWAYS, _WHOLE = ("spread", "error"), ("entropy", "max_weight", "ess")


def packed(episodes: list[Episode], whole: bool) -> Arrays:
    """What any stop rule needs, in half precision, where a number is off by less than one in two thousand.

    The mass is kept as what lies outside, as levels are near one; positions as moves, which are whole numbers
    but at the border.
    """
    rows = [episode.rows for episode in episodes]
    columns = {name: [getattr(row, name) for row in rows] for name in (*_ALWAYS, *(_WHOLE if whole else ()))}
    columns["outside"] = [1 - row.mass for row in rows]
    columns["moves"] = [np.diff(row.position, axis=0, prepend=row.position[:1]) for row in rows]
    halves = {name: np.concatenate(parts).astype(np.float16) for name, parts in columns.items()}
    return halves | {
        "lengths": np.array([len(row.error) for row in rows], np.int32),
        "starts": np.stack([row.position[0] for row in rows]),
        "theta": np.stack([episode.theta for episode in episodes]),
        "final_place": np.stack([episode.final_theta[:2] for episode in episodes]),
        "seconds": np.array([episode.seconds for episode in episodes], np.float32),
    }


def unpacked(arrays: Arrays) -> list[Episode]:
    """The searches; not a number where a column was not kept."""
    ends = np.cumsum(arrays["lengths"])[:-1]
    columns = {
        name: np.split(arrays[name].astype(np.float32), ends) for name in (*_ALWAYS, "outside", "moves")
    }
    columns |= {name: np.split(arrays[name].astype(np.float32), ends) for name in _WHOLE if name in arrays}
    episodes = []
    for at, (theta, place, start, seconds) in enumerate(
        zip(arrays["theta"], arrays["final_place"], arrays["starts"], arrays["seconds"], strict=True)
    ):
        own: dict[str, Any] = {name: parts[at] for name, parts in columns.items()}
        final_theta = theta.copy()
        final_theta[:2] = place
        moves, number = own.pop("moves"), len(own["error"])
        missing: Any = np.full(number, np.nan, np.float32)
        path: Any = np.cumsum(np.linalg.norm(moves, axis=1))
        row = Row(
            position=start[None, :] + np.cumsum(moves, axis=0),
            reading=missing,
            path_length=path,
            mean=np.nan * moves,
            error=own["error"],
            spread=own["spread"],
            mass=1 - own["outside"],
            entropy=own.get("entropy", missing),
            max_weight=own.get("max_weight", missing),
            ess=own.get("ess", missing),
        )
        episodes.append(Episode(theta, final_theta, row, float(seconds)))
    return episodes
