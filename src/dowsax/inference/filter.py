"""The filter: reweight, temper, resample, smooth, rejuvenate. Assembly only; each part has its own file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference.attention import AttentionConfig, attend, smooth, uniform_mixing
from dowsax.inference.belief import Belief, empty_history, record
from dowsax.inference.budget import KLDBudget, mask_to
from dowsax.inference.features import Projection, Standardise
from dowsax.inference.neighbours import NeighbourSearch, exact_neighbours
from dowsax.inference.prediction import Importance, predict
from dowsax.inference.proposals import DifferentialEvolution, Proposal, freeze
from dowsax.inference.rejuvenation import Density, adapted, rejuvenate
from dowsax.inference.replay import newest_terms, replay
from dowsax.inference.resampling import Resampler, systematic
from dowsax.inference.tempering import next_exponent
from dowsax.inference.weights import alive, ess, log_total, normalise
from dowsax.types import Key, Scalar, Station
from dowsax.world import Drift, Jump, Model, Prior, Transition


@dataclass(frozen=True)
class FilterConfig:
    """Static choices: changing any of these recompiles."""

    num_particles: int = 1024
    horizon: int = 201
    """The most readings there will ever be: the benchmark's 200 moves and the reading at the start."""
    ess_ratio: float = 0.5
    """η: resample when ESS < η·n. A reading that would leave less is taken in by parts."""
    temper: bool = True
    """Take a reading that would collapse the weights in parts, with moves in between."""
    max_stages: int = 64
    """The most parts. A reading not taken in by then cannot be explained by the model."""
    num_moves: int = 8
    """Metropolis–Hastings moves of each particle after resampling."""
    max_moves: int = 8
    """Move on until the start is forgotten, at most this often."""
    forgetting: float = 0.3
    """A start is forgotten when it correlates with the present by less, in every coordinate."""
    attention: AttentionConfig | None = None
    smooth_first: bool = True
    """Smooth before resampling, so that moves mend the bias; the paper smooths after it, at every reading."""
    mixing: float = 0.0
    """ρ of uniform mixing, the control for attention, in the same place."""

    def __post_init__(self) -> None:
        if self.num_particles < 16:
            raise ValueError(f"`num_particles` must be at least 16; got {self.num_particles}.")
        if self.horizon < 1 or self.max_stages < 1:
            raise ValueError("`horizon` and `max_stages` must be at least 1.")
        if not 0 < self.ess_ratio <= 1:
            raise ValueError(f"`ess_ratio` is a share of the particles, in (0, 1]; got {self.ess_ratio}.")
        if not 0 <= self.num_moves <= self.max_moves:
            raise ValueError(
                f"`num_moves` must be from 0 to `max_moves`; got {self.num_moves} and {self.max_moves}."
            )
        if not 0 <= self.mixing <= 1:
            raise ValueError(f"`mixing` is a share of the weights, in [0, 1]; got {self.mixing}.")


class FilterInfo(NamedTuple):
    """What happened in one step; nothing here is needed by the next one."""

    ess: Scalar
    """After reweighting by the whole reading, before anything was done about it."""
    resampled: Bool[Array, ""]
    stages: Int[Array, ""]
    acceptance_rate: Scalar
    """Of the last moves; 0 when there were none."""
    evaluations: Scalar
    """Likelihood terms evaluated."""
    unique_ancestors: Int[Array, ""]
    """Particles that had offspring at the last resampling; all when there was none."""
    log_evidence: Scalar
    r"""$\log p(z_k \mid z_{1:k-1})$."""
    explained: Bool[Array, ""]
    """False when no particle explains the reading: the belief then says nothing."""


class Filter(NamedTuple):
    """A filter is a pair of pure functions."""

    init: Callable[[Key], Belief]
    step: Callable[[Key, Belief, Station, Scalar], tuple[Belief, FilterInfo]]


class _Stage(NamedTuple):
    """One part of a reading: the belief with part `exponent` of the newest terms in its weights."""

    belief: Belief
    newest: Float[Array, " n"]
    exponent: Scalar
    info: FilterInfo


