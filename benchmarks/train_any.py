"""One policy for any search problem: it learns from the planner first, then from its own searches.

    python -m benchmarks.train_any --out runs/any                       # resumable: the same command goes on
    python -m benchmarks.train_any --out runs/any --attention 0         # without attention to particles
    python -m benchmarks.train_any --out trial --tiny                   # a trial of everything on a CPU

The families are those of `drawn_problems`: gas, radiation, level and dipole sites, and the benchmark's
square. At sites the teacher is the planner `location-gain`, in the square the policy `pfrl`. An eighth of the
sites is held out. The folder has a checkpoint, `curve.csv` with a row for each update, and the policy so far.
"""

import argparse
import csv
import json
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from benchmarks import machine
from benchmarks.drawn_problems import FAMILIES, SQUARE, DrawConfig, draw_family
from dowsax.compilation import enable_cache
from dowsax.envs import REWARDS, SearchProblem
from dowsax.files import replace_file
from dowsax.learn import imitation, ppo, rollout
from dowsax.learn.checkpoint import Checkpointer, Row
from dowsax.learn.imitation import NetworkTeacher, PlannerTeacher, Teacher, taught_encoder
from dowsax.learn.in_turn import Stage, Turn, hold_out, train_in_turn
from dowsax.learn.ppo import PPOConfig
from dowsax.learn.rollout import Rollout
from dowsax.learn.stacked import StackedProblems
from dowsax.policies import Card, observation_shapes, policy_named, save
from dowsax.policies.candidate_network import CandidateNetwork, CandidateSizes
from dowsax.policies.encoders import CandidateObservation, Encoder
from dowsax.policies.location_planner import RADIUS_95, LocationPlanner
from dowsax.policies.neural import Neural
from dowsax.policies.shipped import BEST_POLICY, CANDIDATES, build_encoder
from dowsax.policies.stored import ANY_PROBLEM

NAME = "any-problem"
HELD_OUT_SHARE = 8
"""One in this many problems of each family of sites is held out."""
_LINE_INTERVAL_S = 10.0
_POLICY_INTERVAL_S = 60.0
IMITATION = PPOConfig(entropy_weight=0.0, final_entropy_weight=0.0, epochs=2, minibatches=16)
IMPROVEMENT = PPOConfig(learning_rate=3e-4, final_learning_rate=3e-5, entropy_weight=0.003, minibatches=16)


@dataclass(frozen=True)
class AnyConfig:
    """The settings of a run."""

    families: tuple[str, ...] = FAMILIES
    problems: int = 128
    """In each family of sites."""
    particles: int = 512
    searches: int = 1024
    """Of each family, in parallel."""
    rollout_length: int = 8
    imitation_rounds: int = 60
    improvement_rounds: int = 120
    width: int = 64
    attention: int = 32
    """Width of the attention to particles; 0 for none."""
    num_particles: int = 32
    """That are observed."""
    num_readings: int = 8
    num_reweighted: int = 256
    """Of the planner whose gains are observed."""
    seed: int = 0

    @property
    def encoder_sizes(self) -> dict[str, int]:
        names = ("num_particles", "num_readings", "num_reweighted")
        return {name: getattr(self, name) for name in names}


TINY = AnyConfig(
    families=("radiation",),
    problems=8,
    particles=64,
    searches=16,
    rollout_length=4,
    imitation_rounds=2,
    improvement_rounds=1,
    width=16,
    attention=8,
    num_particles=8,
    num_readings=4,
    num_reweighted=64,
)


class Family:
    """The problems of one family, and rollouts over them."""

    def __init__(self, name: str, config: AnyConfig) -> None:
        draw = DrawConfig(config.problems, config.particles, seed=config.seed)
        self.name, self.config = name, config
        self.problems = draw_family(name, draw)
        is_square = name == SQUARE
        self.number_held = 0 if is_square else len(self.problems) // HELD_OUT_SHARE
        self.stacked = None if is_square else StackedProblems.of(self.problems)
        numbers = np.arange(config.searches) % len(self.problems)
        self.held_out = numbers >= len(self.problems) - self.number_held

    def encoder_for(self, search: SearchProblem) -> Encoder:
        parts = search.model, search.actions, search.success_radius
        return build_encoder(CANDIDATES, *parts, self.config.encoder_sizes)

    def teacher_for(self, search: SearchProblem) -> Teacher:
        """Return the planner at sites, and the trained policy in the square."""
        if self.stacked is None:
            policy = policy_named(BEST_POLICY)(search.model, search.actions)
            assert isinstance(policy, Neural)
            return NetworkTeacher(policy)
        return PlannerTeacher(LocationPlanner(search.model, search.success_radius / RADIUS_95))

    def rollout(self, encoder_for: Callable[[SearchProblem], Encoder]) -> Rollout:
        """Return rollouts whose rewards are those of `right-stop-in-time`."""
        reward, config = REWARDS["right-stop-in-time"], self.config
        sizes = {"num_searches": config.searches, "rollout_length": config.rollout_length}
        if self.stacked is not None:
            return rollout.build_stacked(self.stacked, encoder_for, reward=reward, **sizes)
        stop = self.problems[0].stop
        return rollout.build(self.problems, encoder_for, stop=stop, reward=reward, **sizes)


