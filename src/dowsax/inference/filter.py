"""The particle filter (Algorithm 1 of the paper). Assembly only: each part has its own file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference.attention import DEFAULT_PROJECTION, attend, smooth, uniform_mixing
from dowsax.inference.belief import Belief, empty_history, is_full, recall, record, require_room
from dowsax.inference.budget import KLDBudget, mask_to
from dowsax.inference.config import FilterConfig
from dowsax.inference.features import Projection
from dowsax.inference.jumps import no_regimes
from dowsax.inference.labels import agree
from dowsax.inference.moves import move
from dowsax.inference.neighbours import NeighbourSearch, exact_neighbours
from dowsax.inference.prediction import Importance, predict
from dowsax.inference.proposals import DifferentialEvolution, Proposal
from dowsax.inference.ranks import add_rank, no_ranks
from dowsax.inference.replay import reading_log_likelihood
from dowsax.inference.resampling import Resampler, systematic
from dowsax.inference.tempering import next_exponent
from dowsax.inference.weights import alive, ess, log_total, normalise
from dowsax.types import Key, Scalar, Station
from dowsax.world import Coordinates, Jump, Model, Prior, Transition, source_columns

DEFAULT_CONFIG = FilterConfig()
DEFAULT_PROPOSALS = (DifferentialEvolution(),)


class FilterInfo(NamedTuple):
    """What happened in one step; nothing here is needed by the next one."""

    ess: Scalar
    """After reweighting by the whole reading, before tempering, resampling or moves."""
    resampled: Bool[Array, ""]
    stages: Int[Array, ""]
    """Number of parts in which the reading was assimilated."""
    acceptance_rate: Scalar
    """Of the last round of moves; 0 without moves."""
    evaluations: Scalar
    """Number of likelihood terms evaluated."""
    unique_ancestors: Int[Array, ""]
    """Number of particles copied at the last resampling; all of them without resampling."""
    log_evidence: Scalar
    r"""$\log p(z_k \mid z_{1:k-1})$."""
    explained: Bool[Array, ""]
    """False when no particle explains the reading: the belief is then meaningless."""
    recorded: Bool[Array, ""]
    """False when the history was full: the reading was not assimilated and the belief is unchanged."""


class Stage(NamedTuple):
    """A belief that has assimilated the part `exponent` of the new reading."""

    key: Key
    """For the rest of this step."""
    belief: Belief
    new_log_likelihood: Float[Array, " n"]
    """Of the new reading, for each particle."""
    exponent: Scalar
    is_degenerate: Bool[Array, ""]
    """The weights have collapsed: resample and move before anything else."""
    info: FilterInfo


class Filter(NamedTuple):
    """A filter is a pair of pure functions, `init` and `step`.

    `begin`, `refresh` and `finish` are the three parts of `step`, for batches: most readings need no refresh
    and a few need many, so a caller may refresh the degenerate members of a batch only.
    """

    init: Callable[[Key], Belief]
    step: Callable[[Key, Belief, Station, Scalar], tuple[Belief, FilterInfo]]
    begin: Callable[[Key, Belief, Station, Scalar], Any]
    """Returns a `Stage`, or a `StrataStage` where the number of sources is unknown."""
    refresh: Callable[[Any], Any]
    finish: Callable[[Any], tuple[Belief, FilterInfo]]


@dataclass(frozen=True)
class ParticleFilter:
    """Algorithm 1 and the choices it is assembled from; see `build`."""

    model: Model
    config: FilterConfig
    resampler: Resampler
    proposals: tuple[Proposal, ...]
    coordinates: Coordinates
    search: NeighbourSearch
    project: Projection
    transition: Transition | Jump | None
    importance: Importance | None
    budget: KLDBudget | None
    initial: Prior
    template: Station
    effort: Scalar | float

    def init(self, key: Key) -> Belief:
        """Draw the particles of a belief that has no readings yet."""
        num_particles, columns = self.config.num_particles, source_columns(self.model.prior)
        return Belief(
            particles=jax.vmap(self.initial.sample)(jax.random.split(key, num_particles)),
            log_weights=normalise(jnp.zeros(num_particles)),
            log_likelihoods=jnp.zeros(num_particles),
            starts=jnp.zeros(num_particles, jnp.int32),
            history=empty_history(self.template, self.config.horizon),
            log_evidence=jnp.zeros(()),
            step_size=jnp.ones(()),
            earlier=None if self.jump is None else no_regimes(num_particles, self.jump),
            ranks=no_ranks(self.config.horizon) if self.config.keep_ranks else None,
            position_columns=self.model.position_columns,
            other_columns=self.model.other_columns,
            number_column=None if columns is None else columns.number_column,
        )

    def step(self, key: Key, belief: Belief, station: Station, reading: Scalar) -> tuple[Belief, FilterInfo]:
        """Assimilate one reading, in as many tempered stages as it needs (Algorithm 1, lines 5 to 12)."""
        stage = self.predict(key, belief, station, reading)
        stage = self.reweight(stage)
        stage = while_degenerate(
            lambda stage: self.reweight(self.move(self.smooth(self.resample(stage)))), stage
        )
        return self.finish(stage)

    def begin(self, key: Key, belief: Belief, station: Station, reading: Scalar) -> Stage:
        """Run `step` up to its loop."""
        return self.reweight(self.predict(key, belief, station, reading))

    def refresh(self, stage: Stage) -> Stage:
        """Run the loop of `step` once, for a degenerate stage."""
        return self.reweight(self.move(self.smooth(self.resample(stage))))

    def predict(self, key: Key, belief: Belief, station: Station, reading: Scalar) -> Stage:
        """Let the source change, record the reading and evaluate its likelihood.

        A full history raises a ValueError. In a compiled program, which cannot raise, the belief stays as it
        is and `FilterInfo.recorded` is false.
        """
        require_room(belief.history)
        station = recall(self.model, belief.history, station)
        predict_key, stage_key = jax.random.split(key)
        recorded = ~is_full(belief.history)
        if self.transition is not None:
            predicted = predict(
                predict_key, self.model, belief, self.transition, self.importance, station, reading
            )
            belief = jax.tree.map(lambda new, old: jnp.where(recorded, new, old), predicted, belief)
        belief = add_rank(predict_key, self.model, belief, station, reading)
        log_likelihood = reading_log_likelihood(self.model, belief.particles.T, station, reading)
        log_likelihood = jnp.where(recorded, log_likelihood, 0.0)
        belief = replace(belief, history=record(belief.history, station, reading))
        info = initial_info(belief, log_likelihood)._replace(recorded=recorded)
        return Stage(stage_key, belief, log_likelihood, jnp.zeros(()), jnp.zeros((), bool), info)

    def reweight(self, stage: Stage) -> Stage:
        """Multiply the weights by the next part of the likelihood, if the reading is not yet assimilated."""
        is_partial = (stage.exponent < 1) & (stage.info.stages < self.config.max_stages)
        return jax.lax.cond(is_partial, lambda: self._reweight(stage), lambda: stage)

    def _reweight(self, stage: Stage) -> Stage:
        belief, recorded = stage.belief, stage.info.recorded
        num_active = jnp.sum(belief.log_weights > -jnp.inf)
        min_ess = self.config.ess_ratio * num_active.astype(jnp.float32)
        exponent = jnp.ones(())
        if self.config.temper:
            exponent = next_exponent(belief.log_weights, stage.new_log_likelihood, stage.exponent, min_ess)
        log_weights = belief.log_weights + (exponent - stage.exponent) * stage.new_log_likelihood
        log_weights = jnp.where(jnp.isnan(log_weights), -jnp.inf, log_weights)
        increment = log_total(log_weights)
        log_weights = normalise(log_weights)
        # A reading assimilated in parts has degenerated the weights by construction, up to rounding.
        is_degenerate = ((ess(log_weights) < min_ess) | (exponent < 1)) & alive(log_weights) & recorded
        info = stage.info._replace(
            stages=stage.info.stages + 1, log_evidence=stage.info.log_evidence + increment
        )
        belief = eqx.tree_at(lambda at: at.log_weights, belief, log_weights)
        stage = Stage(stage.key, belief, stage.new_log_likelihood, exponent, is_degenerate, info)
        if not self.config.smooth_first:
            stage = jax.lax.cond(is_degenerate | ~recorded, lambda: stage, lambda: self._smooth(stage))
        return stage

    def resample(self, stage: Stage) -> Stage:
        """Copy particles in proportion to their weights, smoothed before with `smooth_first`.

        With a budget the number of active particles may change.
        """
        if self.config.smooth_first:
            stage = self._smooth(stage)
        belief, num_particles = stage.belief, self.config.num_particles
        num_active = jnp.asarray(num_particles, jnp.int32) if self.budget is None else self.budget(belief)
        ancestors = self.resampler(_round_keys(stage).resample, belief.log_weights, num_particles, num_active)
        if self.budget is not None:
            # Inactive particles mirror active ones, so that moves adapt to the belief alone.
            ancestors = ancestors[jnp.arange(num_particles) % num_active]
        unique = jnp.sum(jnp.zeros(num_particles, jnp.int32).at[ancestors].set(1))
        belief = replace(belief.select(ancestors), log_weights=mask_to(num_particles, num_active))
        info = stage.info._replace(resampled=jnp.ones((), bool), unique_ancestors=unique)
        new_log_likelihood = stage.new_log_likelihood[ancestors]
        return stage._replace(belief=belief, new_log_likelihood=new_log_likelihood, info=info)

    def smooth(self, stage: Stage) -> Stage:
        """Smooth the weights after resampling, as the paper does; nothing with `smooth_first`."""
        return stage if self.config.smooth_first else self._smooth(stage)

    def _smooth(self, stage: Stage) -> Stage:
        """Pass weight along the attention, or mix it with the uniform, as configured."""
        belief, config = stage.belief, self.config
        log_weights = belief.log_weights
        if config.attention is not None:
            attention = attend(
                belief.particles,
                stage.new_log_likelihood,
                log_weights,
                config.attention,
                self.search,
                self.project,
            )
            log_weights = smooth(log_weights, attention, config.attention.epsilon)
        if config.mixing > 0:
            log_weights = uniform_mixing(log_weights, config.mixing)
        return stage._replace(belief=eqx.tree_at(lambda at: at.log_weights, belief, log_weights))

    def move(self, stage: Stage) -> Stage:
        """Move the particles by Metropolis–Hastings under the part of the posterior assimilated so far."""
        keys = _round_keys(stage)
        stage = stage._replace(key=keys.next, is_degenerate=jnp.zeros((), bool))
        if self.config.num_moves == 0:
            return stage
        belief, new_log_likelihood, moves = move(
            keys.move,
            self.model,
            self.coordinates,
            self.config,
            self.proposals,
            stage.belief,
            stage.new_log_likelihood,
            stage.exponent,
            jump=self.jump,
            spent=stage.info.evaluations,
            effort=self.effort,
        )
        info = stage.info._replace(
            acceptance_rate=moves.acceptance_rate, evaluations=stage.info.evaluations + moves.evaluations
        )
        return stage._replace(belief=belief, new_log_likelihood=new_log_likelihood, info=info)

    def finish(self, stage: Stage) -> tuple[Belief, FilterInfo]:
        """Return the belief after the reading, with its likelihoods and its evidence added up."""
        explained = (stage.exponent >= 1) & alive(stage.belief.log_weights)
        columns = source_columns(self.model.prior)
        if columns is not None:
            likelihoods = stage.belief.log_likelihoods + stage.new_log_likelihood
            particles = agree(stage.belief.particles, likelihoods, columns)
            stage = stage._replace(belief=replace(stage.belief, particles=particles))
        belief = eqx.tree_at(
            lambda at: (at.log_likelihoods, at.log_evidence),
            stage.belief,
            (
                stage.belief.log_likelihoods + stage.new_log_likelihood,
                stage.belief.log_evidence + stage.info.log_evidence,
            ),
        )
        return belief, stage.info._replace(explained=explained)

    @property
    def jump(self) -> Jump | None:
        """The transition, if the source jumps."""
        return self.transition if isinstance(self.transition, Jump) else None


def _complete(model: Model, template: Station | None) -> Station:
    """Return the template, with room for the earlier readings that the sensor needs."""
    station = Station(jnp.zeros(len(model.position_columns))) if template is None else template
    one = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], replace(station, earlier=None))
    return model.recall(station, one, jnp.zeros(1), 0)


def while_degenerate(refresh: Callable[[Any], Any], stage: Any) -> Any:
    """Refresh a stage until its weights are no longer degenerate."""
    # A bound method would be hashed, and with it the model's traced numbers.
    return jax.lax.while_loop(lambda at: at.is_degenerate, lambda at: refresh(at), stage)


class _RoundKeys(NamedTuple):
    """The keys of one round of resampling and moving, and the key of the next round."""

    resample: Key
    move: Key
    next: Key


def _round_keys(stage: Stage) -> _RoundKeys:
    next_key, round_key = jax.random.split(stage.key)
    resample_key, move_key = jax.random.split(round_key)
    return _RoundKeys(resample_key, move_key, next_key)


def initial_info(belief: Belief, new_log_likelihood: Float[Array, " n"]) -> FilterInfo:
    """Return the info at the start of a step."""
    num_particles = new_log_likelihood.shape[0]
    return FilterInfo(
        ess=ess(normalise(belief.log_weights + new_log_likelihood)),
        resampled=jnp.zeros((), bool),
        stages=jnp.zeros((), jnp.int32),
        acceptance_rate=jnp.zeros(()),
        evaluations=jnp.asarray(num_particles, jnp.float32),
        unique_ancestors=jnp.asarray(num_particles, jnp.int32),
        log_evidence=jnp.zeros(()),
        explained=jnp.ones((), bool),
        recorded=jnp.ones((), bool),
    )


def build(
    model: Model,
    config: FilterConfig = DEFAULT_CONFIG,
    *,
    resample: Resampler = systematic,
    proposals: Sequence[Proposal] = DEFAULT_PROPOSALS,
    coordinates: Coordinates | None = None,
    search: NeighbourSearch = exact_neighbours,
    project: Projection = DEFAULT_PROJECTION,
    transition: Transition | Jump | None = None,
    importance: Importance | None = None,
    budget: KLDBudget | None = None,
    initial: Prior | None = None,
    template: Station | None = None,
    effort: Scalar | float = 1.0,
) -> Filter:
    """Assemble a filter for the model.

    Parameters
    ----------
    model
        Prior, field and sensor.
    config
        Static choices: number of particles, horizon [readings], tempering, moves, attention.
    resample
        Resampling scheme.
    proposals
        Metropolis–Hastings proposals, used in turn.
    coordinates
        Coordinates in which particles move; default: the prior's.
    search
        Neighbour search of the attention.
    project
        Map from particle features to the embeddings that attention compares.
    transition
        How the source may change between two readings; default: not at all.
    importance
        Proposal for the next state of a drifting source; default: the transition.
    budget
        Chooses the number of active particles at each resampling; default: all.
    initial
        Distribution of the first particles; default: the model's prior.
    template
        A station with the same fields as those of the readings; default: a position [m] only.
    effort
        Share of `max_terms` that moves may spend; traced, so another share does not recompile.

    Returns
    -------
    Filter
        `init(key)` gives a belief; `step(key, belief, station, reading)` the next belief and a `FilterInfo`.
    """
    if isinstance(transition, Jump) and transition.hazard == 0:
        transition = None
    if isinstance(transition, Jump):
        transition = transition.for_prior(model.prior)
    drifts = transition is not None and not isinstance(transition, Jump)
    if drifts and config.num_moves > 0:
        raise ValueError("A drifting source has no one Θ to replay the history for: set `num_moves=0`.")
    if importance is not None and not drifts:
        raise ValueError(
            "`importance` proposes the next state of a drifting source: give a `transition` too."
        )
    algorithm = ParticleFilter(
        model=model,
        config=config,
        resampler=resample,
        proposals=tuple(proposals),
        coordinates=model.prior.coordinates if coordinates is None else coordinates,
        search=search,
        project=project,
        transition=transition,
        importance=importance,
        budget=budget,
        initial=model.prior if initial is None else initial,
        template=_complete(model, template),
        effort=effort,
    )
    return Filter(algorithm.init, algorithm.step, algorithm.begin, algorithm.refresh, algorithm.finish)
