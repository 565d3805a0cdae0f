"""Proximal policy optimisation: a few epochs over each rollout with a clipped objective.

J. Schulman et al., Proximal policy optimization algorithms, 2017.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

from dowsax.learn import losses
from dowsax.learn.base import (
    Learner,
    LearnerState,
    NetworkOfKey,
    UpdateInfo,
    all_finite,
    anneal,
    explained_variance,
    global_norm,
    init_state,
    next_state,
    trainable,
)
from dowsax.learn.gae import generalised_advantage
from dowsax.learn.rollout import Rollout, Transitions
from dowsax.types import Key, Scalar


@dataclass(frozen=True)
class PPOConfig:
    """Static choices: changing any of these recompiles."""

    discount: float = 0.995
    """γ: near 1, as faint sources are found only after a hundred moves."""
    gae_decay: float = 0.95
    """λ"""
    clip: float = 0.2
    """ε"""
    entropy_weight: float = 0.01
    final_entropy_weight: float = 0.001
    """Reached linearly at the end of the run."""
    value_weight: float = 0.5
    max_grad_norm: float = 0.5
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-4
    """Reached linearly at the end of the run."""
    sees_time: bool = True
    """Whether the network observes how many readings are left: a time-out then has value 0. Otherwise it is
    bootstrapped from the value of the last observation."""
    epochs: int = 3
    """Epochs over each rollout."""
    minibatches: int = 32
    """Of a rollout in which every step is valid; other rollouts have fewer of the same size."""

    def __post_init__(self) -> None:
        for name in ("discount", "gae_decay", "clip"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"`{name}` must be in (0, 1]; got {getattr(self, name)}.")
        for name in ("epochs", "minibatches"):
            if getattr(self, name) < 1:
                raise ValueError(f"`{name}` must be at least 1; got {getattr(self, name)}.")
        for name in ("learning_rate", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"`{name}` must be > 0; got {getattr(self, name)}.")


class Moves(NamedTuple):
    """The training samples, one per move."""

    observation: PyTree
    action: Int[Array, " moves"]
    log_prob: Float[Array, " moves"]
    advantage: Float[Array, " moves"]
    target: Float[Array, " moves"]


class Losses(NamedTuple):
    """Means over a minibatch; `total` is minimised."""

    total: Scalar
    actor: Scalar
    critic: Scalar
    entropy: Scalar
    divergence: Scalar
    clipped: Scalar
    grad_norm: Scalar


Loss = Callable[..., tuple[Scalar, Any]]
"""`(weights, rest, moves, valid, config, entropy_weight) -> (loss, terms)`; terms have a `grad_norm`."""


def build_init(
    rollout: Rollout, network_of_key: NetworkOfKey, optimiser: optax.GradientTransformation
) -> Callable[[Key], LearnerState]:
    """Return the function that makes the first state of a learner from a key."""

    def init(key: Key) -> LearnerState:
        network_key, environments_key = jax.random.split(key)
        network = network_of_key(network_key)
        return init_state(network, optimiser.init(trainable(network)), rollout.init(environments_key))

    return init


def build(
    rollout: Rollout, network_of_key: NetworkOfKey, config: PPOConfig | None = None, *, total_steps: int
) -> Learner:
    """Build the learner. Learning rate and entropy weight decay over `total_steps` moves."""
    config = PPOConfig() if config is None else config
    optimiser = build_optimiser(config)

    def update(key: Key, state: LearnerState) -> tuple[LearnerState, UpdateInfo]:
        rollout_key, order_key = jax.random.split(key)
        environments, transitions, tally = rollout.run(rollout_key, state.network, state.environments)
        moves, explained = compute_advantages(transitions, config)
        share = state.steps / total_steps
        network, optimiser_state, means, healthy = optimise(
            order_key, state, moves, transitions.valid.reshape(-1), optimiser, config, share
        )
        steps = jnp.sum(transitions.valid, dtype=jnp.int32)
        after = next_state(
            state,
            network=network,
            optimiser=optimiser_state,
            environments=environments,
            steps=steps,
            healthy=healthy,
        )
        return after, UpdateInfo(
            tally=tally,
            steps=steps,
            actor_loss=means.actor,
            critic_loss=means.critic,
            entropy=means.entropy,
            divergence=means.divergence,
            clipped=means.clipped,
            explained=explained,
            grad_norm=means.grad_norm,
            healthy=healthy,
        )

    return Learner(build_init(rollout, network_of_key, optimiser), update)


def build_optimiser(config: PPOConfig) -> optax.GradientTransformation:
    """Build Adam with clipped gradients, whose steps are still to be multiplied by the learning rate."""
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.scale_by_adam(eps=1e-5))


def compute_advantages(transitions: Transitions, config: PPOConfig) -> tuple[Moves, Scalar]:
    """Return the moves of a rollout with normalised advantages, and the explained variance of the values."""
    steps = transitions
    estimate = jax.vmap(
        lambda *parts: generalised_advantage(*parts, discount=config.discount, decay=config.gae_decay),
        in_axes=1,
        out_axes=1,
    )
    # D. Pardo et al., Time limits in reinforcement learning, 2018.
    next_value = jnp.where(steps.truncated & config.sees_time, 0.0, steps.next_value)
    advantage, target = estimate(
        steps.reward, steps.value, next_value, steps.terminated, steps.truncated, steps.valid
    )
    moves = Moves(
        steps.observation, steps.action, steps.log_prob, losses.normalise(advantage, steps.valid), target
    )
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), moves)
    return flat, explained_variance(steps.value, target, steps.valid)


def optimise(
    key: Key,
    state: LearnerState,
    moves: Moves,
    valid: Bool[Array, " moves"],
    optimiser: optax.GradientTransformation,
    config: PPOConfig,
    share: Scalar,
    loss: Loss | None = None,
    terms_of: type = Losses,
) -> tuple[PyTree, PyTree, Any, Bool[Array, ""]]:
    """Run all epochs; return network, optimiser, mean losses, and whether all numbers are finite.

    `loss` is that of a minibatch, with its terms (default: the clipped objective, and `Losses`).
    """
    loss = _loss if loss is None else loss
    weights, rest = eqx.partition(state.network, eqx.is_inexact_array)
    optimiser_arrays, optimiser_rest = eqx.partition(state.optimiser, eqx.is_array)
    rate = anneal(config.learning_rate, config.final_learning_rate, share)
    entropy_weight = anneal(config.entropy_weight, config.final_entropy_weight, share)
    size = -(-valid.shape[0] // config.minibatches)
    num_valid = jnp.sum(valid)
    num_batches = -(-num_valid // size)

    def learn(batch: Array, carry: Any, order: Array) -> Any:
        weights, optimiser_arrays, sums = carry
        # Every `num_batches`-th move: the valid moves are divided evenly among the minibatches.
        place = batch + num_batches * jnp.arange(size)
        index = order[jnp.minimum(place, valid.shape[0] - 1)]
        some = jax.tree.map(lambda leaf: leaf[index], moves)
        grad, terms = jax.grad(loss, has_aux=True)(
            weights, rest, some, place < num_valid, config, entropy_weight
        )
        terms = terms._replace(grad_norm=global_norm(grad))
        steps, optimiser_state = optimiser.update(grad, eqx.combine(optimiser_arrays, optimiser_rest))
        weights = jax.tree.map(lambda leaf, step: leaf - rate * step, weights, steps)
        sums = jax.tree.map(jnp.add, sums, terms)
        return weights, eqx.filter(optimiser_state, eqx.is_array), sums

    def epoch(carry: Any, key: Key) -> tuple[Any, None]:
        # The valid moves in random order, then the rest.
        order = jnp.argsort(jax.random.uniform(key, valid.shape) + 2.0 * ~valid)
        return jax.lax.fori_loop(0, num_batches, lambda batch, carry: learn(batch, carry, order), carry), None

    start = (weights, optimiser_arrays, terms_of(*(jnp.zeros(()) for _ in terms_of._fields)))
    (weights, optimiser_arrays, sums), _ = jax.lax.scan(epoch, start, jax.random.split(key, config.epochs))
    means = jax.tree.map(lambda total: total / jnp.maximum(config.epochs * num_batches, 1), sums)
    # A sum preserves a loss that was not finite, so one check at the end suffices.
    healthy = all_finite(weights, optimiser_arrays, means)
    return eqx.combine(weights, rest), eqx.combine(optimiser_arrays, optimiser_rest), means, healthy


def _loss(
    weights: PyTree,
    rest: PyTree,
    moves: Moves,
    valid: Bool[Array, " batch"],
    config: PPOConfig,
    entropy_weight: Scalar,
) -> tuple[Scalar, Losses]:
    network = eqx.combine(weights, rest)
    output = jax.vmap(network)(moves.observation)
    log_prob = losses.log_prob_of(output.logits, moves.action)
    # An entry that is not valid may overflow, which would give NaN in the gradient.
    log_ratio = jnp.where(valid, log_prob - moves.log_prob, 0.0)
    objective = losses.clipped_objective(log_ratio, moves.advantage, config.clip)
    mean = lambda numbers: losses.masked_mean(numbers, valid)  # noqa: E731
    actor = -mean(objective)
    critic = mean(losses.value_loss(output.value, moves.target))
    entropy = mean(losses.entropy(output.logits))
    total = actor + config.value_weight * critic - entropy_weight * entropy
    clipped = mean((jnp.abs(jnp.expm1(log_ratio)) > config.clip).astype(jnp.float32))
    return total, Losses(
        total, actor, critic, entropy, mean(losses.divergence(log_ratio)), clipped, jnp.zeros(())
    )
