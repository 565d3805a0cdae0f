"""The filter: reweight, temper, resample, smooth, rejuvenate. Assembly only; each part has its own file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference.attention import STANDARDISE, attend, smooth, uniform_mixing
from dowsax.inference.belief import Belief, History, empty_history, is_full, record
from dowsax.inference.budget import KLDBudget, mask_to
from dowsax.inference.config import FilterConfig
from dowsax.inference.features import Projection
from dowsax.inference.jumps import no_regimes
from dowsax.inference.moves import move
from dowsax.inference.neighbours import NeighbourSearch, exact_neighbours
from dowsax.inference.prediction import Importance, predict
from dowsax.inference.proposals import DifferentialEvolution, Proposal
from dowsax.inference.replay import newest_terms
from dowsax.inference.resampling import Resampler, systematic
from dowsax.inference.tempering import next_exponent
from dowsax.inference.weights import alive, ess, log_total, normalise
from dowsax.types import Key, Scalar, Station
from dowsax.world import Coordinates, Jump, Model, Prior, Transition

STANDARD = FilterConfig()
EVOLUTION = (DifferentialEvolution(),)


class FilterInfo(NamedTuple):
    """What happened in one step; nothing here is needed by the next one."""

    ess: Scalar
    """After reweighting by the whole reading, before anything was done about it."""
    resampled: Bool[Array, ""]
    stages: Int[Array, ""]
    """Parts in which the reading was taken in."""
    acceptance_rate: Scalar
    """Of the last moves; 0 when there were none."""
    evaluations: Scalar
    """Likelihood terms evaluated."""
    unique_ancestors: Int[Array, ""]
    """Particles that had offspring at the last resampling; all of them when there was none."""
    log_evidence: Scalar
    r"""$\log p(z_k \mid z_{1:k-1})$."""
    explained: Bool[Array, ""]
    """False when no particle explains the reading: the belief then says nothing."""
    recorded: Bool[Array, ""]
    """False when the history was full: the reading is not in the belief, which is as it was."""


class Stage(NamedTuple):
    """A belief that has taken in the part `exponent` of the newest reading."""

    key: Key
    """Of what is still to be done about this reading."""
    belief: Belief
    newest: Float[Array, " n"]
    exponent: Scalar
    degenerate: Bool[Array, ""]
    """The particles have to be refreshed before anything else."""
    info: FilterInfo


class Filter(NamedTuple):
    """A filter is a pair of pure functions.

    `step` is `begin`, then `refresh` as long as the stage is degenerate, then `finish`. Most readings need no
    refreshing and a few need many: who steps a batch may refresh those alone that have to.
    """

    init: Callable[[Key], Belief]
    step: Callable[[Key, Belief, Station, Scalar], tuple[Belief, FilterInfo]]
    begin: Callable[[Key, Belief, Station, Scalar], Stage]
    refresh: Callable[[Stage], Stage]
    finish: Callable[[Stage], tuple[Belief, FilterInfo]]


@dataclass(frozen=True)
class Parts:
    """The choices a filter is assembled from; see `build`."""

    model: Model
    config: FilterConfig
    resample: Resampler
    proposals: tuple[Proposal, ...]
    coordinates: Coordinates
    search: NeighbourSearch
    project: Projection
    transition: Transition | Jump | None
    importance: Importance | None
    budget: KLDBudget | None

    @property
    def jump(self) -> Jump | None:
        """How the source jumps, where it does."""
        return self.transition if isinstance(self.transition, Jump) else None

    def reweighted(self, stage: Stage) -> Stage:
        """Take in the next part of the newest reading, and say whether the weights have degenerated."""
        belief = stage.belief
        num_active = jnp.sum(belief.log_weights > -jnp.inf)
        wanted = self.config.ess_ratio * num_active.astype(jnp.float32)
        exponent = jnp.ones(())
        if self.config.temper:
            exponent = next_exponent(belief.log_weights, stage.newest, stage.exponent, wanted)
        log_weights = belief.log_weights + (exponent - stage.exponent) * stage.newest
        log_weights = jnp.where(jnp.isnan(log_weights), -jnp.inf, log_weights)
        increment = log_total(log_weights)
        log_weights = normalise(log_weights)
        # A reading taken in by parts has degenerated the weights by construction, up to rounding.
        degenerate = ((ess(log_weights) < wanted) | (exponent < 1)) & alive(log_weights)
        info = stage.info._replace(
            stages=stage.info.stages + 1, log_evidence=stage.info.log_evidence + increment
        )
        belief = eqx.tree_at(lambda at: at.log_weights, belief, log_weights)
        stage = Stage(stage.key, belief, stage.newest, exponent, degenerate, info)
        if not self.config.smooth_first:
            stage = jax.lax.cond(degenerate, lambda: stage, lambda: self.smoothed(stage))
        return stage

    def resampled(self, key: Key, stage: Stage) -> Stage:
        """Copy particles in proportion to their weights; fewer of them if the budget says so."""
        if self.config.smooth_first:
            stage = self.smoothed(stage)
        belief, num_particles = stage.belief, self.config.num_particles
        num_active = jnp.asarray(num_particles, jnp.int32) if self.budget is None else self.budget(belief)
        ancestors = self.resample(key, belief.log_weights, num_particles, num_active)
        if self.budget is not None:
            # Places outside the budget mirror those inside, so that moves learn from the belief alone.
            ancestors = ancestors[jnp.arange(num_particles) % num_active]
        unique = jnp.sum(jnp.zeros(num_particles, jnp.int32).at[ancestors].set(1))
        belief = replace(belief.select(ancestors), log_weights=mask_to(num_particles, num_active))
        info = stage.info._replace(resampled=jnp.ones((), bool), unique_ancestors=unique)
        return stage._replace(belief=belief, newest=stage.newest[ancestors], info=info)

    def smoothed(self, stage: Stage) -> Stage:
        """Pass weight along the attention, or mix it with the uniform; as it is when neither is asked for."""
        belief, config = stage.belief, self.config
        log_weights = belief.log_weights
        if config.attention is not None:
            attention = attend(
                belief.particles, stage.newest, log_weights, config.attention, self.search, self.project
            )
            log_weights = smooth(log_weights, attention, config.attention.epsilon)
        if config.mixing > 0:
            log_weights = uniform_mixing(log_weights, config.mixing)
        return stage._replace(belief=eqx.tree_at(lambda at: at.log_weights, belief, log_weights))

    def moved(self, key: Key, stage: Stage) -> Stage:
        """Metropolis–Hastings moves under the posterior as far as it has been taken in."""
        belief, newest, done = move(
            key,
            self.model,
            self.coordinates,
            self.config,
            self.proposals,
            stage.belief,
            stage.newest,
            stage.exponent,
            jump=self.jump,
            spent=stage.info.evaluations,
        )
        info = stage.info._replace(
            acceptance_rate=done.acceptance_rate, evaluations=stage.info.evaluations + done.evaluations
        )
        return stage._replace(belief=belief, newest=newest, info=info)

    def begin(self, key: Key, belief: Belief, station: Station, reading: Scalar) -> Stage:
        """Record a reading and take in as much of it as the particles bear.

        A full history is refused: where it can be seen, by an error, and in a compiled program by leaving the
        belief as it is.
        """
        _require_room(belief.history)
        predict_key, stage_key = jax.random.split(key)
        recorded = ~is_full(belief.history)
        if self.transition is not None:
            predicted = predict(
                predict_key, self.model, belief, self.transition, self.importance, station, reading
            )
            belief = jax.tree.map(lambda new, old: jnp.where(recorded, new, old), predicted, belief)
        newest = newest_terms(self.model, belief.particles.T, station, reading)
        newest = jnp.where(recorded, newest, 0.0)
        belief = replace(belief, history=record(belief.history, station, reading))
        nothing = jnp.zeros((), bool)
        info = nothing_yet(belief, newest)._replace(recorded=recorded)
        stage = self.reweighted(Stage(stage_key, belief, newest, jnp.zeros(()), nothing, info))
        return stage._replace(degenerate=stage.degenerate & recorded)

    def refresh(self, stage: Stage) -> Stage:
        """Lines 8 to 12 of Algorithm 1 for a degenerate stage, and the next part of the reading if any."""
        key, stage_key = jax.random.split(stage.key)
        resample_key, move_key = jax.random.split(stage_key)
        stage = self.resampled(resample_key, stage._replace(key=key))
        if not self.config.smooth_first:
            stage = self.smoothed(stage)
        if self.config.num_moves > 0:
            stage = self.moved(move_key, stage)
        refreshed = stage._replace(degenerate=jnp.zeros((), bool))
        more = (stage.exponent < 1) & (stage.info.stages < self.config.max_stages)
        return jax.lax.cond(more, lambda: self.reweighted(refreshed), lambda: refreshed)

    def finish(self, stage: Stage) -> tuple[Belief, FilterInfo]:
        """The belief after the reading."""
        explained = (stage.exponent >= 1) & alive(stage.belief.log_weights)
        belief = eqx.tree_at(
            lambda at: (at.log_likelihoods, at.log_evidence),
            stage.belief,
            (
                stage.belief.log_likelihoods + stage.newest,
                stage.belief.log_evidence + stage.info.log_evidence,
            ),
        )
        return belief, stage.info._replace(explained=explained)

    def step(self, key: Key, belief: Belief, station: Station, reading: Scalar) -> tuple[Belief, FilterInfo]:
        """Take in one reading, in as many parts as it needs."""
        start = self.begin(key, belief, station, reading)
        return self.finish(refreshed(self.refresh, start))


def refreshed(refresh: Callable[[Stage], Stage], stage: Stage) -> Stage:
    """The stage once it needs no more refreshing."""
    # A bound method would be hashed, and with it the model's traced numbers.
    return jax.lax.while_loop(lambda at: at.degenerate, lambda at: refresh(at), stage)


def nothing_yet(belief: Belief, newest: Float[Array, " n"]) -> FilterInfo:
    """The info at the start of a step."""
    num_particles = newest.shape[0]
    return FilterInfo(
        ess=ess(normalise(belief.log_weights + newest)),
        resampled=jnp.zeros((), bool),
        stages=jnp.zeros((), jnp.int32),
        acceptance_rate=jnp.zeros(()),
        evaluations=jnp.asarray(num_particles, jnp.float32),
        unique_ancestors=jnp.asarray(num_particles, jnp.int32),
        log_evidence=jnp.zeros(()),
        explained=jnp.ones((), bool),
        recorded=jnp.ones((), bool),
    )


def _require_room(history: History) -> None:
    """Raise a ValueError where a history is known to be full; within a compiled program it is not."""
    if not isinstance(history.size, Tracer) and bool(is_full(history)):
        raise ValueError(
            f"The history has room for {history.readings.shape[0]} readings and is full: build the filter "
            "with a larger `horizon`, or make room with `with_horizon(belief, horizon)`."
        )


def build(
    model: Model,
    config: FilterConfig = STANDARD,
    *,
    resample: Resampler = systematic,
    proposals: Sequence[Proposal] = EVOLUTION,
    coordinates: Coordinates | None = None,
    search: NeighbourSearch = exact_neighbours,
    project: Projection = STANDARDISE,
    transition: Transition | Jump | None = None,
    importance: Importance | None = None,
    budget: KLDBudget | None = None,
    initial: Prior | None = None,
    template: Station | None = None,
) -> Filter:
    """Assemble a filter for the model.

    Particles move in `coordinates` (the prior's own unless given). `transition` says how the source may
    change and `importance` proposes its next state (the transition itself unless given); `budget` says how
    many particles are kept; `initial` where they start, if not in the model's prior; `template` what a
    station holds besides its position.
    """
    if isinstance(transition, Jump) and transition.hazard == 0:
        transition = None
    drifts = transition is not None and not isinstance(transition, Jump)
    if drifts and config.num_moves > 0:
        raise ValueError("A drifting source has no one Θ to replay the history for: set `num_moves=0`.")
    if importance is not None and not drifts:
        raise ValueError(
            "`importance` proposes the next state of a drifting source: give a `transition` too."
        )
    parts = Parts(
        model,
        config,
        resample,
        tuple(proposals),
        model.prior.coordinates if coordinates is None else coordinates,
        search,
        project,
        transition,
        importance,
        budget,
    )
    start = model.prior if initial is None else initial
    place = Station(jnp.zeros(2)) if template is None else template

    def init(key: Key) -> Belief:
        num_particles = config.num_particles
        return Belief(
            particles=jax.vmap(start.sample)(jax.random.split(key, num_particles)),
            log_weights=normalise(jnp.zeros(num_particles)),
            log_likelihoods=jnp.zeros(num_particles),
            starts=jnp.zeros(num_particles, jnp.int32),
            history=empty_history(place, config.horizon),
            log_evidence=jnp.zeros(()),
            step_size=jnp.ones(()),
            earlier=None if parts.jump is None else no_regimes(num_particles, parts.jump),
        )

    return Filter(init, parts.step, parts.begin, parts.refresh, parts.finish)
