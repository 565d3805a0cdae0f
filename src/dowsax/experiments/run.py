"""A run: the simulated searches of one policy on one field with one filter."""

import hashlib
import json
import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from dowsax.envs import SCENARIOS, SearchProblem
from dowsax.envs.task import choose
from dowsax.evaluate.episodes import run_episodes
from dowsax.evaluate.stops import DEFAULTS, LADDER, TraceRule, trace_rule
from dowsax.experiments.fingerprint import filter_settings
from dowsax.experiments.presets import known_presets
from dowsax.experiments.problems import digest_of as problem_digest
from dowsax.experiments.problems import open_problem
from dowsax.experiments.records import Arrays, pack
from dowsax.inference import Preset
from dowsax.policies import Oracle, Policy, policy_named
from dowsax.policies.shipped import weights_path
from dowsax.policies.stored import card_of, digest_of
from dowsax.world import FOUR_MOVES, MODALITIES, benchmark_model

CONTRACTION, CREDIBLE = (TraceRule(name, DEFAULTS[name]) for name in ("contraction", "credible"))
NUM_SEEDS = 2**32
OWN = "own"
"""In place of the names of scenario and preset, where they are those of a problem."""
# Keys of evaluation differ from those of anything else with the same seed.
_KEY_DOMAIN = zlib.crc32(b"evaluation")
# Thresholds that are probabilities; the others are lengths, nats or numbers of readings.
_PROBABILITY_RULES = ("credible", "max-weight")
Progress = Callable[[int], None]
"""Called with the number of episodes that have ended since the last call."""


@dataclass(frozen=True)
class Run:
    """The searches of a policy on a field. The seed and the field decide about sources and noise."""

    policy: str
    """Its name, or the file of its weights."""
    field: str
    scenario: str = "id"
    preset: str = "default"
    """The filter."""
    episodes: int = 1000
    seed: int = 0
    particles: int | None = None
    """Default: as in the preset."""
    max_readings: int = 200
    rule: TraceRule = CREDIBLE
    """The stop rule of summaries."""
    to_the_end: bool = False
    """Take all readings, so that rules which may never stop a search can be compared."""
    detail: Literal["full", "compact"] = "full"
    """What is recorded: every column, or in half precision what stop rules need (`records`)."""
    members: tuple[str, ...] = ()
    """The policies that search in turn, as those of several training seeds. Default: `policy` alone."""
    problem: str | None = None
    """A problem of your own, `file.py:name` or a site file; see `problem_settings`."""

    def __post_init__(self) -> None:
        require_sizes(self.episodes, self.seed, self.particles)
        if self.max_readings < 2:
            raise ValueError(f"A search must have at least 2 readings; got {self.max_readings}.")

    @property
    def rules(self) -> tuple[TraceRule, ...]:
        """The rules whose stops can be computed from the record: the ladder, and the one of summaries."""
        return LADDER if self.rule in LADDER else (*LADDER, self.rule)

    @property
    def until(self) -> tuple[TraceRule, ...]:
        """An episode goes on until each of these rules has stopped it."""
        return (TraceRule("fixed", float(self.max_readings)),) if self.to_the_end else self.rules

    @property
    def filter(self) -> Preset:
        """The preset, with the number of particles of the run."""
        if self.problem is None:
            return preset_of(self.preset, self.particles)
        problem, _ = open_problem(self.problem).build()
        return problem.preset if self.particles is None else problem.preset.with_particles(self.particles)

    @property
    def folder(self) -> str:
        """Runs in the same folder share their compiled programs."""
        return f"{self.preset}/{self.scenario}/{self.field}"

    @property
    def name(self) -> str:
        return Path(self.policy).stem if weights_path(self.policy) == Path(self.policy) else self.policy

    @property
    def searchers(self) -> tuple[str, ...]:
        """The policies that search, by name or file: search k is that of number k modulo their number."""
        return self.members or (self.policy,)

    def settings(self) -> dict[str, Any]:
        """All that decides about the numbers. Trained policies count by their weights, not by their path."""
        paths = [path for name in self.searchers if (path := weights_path(name)) is not None]
        trained = {
            "weights": [digest_of(path) for path in paths],
            "steps": [card_of(path).steps for path in paths],
        }
        trained = {name: held[0] if len(held) == 1 else held for name, held in trained.items() if held}
        return {
            "policy": self.policy,
            "field": self.field,
            "scenario": self.scenario,
            "preset": self.preset,
            "particles": self.filter.config.num_particles,
            "episodes": self.episodes,
            "seed": self.seed,
            "max_readings": self.max_readings,
            "until": [str(rule) for rule in self.until],
            "detail": self.detail,
            **trained,
            **filter_settings(self.filter),
            **({} if self.problem is None else {"problem": problem_digest(open_problem(self.problem))}),
        }

    @cached_property
    def fingerprint(self) -> str:
        """Eight letters that differ between runs with different settings."""
        return hash_of(self.settings())

    def build(self) -> tuple[SearchProblem, list[Policy | Oracle]]:
        """Return the search problem and the policies that search in turn."""
        if self.problem is not None:
            problem, policy = self._build_own(self.problem, self.policy)
            assert policy is not None
            return problem, [policy]
        model = benchmark_model(self.field)
        search = SearchProblem(model, self.filter, SCENARIOS[self.scenario], max_readings=self.max_readings)
        return search, [policy_named(name)(model, FOUR_MOVES) for name in self.searchers]

    def require_problem(self) -> None:
        """Raise a ValueError where the problem cannot be searched by any policy."""
        if self.problem is not None:
            self._build_own(self.problem, None)

    def _build_own(self, reference: str, policy: str | None) -> tuple[SearchProblem, Policy | Oracle | None]:
        """Return the problem of a file with the settings of the run, and the policy of this name."""
        problem, built = open_problem(reference).build(policy)
        return replace(problem, preset=self.filter, max_readings=self.max_readings), built

    def shard_size(self, default: int) -> int:
        """Episodes computed together."""
        return default

    def compute(self, start: int, stop: int, progress: Progress, threads: int | None) -> Arrays:
        """Run the episodes from `start` to before `stop`, on a CPU as many at a time as there are threads."""
        search, policies = self.build()
        keys = episode_keys(self.seed, self.field, np.arange(start, stop))
        episodes = run_episodes(
            search, policies, keys, self.until, first=start, threads=threads, on_progress=progress
        )
        return pack(episodes, self.detail, signals=self.to_the_end)


