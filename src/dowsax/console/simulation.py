"""Simulated missions: a benchmark site, a sampled source, and its readings."""

import math
import zlib
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.envs.scenarios import SCENARIOS
from dowsax.inference.belief import History, recall
from dowsax.mission.advisor import Advisor
from dowsax.mission.plan import Plan
from dowsax.survey.reading import Reading
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import MODALITIES, Model, UniformBox, put_position
from dowsax.world.motion import AREA_SIDE_M, START_SIDE_M

MAX_READINGS = 200
DEFAULT_PARTICLES = 2048


def scenario_names() -> tuple[str, ...]:
    """Return the scenarios in which the belief starts at the prior, as an advisor's does."""
    return tuple(name for name, scenario in SCENARIOS.items() if scenario.initial is None)


def site_text(field: str, scenario: str, seed: int, particles: int = DEFAULT_PARTICLES) -> str:
    """Return the benchmark's square as a site file, with a random start.

    It states everything about the benchmark's model, so that any reader of it builds the same model.
    """
    if field not in MODALITIES:
        raise ValueError(f"Unknown field {field!r}; known are {', '.join(MODALITIES)}.")
    if scenario not in scenario_names():
        raise ValueError(f"Unknown scenario {scenario!r}; known are {', '.join(scenario_names())}.")
    x, y = (round(float(share) * START_SIDE_M, 3) for share in np.random.default_rng(seed).random(2))
    jumps = SCENARIOS[scenario].jump_after is not None
    inner = UniformBox()
    return f"""\
name = "Simulated {field}"

[area]
low = [0.0, 0.0]
high = [{AREA_SIDE_M}, {AREA_SIDE_M}]
source_low = {list(inner.low)}
source_high = {list(inner.high)}

[field]
kind = "{field}"

[start]
position = [{x}, {y}]

[step]
length = 1.0
directions = 4

[budget]
readings = {MAX_READINGS}

[search]
particles = {particles}
radius = 1.0
may_jump = {str(jumps).lower()}
"""


@dataclass(frozen=True)
class Truth:
    """The true source, which no advisor may see."""

    theta: tuple[float, ...]
    after: tuple[float, ...]
    """Θ after the source has moved; the same where it does not."""
    moves_after: int | None
    """The reading after which it moves."""
    seed: int

    @classmethod
    def sample(cls, plan: Plan, scenario: str, seed: int) -> "Truth":
        chosen = SCENARIOS[scenario]
        source_key, place_key = jax.random.split(_key(seed, "source"))
        model, prior = plan.model, plan.model.prior
        theta = chosen.sources(prior, source_key)
        after = theta
        if chosen.jump_after is not None:
            after = put_position(theta, model.position(prior.sample(place_key)), model.position_columns)
        before, then = (tuple(map(float, np.asarray(item))) for item in (theta, after))
        return cls(before, then, chosen.jump_after, seed)

    def at(self, number: int) -> tuple[float, ...]:
        """Return Θ at the reading of this number, counted from 1."""
        return self.after if self.moves_after is not None and number > self.moves_after else self.theta

    def read(self, advisor: Advisor, position: tuple[float, float]) -> Reading:
        """Simulate the next reading, at a position; deterministic."""
        plan, number = advisor.plan, len(advisor.readings) + 1
        blank = plan.stations.complete(Reading(position, 0.0), ())
        station = plan.stations.station(blank, ())
        key = jax.random.fold_in(_key(self.seed, "noise"), number)
        theta = jnp.asarray(self.at(number), jnp.float32)
        value = float(_read(plan.model, key, theta, station, advisor.belief.history))
        if not math.isfinite(value):
            raise ValueError("The simulated sensor gave no number: choose another seed.")
        return Reading(position, value)

    def to_json(self) -> dict[str, Any]:
        return {
            "theta": list(self.theta),
            "after": list(self.after),
            "moves_after": self.moves_after,
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Truth":
        """Invert `to_json`."""
        return cls(tuple(body["theta"]), tuple(body["after"]), body["moves_after"], body["seed"])


def _key(seed: int, use: str) -> Key:
    """Return a key that differs from those of the advisor with the same seed."""
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(use.encode()))


@eqx.filter_jit
def _read(model: Model, key: Key, theta: Theta, station: Station, history: History) -> Scalar:
    return model.sample_reading(key, theta, recall(model, history, station))
