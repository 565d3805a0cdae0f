r"""The filter of a model whose number of sources is unknown: one filter a number, in one belief.

The particles of each number are a stratum of their own, and never change their number. Each stratum is
filtered by itself. Its evidence $p(z_{1:k} \mid K)$ gives the weight of the stratum in the belief,
$P(K \mid z_{1:k})$: no number dies out by chance, and none has to be reached by moves.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dowsax.inference.belief import Belief, recall
from dowsax.inference.filter import Filter, FilterInfo, Stage, while_degenerate
from dowsax.inference.ranks import add_rank, no_ranks
from dowsax.inference.weights import log_total, normalise
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model, source_columns


class Stratum(NamedTuple):
    """The filter of one number of sources."""

    number: int
    filter: Filter
    """It keeps no ranks."""
    columns: tuple[int, ...]
    """The columns of the whole Θ that are its Θ."""


class StrataStage(NamedTuple):
    """A belief that has assimilated a part of the new reading, in all strata."""

    stages: tuple[Stage, ...]
    is_degenerate: Bool[Array, ""]
    ranks: Float[Array, " horizon"] | None
    log_evidence: Scalar
    """Before the new reading."""

    @property
    def belief(self) -> Belief:
        """That of the first stratum: all have the same history."""
        return self.stages[0].belief


@dataclass(frozen=True)
class StratifiedFilter:
    """The filter of each number of sources, as one filter."""

    model: Model
    """Of all numbers."""
    strata: tuple[Stratum, ...]
    horizon: int
    keep_ranks: bool

    @classmethod
    def build(
        cls, model: Model, filters: Sequence[Filter], horizon: int, keep_ranks: bool
    ) -> "StratifiedFilter":
        """Build it for a model and the filters of `Model.by_number`."""
        columns = source_columns(model.prior)
        assert columns is not None
        names = [parameter.name for parameter in model.prior.parameters]
        strata = []
        for number, each, one in zip(columns.numbers, model.by_number, filters, strict=True):
            own = [parameter.name for parameter in each.prior.parameters]
            # A source that is the only one has no number in its names.
            at = tuple(names.index(name if name in names else f"{name}1") for name in own)
            strata.append(Stratum(number, one, at))
        return cls(model, tuple(strata), horizon, keep_ranks)

    def as_filter(self) -> Filter:
        return Filter(self.init, self.step, self.begin, self.refresh, self.finish)

    def init(self, key: Key) -> Belief:
        """Draw the particles of a belief that has no readings yet: equally many of each number."""
        keys = jax.random.split(key, len(self.strata))
        belief = self._merge([one.filter.init(each) for one, each in zip(self.strata, keys, strict=True)])
        return replace(belief, ranks=no_ranks(self.horizon) if self.keep_ranks else None)

    def step(self, key: Key, belief: Belief, station: Station, reading: Scalar) -> tuple[Belief, FilterInfo]:
        """Assimilate one reading in every stratum."""
        return self.finish(while_degenerate(self.refresh, self.begin(key, belief, station, reading)))

    def begin(self, key: Key, belief: Belief, station: Station, reading: Scalar) -> StrataStage:
        """Run `step` up to its loop."""
        recalled = recall(self.model, belief.history, station)
        ranks = add_rank(key, self.model, belief, recalled, reading).ranks
        parts = zip(self.strata, jax.random.split(key, len(self.strata)), self._split(belief), strict=True)
        stages = tuple(one.filter.begin(each, part, station, reading) for one, each, part in parts)
        return _stage(stages, ranks, belief.log_evidence)

    def refresh(self, stage: StrataStage) -> StrataStage:
        """Run the loop of `step` once, in the strata that are degenerate."""
        stages = tuple(
            jax.lax.cond(each.is_degenerate, one.filter.refresh, lambda same: same, each)
            for one, each in zip(self.strata, stage.stages, strict=True)
        )
        return _stage(stages, stage.ranks, stage.log_evidence)

    def finish(self, stage: StrataStage) -> tuple[Belief, FilterInfo]:
        """Return the belief after the reading, each stratum with the weight of its evidence."""
        parts = zip(self.strata, stage.stages, strict=True)
        beliefs, infos = zip(*(one.filter.finish(each) for one, each in parts), strict=True)
        belief = replace(self._merge(beliefs), ranks=stage.ranks)
        all_infos: FilterInfo = jax.tree.map(lambda *leaves: jnp.stack(leaves), *infos)
        info = FilterInfo(
            ess=jnp.sum(all_infos.ess),
            resampled=jnp.any(all_infos.resampled),
            stages=jnp.max(all_infos.stages),
            acceptance_rate=jnp.mean(all_infos.acceptance_rate),
            evaluations=jnp.sum(all_infos.evaluations),
            unique_ancestors=jnp.sum(all_infos.unique_ancestors),
            log_evidence=belief.log_evidence - stage.log_evidence,
            explained=jnp.any(all_infos.explained),
            recorded=jnp.all(all_infos.recorded),
        )
        return belief, info

    def _split(self, belief: Belief) -> list[Belief]:
        """Return the strata of a belief, each in its own Θ and with its own evidence."""
        found = []
        for number, one in enumerate(self.strata):
            rows = _rows(belief, number, len(self.strata))
            log_weights = belief.log_weights[rows]
            log_share = log_total(log_weights) + math.log(len(self.strata))
            model = self.model.by_number[number]
            found.append(
                replace(
                    belief,
                    particles=belief.particles[rows][:, np.array(one.columns)],
                    log_weights=normalise(log_weights),
                    log_likelihoods=belief.log_likelihoods[rows],
                    starts=belief.starts[rows],
                    log_evidence=belief.log_evidence + log_share,
                    step_size=belief.step_size[number],
                    ranks=None,
                    position_columns=model.position_columns,
                    other_columns=model.other_columns,
                    number_column=None,
                )
            )
        return found

    def _merge(self, beliefs: Sequence[Belief]) -> Belief:
        """Return one belief of all strata; numbers are equally probable before the first reading.

        The columns of sources that are not there are those of a draw from the prior.
        """
        evidences = jnp.stack([one.log_evidence for one in beliefs])
        columns, filling = source_columns(self.model.prior), self.model.prior.sample(jax.random.key(0))
        assert columns is not None
        particles = []
        for one, belief in zip(self.strata, beliefs, strict=True):
            whole = jnp.broadcast_to(filling, (belief.particles.shape[0], filling.shape[0]))
            whole = whole.at[:, np.array(one.columns)].set(belief.particles)
            particles.append(whole.at[:, columns.number_column].set(one.number))
        shares = zip(beliefs, normalise(evidences), strict=True)
        return replace(
            beliefs[0],
            particles=jnp.concatenate(particles),
            log_weights=jnp.concatenate([one.log_weights + share for one, share in shares]),
            log_likelihoods=jnp.concatenate([one.log_likelihoods for one in beliefs]),
            starts=jnp.concatenate([one.starts for one in beliefs]),
            log_evidence=log_total(evidences) - math.log(len(beliefs)),
            step_size=jnp.stack([one.step_size for one in beliefs]),
            position_columns=self.model.position_columns,
            other_columns=self.model.other_columns,
            number_column=columns.number_column,
        )


def _rows(belief: Belief, number: int, strata: int) -> slice:
    """Return the particles of a stratum: equally many each."""
    size = belief.particles.shape[0] // strata
    return slice(number * size, (number + 1) * size)


def _stage(
    stages: tuple[Stage, ...], ranks: Float[Array, " horizon"] | None, log_evidence: Scalar
) -> StrataStage:
    is_degenerate = jnp.any(jnp.stack([one.is_degenerate for one in stages]))
    return StrataStage(stages, is_degenerate, ranks, log_evidence)