def require_sizes(episodes: int, seed: int, particles: int | None) -> None:
    """Raise a ValueError for sizes that no run can have."""
    if episodes < 1:
        raise ValueError(f"A run must have at least 1 episode; got {episodes}.")
    if not 0 <= seed < NUM_SEEDS:
        raise ValueError(f"A seed must be a whole number from 0 to {NUM_SEEDS - 1}; got {seed}.")
    preset_of("default", particles)


def require_known(runs: Sequence[Run]) -> None:
    """Raise a ValueError in one line for an unknown name, and for policies that do not fit a problem."""
    for run in runs:
        if run.problem is None:
            choose("field", run.field, MODALITIES, str)
            choose("scenario", run.scenario, SCENARIOS, str)
            choose("preset", run.preset, known_presets(), str)
    for name in dict.fromkeys(name for run in runs for name in run.searchers):
        policy_named(name)
    _require_fit([run for run in runs if run.problem is not None])


def _require_fit(runs: Sequence[Run]) -> None:
    """Raise a ValueError in one line that says why, for each policy that cannot search a problem."""
    for run in {run.problem: run for run in runs}.values():
        run.require_problem()
    faults = []
    for run in runs:
        try:
            run.build()
        except ValueError as error:
            faults.append(str(error))
    if faults:
        raise ValueError(" ".join(dict.fromkeys(faults)))


def problem_settings(
    reference: str, rule: TraceRule | None = None, max_readings: int | None = None
) -> dict[str, Any]:
    """Return the settings of runs on a problem of your own, `file.py:name` or a site file.

    Its name is their field. By default stop rule and number of readings are those of the problem.
    """
    source = open_problem(reference)
    problem, _ = source.build()
    return {
        "field": source.name,
        "problem": reference,
        "scenario": OWN,
        "preset": OWN,
        "rule": trace_rule(problem.stop) if rule is None else rule,
        "max_readings": problem.max_readings if max_readings is None else max_readings,
    }


def preset_of(name: str, particles: int | None) -> Preset:
    """The preset of a name, with another number of particles if one is given."""
    preset = known_presets()[name]
    return preset if particles is None else preset.with_particles(particles)


def hash_of(settings: dict[str, Any]) -> str:
    """Eight letters that differ between different settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]


def episode_keys(seed: int, field: str, numbers: np.ndarray) -> Key[Array, " episodes"]:
    """The keys of numbered episodes: the same for every policy, scenario, shard size and engine."""
    base = jax.random.fold_in(jax.random.key(seed), _KEY_DOMAIN)
    base = jax.random.fold_in(base, zlib.crc32(field.encode()))
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(base, jnp.asarray(numbers, jnp.uint32))


def stop_rule(name: str, threshold: float | None = None) -> TraceRule:
    """A stop rule by name; without a threshold, with its default one."""
    rule = TraceRule(name, float(DEFAULTS.get(name, 0.0) if threshold is None else threshold))
    if not (math.isfinite(rule.threshold) and rule.threshold > 0):
        raise ValueError(f"The threshold of {name} must be above 0; got {rule.threshold:g}.")
    if name == "fixed" and not rule.threshold.is_integer():
        raise ValueError(f"The threshold of fixed must be a whole number; got {rule.threshold:g}.")
    if name in _PROBABILITY_RULES and rule.threshold >= 1:
        raise ValueError(f"The threshold of {name} must be a probability below 1; got {rule.threshold:g}.")
    return rule