def build(
    model: Model,
    config: FilterConfig = FilterConfig(),
    *,
    resample: Resampler = systematic,
    proposals: Sequence[Proposal] = (DifferentialEvolution(),),
    search: NeighbourSearch = exact_neighbours,
    project: Projection = Standardise(),
    transition: Transition | Jump | None = None,
    importance: Importance | None = None,
    budget: KLDBudget | None = None,
    initial: Prior | None = None,
    template: Station | None = None,
) -> Filter:
    """Assemble a filter for the model.

    `transition` says how the source may change, `importance` proposes its next state (the transition itself
    if not given), `budget` how many particles are kept, `initial` where they start if not in the model's
    prior, and `template` what a station holds besides its position.
    """
    if isinstance(transition, Drift) and config.num_moves > 0:
        raise ValueError("A drifting source has no one Θ to replay the history for: set `num_moves=0`.")
    jumps = isinstance(transition, Jump) and transition.hazard > 0
    coordinates = model.prior.coordinates
    num_particles = config.num_particles
    first = model.prior if initial is None else initial
    place = Station(jnp.zeros(2)) if template is None else template

    def init(key: Key) -> Belief:
        particles = jax.vmap(first.sample)(jax.random.split(key, num_particles))
        zeros = jnp.zeros(num_particles)
        return Belief(
            particles=particles,
            log_weights=normalise(zeros),
            log_likelihoods=zeros,
            starts=jnp.zeros(num_particles, jnp.int32),
            history=empty_history(place, config.horizon),
            log_evidence=jnp.zeros(()),
            step_size=jnp.ones(()),
        )

    def smoothed(belief: Belief, newest: Float[Array, " n"]) -> Float[Array, " n"]:
        log_weights = belief.log_weights
        if config.attention is not None:
            attention = attend(belief.particles, newest, log_weights, config.attention, search, project)
            log_weights = smooth(log_weights, attention, config.attention.epsilon)
        return uniform_mixing(log_weights, config.mixing) if config.mixing > 0 else log_weights

    def resampled(key: Key, stage: _Stage) -> _Stage:
        belief = stage.belief
        log_weights = smoothed(belief, stage.newest) if config.smooth_first else belief.log_weights
        belief = _with(belief, log_weights=log_weights)
        num_active = None if budget is None else budget(belief)
        ancestors = resample(key, log_weights, num_particles, num_active)
        fresh = mask_to(num_particles, jnp.asarray(num_particles) if num_active is None else num_active)
        unique = jnp.sum(jnp.zeros(num_particles, jnp.int32).at[ancestors].set(1))
        belief = _with(
            belief,
            particles=belief.particles[ancestors],
            log_weights=fresh,
            log_likelihoods=belief.log_likelihoods[ancestors],
            starts=belief.starts[ancestors],
        )
        info = stage.info._replace(resampled=jnp.ones((), bool), unique_ancestors=unique)
        return stage._replace(belief=belief, newest=stage.newest[ancestors], info=info)

    def moved(key: Key, stage: _Stage) -> _Stage:
        belief = stage.belief
        move_key, free_key = jax.random.split(key)
        columns = jax.vmap(coordinates.forward, out_axes=1)(belief.particles)
        num_rows = columns.shape[0] - coordinates.free
        rows, free = columns[:num_rows], columns[num_rows:]
        size = belief.history.size - 1
        newest_at = jax.tree.map(lambda leaf: leaf[size], belief.history.stations)
        starts = belief.starts if jumps else None

        def thetas_of(rows):
            columns = jnp.concatenate([rows, free])
            return columns, jax.vmap(coordinates.inverse, in_axes=1, out_axes=1)(columns)

        def log_prior_of(columns, thetas):
            log_dets = jax.vmap(coordinates.log_det, in_axes=1)(columns)
            return jax.vmap(model.prior.log_prob, in_axes=1)(thetas) + log_dets

        def newest_of(rows):
            return newest_terms(model, thetas_of(rows)[1], newest_at, belief.history.readings[size])

        def evaluate(rows):
            columns, thetas = thetas_of(rows)
            past = replay(model, thetas, belief.history, size, starts)
            newest = newest_terms(model, thetas, newest_at, belief.history.readings[size])
            return Density(log_prior_of(columns, thetas), past, newest)

        needs_gradients = any(proposal.needs_gradients for proposal in proposals)
        gradients = jax.grad(lambda rows: jnp.sum(newest_of(rows)))(rows) if needs_gradients else None
        columns, thetas = thetas_of(rows)
        density = Density(log_prior_of(columns, thetas), belief.log_likelihoods, stage.newest)
        result = rejuvenate(
            move_key,
            freeze(rows, gradients),
            density,
            stage.exponent,
            belief.step_size,
            proposals=proposals,
            evaluate=evaluate,
            num_moves=config.num_moves,
            max_moves=config.max_moves,
            forgetting=config.forgetting,
        )
        # The free coordinates are uniform whatever the readings say: drawn anew, exactly.
        free = jax.random.uniform(free_key, free.shape)
        columns = jnp.concatenate([result.columns, free])
        belief = _with(
            belief,
            particles=jax.vmap(coordinates.inverse, in_axes=1)(columns),
            log_likelihoods=result.density.past,
            step_size=adapted(belief.step_size, result.acceptance_rate),
        )
        evaluations = stage.info.evaluations + (result.num_moves * num_particles * (size + 1)).astype(jnp.float32)
        info = stage.info._replace(acceptance_rate=result.acceptance_rate, evaluations=evaluations)
        return stage._replace(belief=belief, newest=result.density.newest, info=info)

    def reweighted(stage: _Stage) -> tuple[_Stage, Bool[Array, ""]]:
        """Take in the next part of the newest reading, and say whether the weights have degenerated."""
        belief = stage.belief
        active = jnp.sum(belief.log_weights > -jnp.inf)
        wanted = config.ess_ratio * active.astype(jnp.float32)
        exponent = jnp.ones(())
        if config.temper:
            exponent = next_exponent(belief.log_weights, stage.newest, stage.exponent, wanted)
        log_weights = belief.log_weights + (exponent - stage.exponent) * stage.newest
        log_weights = jnp.where(jnp.isnan(log_weights), -jnp.inf, log_weights)
        increment = log_total(log_weights)
        belief = _with(
            belief, log_weights=normalise(log_weights), log_evidence=belief.log_evidence + increment
        )
        # A reading taken in by parts has degenerated the weights by construction, up to rounding.
        degenerate = (ess(belief.log_weights) < wanted) | (exponent < 1)
        info = stage.info._replace(
            stages=stage.info.stages + 1, log_evidence=stage.info.log_evidence + increment
        )
        return stage._replace(belief=belief, exponent=exponent, info=info), degenerate

    def advance(carry: tuple[Key, _Stage]) -> tuple[Key, _Stage]:
        """One stage of Algorithm 1, lines 7 to 12."""
        key, resample_key, move_key = jax.random.split(carry[0], 3)
        stage, degenerate = reweighted(carry[1])
        degenerate &= alive(stage.belief.log_weights)
        stage = jax.lax.cond(degenerate, lambda: resampled(resample_key, stage), lambda: stage)
        if not config.smooth_first:
            log_weights = smoothed(stage.belief, stage.newest)
            stage = stage._replace(belief=_with(stage.belief, log_weights=log_weights))
        if config.num_moves > 0:
            stage = jax.lax.cond(degenerate, lambda: moved(move_key, stage), lambda: stage)
        return key, stage

    def unfinished(carry: tuple[Key, _Stage]) -> Bool[Array, ""]:
        _, stage = carry
        left = (stage.exponent < 1) & (stage.info.stages < config.max_stages)
        return left & alive(stage.belief.log_weights)

    def step(key: Key, belief: Belief, station: Station, reading: Scalar) -> tuple[Belief, FilterInfo]:
        predict_key, stage_key = jax.random.split(key)
        belief = predict(predict_key, model, belief, transition, importance, station, reading)
        newest = newest_terms(model, belief.particles.T, station, reading)
        belief = _with(belief, history=record(belief.history, station, reading))
        whole = normalise(belief.log_weights + newest)
        info = FilterInfo(
            ess=ess(whole),
            resampled=jnp.zeros((), bool),
            stages=jnp.zeros((), jnp.int32),
            acceptance_rate=jnp.zeros(()),
            evaluations=jnp.asarray(num_particles, jnp.float32),
            unique_ancestors=jnp.asarray(num_particles, jnp.int32),
            log_evidence=jnp.zeros(()),
            explained=jnp.ones((), bool),
        )
        start = _Stage(belief, newest, jnp.zeros(()), info)
        _, stage = jax.lax.while_loop(unfinished, advance, advance((stage_key, start)))
        explained = (stage.exponent >= 1) & alive(stage.belief.log_weights)
        belief = _with(stage.belief, log_likelihoods=stage.belief.log_likelihoods + stage.newest)
        return belief, stage.info._replace(explained=explained)

    return Filter(init, step)


def _with(belief: Belief, **changes) -> Belief:
    """The belief with some parts replaced."""
    parts = {name: getattr(belief, name) for name in belief.__dataclass_fields__}
    return Belief(**(parts | changes))