def build_stages(config: AnyConfig) -> tuple[list[Stage], Callable[[Any], CandidateNetwork]]:
    """Return the stages, and the function from a key to an untrained network."""
    families = [Family(name, config) for name in config.families]
    network_of_key = _network_of_key(families[0], config)
    imitators, learners = {}, {}
    for family in families:
        taught = family.rollout(taught_encoder(family.encoder_for, family.teacher_for))
        total = config.imitation_rounds * len(families)
        imitators[family.name] = imitation.build(
            taught, network_of_key, IMITATION, total_steps=max(total, 1), held_out=family.held_out
        )
        alone = hold_out(family.rollout(family.encoder_for), family.held_out)
        total = config.improvement_rounds * len(families)
        learners[family.name] = ppo.build(alone, network_of_key, IMPROVEMENT, total_steps=max(total, 1))
    held = {family.name: family.number_held for family in families}
    stages = [
        Stage("imitation", imitators, IMITATION, config.imitation_rounds, held),
        Stage("improvement", learners, IMPROVEMENT, config.improvement_rounds, held),
    ]
    return stages, network_of_key


def _network_of_key(family: Family, config: AnyConfig) -> Callable[[Any], CandidateNetwork]:
    problem = family.problems[0]
    encoder = family.encoder_for(problem)
    observation = observation_shapes(encoder, problem.model, problem.actions)
    assert isinstance(observation, CandidateObservation)
    sizes = CandidateSizes(
        observation.candidates.shape[1],
        observation.numbers.shape[0],
        width=config.width,
        particle_width=config.attention,
    )
    return lambda key: CandidateNetwork.build(key, sizes)


def train(config: AnyConfig, folder: Path, command: str = "") -> Turn:
    """Train, or resume, and write the policy and its curve."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = json.loads(json.dumps(asdict(config)))
    stages, network_of_key = build_stages(config)
    writer = _Writer(folder, config, [stage.name for stage in stages], command)
    key, network_key = jax.random.split(jax.random.key(config.seed))
    turn = train_in_turn(
        stages,
        eqx.filter_jit(network_of_key)(network_key),
        key,
        checkpointer=Checkpointer(folder / "checkpoint.safetensors", settings),
        on_turn=writer.report,
    )
    writer.write(turn)
    return turn


class _Writer:
    """Tells how a run goes, and writes the policy as it is so far."""

    def __init__(self, folder: Path, config: AnyConfig, stages: list[str], command: str) -> None:
        self.folder, self.config, self.stages, self.command = folder, config, stages, command
        self.told = self.written = time.monotonic()

    def report(self, turn: Turn) -> None:
        now = time.monotonic()
        if now > self.told + _LINE_INTERVAL_S:
            self.told = now
            print(self._line(turn.rows[-1]), file=sys.stderr, flush=True)
        if now > self.written + _POLICY_INTERVAL_S:
            self.written = now
            self.write(turn)

    def _line(self, row: Row) -> str:
        words = ("divergence", "agreement", "held_agreement", "entropy", "explained")
        known = [f"{word} {row[word]:.3f}" for word in words if word in row]
        stage, family = self.stages[int(row["stage"])], self.config.families[int(row["family"])]
        ended = f"{row['stopped']} of {row['ended']} stopped, {row['false_stops']} wrong"
        return (
            f"{row['seconds']:.0f} s, {stage}, update {row['updates']}, {family}: {', '.join(known)}; {ended}"
        )

    def write(self, turn: Turn) -> None:
        names = list(dict.fromkeys(name for row in turn.rows for name in row))
        path = self.folder / "curve.csv"
        with replace_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, names, lineterminator="\n")
            table.writeheader()
            table.writerows(turn.rows)
        card = Card(
            encoder=CANDIDATES,
            encoder_sizes=self.config.encoder_sizes,
            method=NAME,
            fields=(ANY_PROBLEM,),
            command=self.command,
            settings=json.loads(json.dumps(asdict(self.config))),
            commit=machine.commit(),
            seeds=(self.config.seed,),
            device=jax.devices()[0].device_kind,
            steps=int(turn.rows[-1]["steps"]),
        )
        save(self.folder / f"{NAME}.safetensors", turn.network, card)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder of the run")
    parser.add_argument("--tiny", action="store_true", help="tiny sizes, as in the tests")
    parser.add_argument("--families", nargs="+", choices=FAMILIES)
    numbers = [name for name, value in asdict(TINY).items() if isinstance(value, int)]
    for name in numbers:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=None)
    options = parser.parse_args()
    given = {name: getattr(options, name) for name in numbers if getattr(options, name) is not None}
    if options.families:
        given["families"] = tuple(options.families)
    enable_cache()
    command = shlex.join(["python", "-m", "benchmarks.train_any", *sys.argv[1:]])
    turn = train(replace(TINY if options.tiny else AnyConfig(), **given), options.out, command)
    print(f"{len(turn.rows)} updates, {turn.rows[-1]['steps']:,} steps: {options.out / NAME}.safetensors")


if __name__ == "__main__":
    main()
