"""The belief of a mission, reading by reading: compiled once, the same whenever the same readings come.

The belief is a function of the model, the seed and the readings in order. The history has room for a power of
two of readings and grows when it is full, which compiles the filter again.
"""

from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference import Belief, FilterInfo, Preset, summaries, with_horizon
from dowsax.inference.filter import initial_info
from dowsax.inference.fit import quick_fit
from dowsax.inference.weights import normalise
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Jump, Model

ROOM = 16_384
"""Readings there is room for at first: more than are taken in a mission, as growing takes a minute.

Only memory depends on it, about a megabyte: loops end at the newest reading.
"""
CHECKED = 64
"""Readings, at most, by which it is judged whether the model fits, so that a long mission stays fast."""
PROBABILITY = 0.95
"""Of the intervals and regions that are told."""


class Digest(NamedTuple):
    """What the belief says after a reading."""

    explained: Bool[Array, ""]
    """Whether the model can give such a reading at all."""
    mean: Theta
    std: Theta
    low: Theta
    high: Theta
    """The interval that holds 95 % of each parameter."""
    radius: Scalar
    """[m], of the disc around the mean position that holds 95 %."""
    mass: Scalar
    """The probability that the source is as near to the mean as is wanted."""
    fit: Scalar
    """The predictive check of `inference.fit`; 1 where the source may jump, for which there is none."""
    changed: Scalar
    """The probability of a change since the regime that was known of."""
    since: Scalar
    """The reading, counted from 0, at which the newest regime most probably began."""
    ess: Scalar
    stages: Int[Array, ""]
    acceptance_rate: Scalar
    evaluations: Scalar
    """What the filter had to do, as in `inference.FilterInfo`."""


@dataclass(frozen=True)
class Tracker:
    """A filter and what is asked of its beliefs."""

    model: Model
    preset: Preset
    jump: Jump | None = None
    radius: float = 1.0
    """[m], how near the source must be to the mean to count as found."""

    def begin(self, key: Key, template: Station) -> Belief:
        """The belief before the first reading."""
        return begin(self.model, self.preset, key, template, self.jump)

    def take(
        self, key: Key, belief: Belief, station: Station, value: Scalar, regime: int = 0
    ) -> tuple[Belief, np.ndarray]:
        """The belief after one more reading, and what it says: see `digest_of`."""
        at, radius = np.asarray(regime, np.int32), np.asarray(self.radius, np.float32)
        belief, row = _take(
            self.model, self.preset, self.jump, key, grown(belief), station, value, radius, at
        )
        # A copy: what is kept for the whole mission should not hold on to more.
        return belief, np.array(row)

    def describe(self, belief: Belief) -> np.ndarray:
        """What a belief says to which no reading has led: see `digest_of`."""
        return np.array(_describe(belief, np.asarray(self.radius, np.float32)))


def begin(model: Model, preset: Preset, key: Key, template: Station, jump: Jump | None = None) -> Belief:
    """The belief of a filter before the first reading; `template` says what a station holds."""
    return _begin(model, preset.with_horizon(ROOM), key, template, jump)


@eqx.filter_jit
def _begin(model: Model, preset: Preset, key: Key, template: Station, jump: Jump | None) -> Belief:
    return preset.build(model, template=template, transition=jump).init(key)


@eqx.filter_jit
def _take(
    model: Model, preset: Preset, jump: Jump | None, key: Key, belief: Belief, station, value, radius, regime
):
    step_key, fit_key = jax.random.split(jax.random.fold_in(key, belief.history.size))
    filter_ = preset.build(model, template=station, transition=jump)
    belief, info = filter_.step(step_key, belief, station, value)
    fit = quick_fit(fit_key, model, belief, CHECKED) if jump is None else jnp.ones(())
    return belief, _row(belief, info, fit, radius, regime)


@eqx.filter_jit
def _describe(belief: Belief, radius):
    return _row(belief, initial_info(belief, jnp.zeros_like(belief.log_weights)), jnp.ones(()), radius, 0)


def _row(belief: Belief, info: FilterInfo, fit: Scalar, radius, regime) -> Float[Array, " numbers"]:
    """A digest as one array: many small ones take longer to bring over than all this to compute."""
    changed, since = _change(belief, regime)
    low, high = summaries.interval(belief, PROBABILITY)
    digest = Digest(
        explained=info.explained,
        mean=summaries.mean(belief),
        std=summaries.std(belief),
        low=low,
        high=high,
        radius=summaries.credible_radius(belief, PROBABILITY),
        mass=summaries.mass_within(belief, radius),
        fit=fit,
        changed=changed,
        since=since,
        ess=info.ess,
        stages=info.stages,
        acceptance_rate=info.acceptance_rate,
        evaluations=info.evaluations,
    )
    return jnp.concatenate([jnp.ravel(part).astype(jnp.float32) for part in digest])


def digest_of(row: np.ndarray) -> Digest:
    """What one row of numbers says, as `Tracker.take` gives it."""
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
    """The mass of the particles whose regime began after the known one, and the median of when."""
    newer = belief.starts > regime
    changed = jnp.sum(jnp.exp(normalise(belief.log_weights)), where=newer)
    starts: Float[Array, " n"] = belief.starts.astype(jnp.float32)
    since = summaries.weighted_quantile(starts, jnp.where(newer, belief.log_weights, -jnp.inf), 0.5)
    return changed, since


def grown(belief: Belief) -> Belief:
    """The same belief with room for one more reading: twice the room when it is full."""
    room = belief.history.readings.shape[0]
    return with_horizon(belief, 2 * room) if int(belief.history.size) == room else belief
