"""The learner as printed in the paper: one-step actor-critic, one gradient step per rollout."""

from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from dowsax.learn import losses
from dowsax.learn.base import (
    Learner,
    LearnerState,
    NetworkOfKey,
    UpdateInfo,
    all_finite,
    explained_variance,
    global_norm,
    init_state,
    next_state,
    trainable,
)
from dowsax.learn.gae import temporal_difference
from dowsax.learn.rollout import Rollout, Transitions
from dowsax.types import Key, Scalar


@dataclass(frozen=True)
class ActorCriticConfig:
    """Static choices: changing any of these recompiles. The paper prints none of the numbers."""

    discount: float = 0.99
    """γ_RL"""
    actor_rate: float = 3e-4
    critic_rate: float = 1e-3
    max_grad_norm: float = 0.5
    """Of each of the two gradients."""

    def __post_init__(self) -> None:
        if not 0 < self.discount <= 1:
            raise ValueError(f"`discount` must be in (0, 1]; got {self.discount}.")
        for name in ("actor_rate", "critic_rate", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"`{name}` must be > 0; got {getattr(self, name)}.")


class Outcome(NamedTuple):
    """The network evaluated on the moves of a rollout."""

    log_prob: Float[Array, "steps searches"]
    entropy: Float[Array, "steps searches"]
    error: Float[Array, "steps searches"]
    """δ, in which only V(s) depends on the network."""


def build(rollout: Rollout, network_of_key: NetworkOfKey, config: ActorCriticConfig | None = None) -> Learner:
    """Build the learner: two losses with a learning rate each; weights that both reach get both updates."""
    config = ActorCriticConfig() if config is None else config
    optimiser = optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.scale_by_adam(eps=1e-5))

    def init(key: Key) -> LearnerState:
        network_key, environments_key = jax.random.split(key)
        network = network_of_key(network_key)
        both = tuple(optimiser.init(trainable(network)) for _ in range(2))
        return init_state(network, both, rollout.init(environments_key))

    def update(key: Key, state: LearnerState) -> tuple[LearnerState, UpdateInfo]:
        environments, transitions, tally = rollout.run(key, state.network, state.environments)
        weights, rest = eqx.partition(state.network, eqx.is_inexact_array)
        (actor, grad_actor), (critic, grad_critic) = (
            jax.value_and_grad(loss)(weights, rest, transitions, config.discount)
            for loss in (_actor_loss, _critic_loss)
        )
        step_actor, optimiser_actor = optimiser.update(grad_actor, state.optimiser[0])
        step_critic, optimiser_critic = optimiser.update(grad_critic, state.optimiser[1])
        moved = jax.tree.map(
            lambda leaf, one, other: leaf - config.actor_rate * one - config.critic_rate * other,
            weights,
            step_actor,
            step_critic,
        )
        healthy = all_finite(moved, actor, critic)
        steps = jnp.sum(transitions.valid, dtype=jnp.int32)
        network, optimisers = eqx.combine(moved, rest), (optimiser_actor, optimiser_critic)
        after = next_state(
            state,
            network=network,
            optimiser=optimisers,
            environments=environments,
            steps=steps,
            healthy=healthy,
        )
        outcome = _outcome(weights, rest, transitions, config.discount)
        return after, UpdateInfo(
            tally=tally,
            steps=steps,
            actor_loss=actor,
            critic_loss=critic,
            entropy=losses.masked_mean(outcome.entropy, transitions.valid),
            divergence=jnp.zeros(()),
            clipped=jnp.zeros(()),
            explained=explained_variance(
                transitions.value, transitions.value + outcome.error, transitions.valid
            ),
            grad_norm=global_norm((grad_actor, grad_critic)),
            healthy=healthy,
        )

    return Learner(init, update)


def _outcome(weights: PyTree, rest: PyTree, transitions: Transitions, discount: float) -> Outcome:
    output = jax.vmap(jax.vmap(eqx.combine(weights, rest)))(transitions.observation)
    error = temporal_difference(
        transitions.reward, output.value, transitions.next_value, transitions.terminated, discount=discount
    )
    log_prob = losses.log_prob_of(output.logits, transitions.action)
    return Outcome(log_prob, losses.entropy(output.logits), error)


def _actor_loss(weights: PyTree, rest: PyTree, transitions: Transitions, discount: float) -> Scalar:
    outcome = _outcome(weights, rest, transitions, discount)
    return losses.masked_mean(losses.actor_loss(outcome.log_prob, outcome.error), transitions.valid)


def _critic_loss(weights: PyTree, rest: PyTree, transitions: Transitions, discount: float) -> Scalar:
    outcome = _outcome(weights, rest, transitions, discount)
    return losses.masked_mean(losses.critic_loss(outcome.error), transitions.valid)
