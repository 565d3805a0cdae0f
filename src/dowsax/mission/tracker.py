"""The filter of a mission: `init` and `step` of a belief, each compiled once.

The belief is a function of the model, the seed and the readings in order. The history has room for a power of
two of readings; when it is full its size is doubled, which compiles the filter again.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference import Belief, FilterInfo, Preset, summaries, with_horizon
from dowsax.inference.filter import initial_info
from dowsax.inference.fit import model_fit
from dowsax.inference.live_redundancy import live_redundancy
from dowsax.inference.weights import normalise
from dowsax.inference.widening import Widening
from dowsax.programs import stored_jit
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Jump, Model

INITIAL_CAPACITY = 16_384
"""Readings that fit into the history at first: more than in any mission, as growing takes a minute.

It costs about a megabyte of memory and no time: loops end at the newest reading.
"""
REGION_PROBABILITY = 0.95
"""Of the reported intervals and regions."""


class Digest(NamedTuple):
    """A summary of the belief after a reading, as it is reported: widened where readings err together."""

    explained: Bool[Array, ""]
    """Whether the model can give such a reading."""
    mean: Theta
    std: Theta
    low: Theta
    high: Theta
    """The interval that holds 95 % of each parameter."""
    radius: Scalar
    """[m], of the disc around the mean position that holds 95 %."""
    mass: Scalar
    """The probability that the source is within the site's radius of the mean."""
    number: Scalar
    """Of sources: the most probable one."""
    number_probability: Scalar
    """Its probability."""
    more_probability: Scalar
    """That there are more."""
    fit: Scalar
    """Whether the model explains the readings: see `inference.fit`."""
    redundancy: Scalar
    """How many readings count as one, as they err together."""
    changed: Scalar
    """The probability of a change after the known regime."""
    since: Scalar
    """The reading, counted from 0, at which the newest regime most probably began."""
    ess: Scalar
    stages: Int[Array, ""]
    acceptance_rate: Scalar
    evaluations: Scalar
    """The work of the filter, as in `inference.FilterInfo`."""


@dataclass(frozen=True)
class Tracker:
    """A filter, and the summary of its beliefs."""

    model: Model
    preset: Preset
    jump: Jump | None = None
    radius: float = 1.0
    """[m], how near to the mean the source must be to count as found."""

    @cached_property
    def widening(self) -> Widening:
        return Widening.of(self.model.prior)

    def init(self, key: Key, template: Station) -> Belief:
        """Return the belief before the first reading."""
        return init_belief(self.model, self.preset, key, template, self.jump)

    def step(
        self, key: Key, belief: Belief, station: Station, value: Scalar, regime: int = 0
    ) -> tuple[Belief, np.ndarray]:
        """Return the belief after one more reading, and its packed digest."""
        at, radius = np.asarray(regime, np.int32), np.asarray(self.radius, np.float32)
        rules = self.model, self.preset, self.jump, self.widening
        belief, row = _step(*rules, key, grow(belief), station, value, radius, at)
        # A copy, as a view would keep the whole device buffer alive.
        return belief, np.array(row)

    def widen(self, belief: Belief, redundancy: float) -> Belief:
        """Return the belief that is reported where `redundancy` readings count as one."""
        return belief if redundancy <= 1 else _widen(self.widening, belief, jnp.float32(redundancy))

    def describe(self, belief: Belief) -> np.ndarray:
        """Return the packed digest of a belief before its first reading."""
        return np.array(_describe(belief, np.asarray(self.radius, np.float32)))


def init_belief(
    model: Model, preset: Preset, key: Key, template: Station, jump: Jump | None = None
) -> Belief:
    """Return the belief of a filter before the first reading; `template` is an example of a station."""
    return _init(model, preset.with_ranks().with_horizon(INITIAL_CAPACITY), key, template, jump)


@stored_jit
def _init(model: Model, preset: Preset, key: Key, template: Station, jump: Jump | None) -> Belief:
    return preset.build(model, template=template, transition=jump).init(key)


@stored_jit
def _step(
    model: Model,
    preset: Preset,
    jump: Jump | None,
    widening: Widening,
    key: Key,
    belief: Belief,
    station,
    value,
    radius,
    regime,
):
    # The first of two keys, so that the log of an earlier version gives the belief that it gave then.
    step_key, _ = jax.random.split(jax.random.fold_in(key, belief.history.size))
    filter_ = preset.build(model, template=station, transition=jump)
    belief, info = filter_.step(step_key, belief, station, value)
    fit, redundancy = model_fit(model, belief), live_redundancy(model, belief)
    return belief, _row(widening(belief, redundancy), info, fit, redundancy, radius, regime)


@stored_jit
def _widen(widening: Widening, belief: Belief, redundancy: Scalar) -> Belief:
    return widening(belief, redundancy)


@stored_jit
def _describe(belief: Belief, radius):
    info, one = initial_info(belief, jnp.zeros_like(belief.log_weights)), jnp.ones(())
    return _row(belief, info, one, one, radius, 0)


def _row(
    belief: Belief, info: FilterInfo, fit: Scalar, redundancy: Scalar, radius, regime
) -> Float[Array, " numbers"]:
    """Pack a digest into one array: copying many small ones takes longer than computing them."""
    changed, since = _change(belief, regime)
    low, high = summaries.interval(belief, REGION_PROBABILITY)
    number, chances = summaries.likeliest_number(belief), summaries.number_probabilities(belief)
    digest = Digest(
        explained=info.explained,
        mean=summaries.mean(belief),
        std=summaries.std(belief),
        low=low,
        high=high,
        radius=summaries.credible_radius(belief, REGION_PROBABILITY),
        mass=summaries.mass_within(belief, radius),
        number=number,
        number_probability=chances[number.astype(jnp.int32)],
        more_probability=jnp.sum(jnp.where(jnp.arange(chances.shape[0]) > number, chances, 0.0)),
        fit=fit,
        redundancy=redundancy,
        changed=changed,
        since=since,
        ess=info.ess,
        stages=info.stages,
        acceptance_rate=info.acceptance_rate,
        evaluations=info.evaluations,
    )
    return jnp.concatenate([jnp.ravel(part).astype(jnp.float32) for part in digest])


def unpack_digest(row: np.ndarray) -> Digest:
    """Unpack the digest that `Tracker.step` returned."""
    vectors = ("mean", "std", "low", "high")
    columns = (len(row) - (len(Digest._fields) - len(vectors))) // len(vectors)
    parts, at = {}, 0
    for name in Digest._fields:
        size = columns if name in vectors else 1
        parts[name] = row[at : at + size] if name in vectors else row[at]
        at += size
    parts |= {"explained": np.bool_(parts["explained"] > 0), "stages": np.int32(parts["stages"])}
    return Digest(**parts)


def _change(belief: Belief, regime) -> tuple[Scalar, Scalar]:
    """Return the mass of the particles with a newer regime than the known one, and its median start."""
    newer = belief.starts > regime
    changed = jnp.sum(jnp.exp(normalise(belief.log_weights)), where=newer)
    starts: Float[Array, " n"] = belief.starts.astype(jnp.float32)
    since = summaries.weighted_quantile(starts, jnp.where(newer, belief.log_weights, -jnp.inf), 0.5)
    return changed, since


def grow(belief: Belief) -> Belief:
    """Return the same belief with room for one more reading: double the capacity when it is full."""
    capacity = belief.history.readings.shape[0]
    return with_horizon(belief, 2 * capacity) if int(belief.history.size) == capacity else belief
