"""Imitation: a network learns the choices of a planner in searches that both drive.

At first the planner makes the moves and in the end the network, so that it learns where its own moves lead:
S. Ross et al., A reduction of imitation learning and structured prediction to no-regret learning, 2011.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from dowsax.envs import SearchProblem
from dowsax.inference import Belief
from dowsax.learn import losses
from dowsax.learn.base import LearnerState, NetworkOfKey, next_state
from dowsax.learn.ppo import Moves, PPOConfig, build_init, build_optimiser, compute_advantages, optimise
from dowsax.learn.rollout import Rollout
from dowsax.policies.encoders import CandidateObservation, Encoder
from dowsax.policies.layers import ActorCriticOutput, mask_logits
from dowsax.policies.location_planner import LocationPlanner
from dowsax.policies.neural import Neural
from dowsax.types import Key, Scalar, Station
from dowsax.world import Budget, Candidates

TEMPERATURE = 0.1
"""Of the planner's choices: a candidate with nine tenths of the best gain per cost is taken 1/e as often."""


class TaughtObservation(NamedTuple):
    """An observation, and what the teacher would do."""

    observation: CandidateObservation
    log_probs: Float[Array, " actions"]
    """Of the teacher's choices."""


@runtime_checkable
class Teacher(Protocol):
    """The logits of the teacher's choices."""

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Float[Array, " actions"]: ...


class PlannerTeacher(eqx.Module):
    """The planner's gain per cost as a share of the best, over a temperature."""

    planner: LocationPlanner
    temperature: float = eqx.field(default=TEMPERATURE, static=True)

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Float[Array, " actions"]:
        _, rates = self.planner.rates(key, belief, station, candidates, budget)
        best = jnp.max(jnp.where(candidates.mask, rates, 0.0))
        shares = jnp.nan_to_num(rates / jnp.maximum(best, jnp.finfo(rates.dtype).tiny))
        return jnp.clip(shares, 0.0, 1.0) / self.temperature


class NetworkTeacher(eqx.Module):
    """The logits of a trained policy."""

    policy: Neural

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Float[Array, " actions"]:
        observation = self.policy.encoder(key, belief, station, candidates, budget)
        return jnp.nan_to_num(self.policy.network(observation).logits)


class TaughtEncoder(eqx.Module):
    """An encoder that asks the teacher as well."""

    encoder: Encoder
    teacher: Teacher

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> TaughtObservation:
        encoder_key, teacher_key = jax.random.split(key)
        logits = self.teacher(teacher_key, belief, station, candidates, budget)
        logits = mask_logits(logits, candidates.mask)
        observation = self.encoder(encoder_key, belief, station, candidates, budget)
        assert isinstance(observation, CandidateObservation)
        return TaughtObservation(observation, jax.nn.log_softmax(logits))


class Mixture(eqx.Module):
    """The teacher's choices with this probability, and else those of the network."""

    network: Any
    teacher_share: Scalar

    def __call__(self, observation: TaughtObservation) -> ActorCriticOutput:
        logits, value = self.network(observation.observation)
        own = jax.nn.log_softmax(logits)
        share = jnp.clip(self.teacher_share, 1e-6, 1.0 - 1e-6)
        return ActorCriticOutput(
            jnp.logaddexp(jnp.log(share) + observation.log_probs, jnp.log1p(-share) + own), value
        )


class ImitationLosses(NamedTuple):
    """Means over a minibatch; `total` is minimised."""

    total: Scalar
    divergence: Scalar
    """[nats], KL divergence from the teacher to the network."""
    agreement: Scalar
    """How often the best candidates of both are the same."""
    critic: Scalar
    grad_norm: Scalar


class ImitationInfo(NamedTuple):
    """What happened in one update."""

    tally: PyTree
    steps: Int[Array, ""]
    divergence: Scalar
    agreement: Scalar
    held_divergence: Scalar
    """On problems from which nothing is learned, before the update."""
    held_agreement: Scalar
    critic_loss: Scalar
    explained: Scalar
    grad_norm: Scalar
    healthy: Bool[Array, ""]


class Imitator(NamedTuple):
    """Imitation is a pair of pure functions, as a learner is."""

    init: Callable[[Key], LearnerState]
    update: Callable[[Key, LearnerState], tuple[LearnerState, ImitationInfo]]


def taught_encoder(
    encoder_for: Callable[[SearchProblem], Encoder], teacher_for: Callable[[SearchProblem], Teacher]
) -> Callable[[SearchProblem], TaughtEncoder]:
    """Return the function from a search to its encoder with the teacher."""
    return lambda search: TaughtEncoder(encoder_for(search), teacher_for(search))


def build(
    rollout: Rollout,
    network_of_key: NetworkOfKey,
    config: PPOConfig,
    *,
    total_steps: int,
    held_out: Bool[np.ndarray, " searches"],
) -> Imitator:
    """Build imitation on rollouts with a `TaughtEncoder`. Nothing is learned from searches held out.

    The share of moves that the teacher makes falls from 1 to 0 over `total_steps`, as the learning rate does.
    The value is learned from the returns, by the critic's part of PPO.
    """
    optimiser = build_optimiser(config)

    def update(key: Key, state: LearnerState) -> tuple[LearnerState, ImitationInfo]:
        rollout_key, order_key = jax.random.split(key)
        share = state.steps / total_steps
        mixture = Mixture(state.network, 1.0 - share)
        environments, transitions, tally = rollout.run(rollout_key, mixture, state.environments)
        moves, explained = compute_advantages(transitions, config)
        held = _compare(state.network, transitions.observation, transitions.valid, held_out)
        learned = (transitions.valid & ~jnp.asarray(held_out)[None, :]).reshape(-1)
        network, optimiser_state, means, healthy = optimise(
            order_key, state, moves, learned, optimiser, config, share, imitation_loss, ImitationLosses
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
        info = ImitationInfo(
            tally,
            steps,
            means.divergence,
            means.agreement,
            *held,
            means.critic,
            explained,
            means.grad_norm,
            healthy,
        )
        return after, info

    return Imitator(build_init(rollout, network_of_key, optimiser), update)


def _compare(
    network: Any, observation: TaughtObservation, valid: Array, held_out: Bool[np.ndarray, " searches"]
) -> tuple[Scalar, Scalar]:
    """Return divergence and agreement on the searches that are held out."""
    members = np.flatnonzero(held_out)
    if members.size == 0:
        return jnp.zeros(()), jnp.zeros(())
    flat = lambda leaf: leaf[:, members].reshape(-1, *leaf.shape[2:])  # noqa: E731
    some, is_valid = jax.tree.map(flat, observation), flat(valid)
    logits = jax.vmap(network)(some.observation).logits
    divergences, agrees = _differences(logits, some.log_probs)
    return losses.masked_mean(divergences, is_valid), losses.masked_mean(agrees, is_valid)


def _differences(
    logits: Float[Array, "batch actions"], log_probs: Float[Array, "batch actions"]
) -> tuple[Float[Array, " batch"], Float[Array, " batch"]]:
    """Return the divergence from teacher to network, and whether both have the same best candidate."""
    own = jax.nn.log_softmax(logits)
    divergences = jnp.sum(jnp.exp(log_probs) * (log_probs - own), axis=-1)
    agrees = jnp.argmax(logits, axis=-1) == jnp.argmax(log_probs, axis=-1)
    return divergences, agrees.astype(jnp.float32)


def imitation_loss(
    weights: PyTree,
    rest: PyTree,
    moves: Moves,
    valid: Bool[Array, " batch"],
    config: PPOConfig,
    entropy_weight: Scalar,
) -> tuple[Scalar, ImitationLosses]:
    """Return the divergence from the teacher, and the critic's error."""
    network, observation = eqx.combine(weights, rest), moves.observation
    output = jax.vmap(network)(observation.observation)
    divergences, agrees = _differences(output.logits, observation.log_probs)
    mean = lambda numbers: losses.masked_mean(numbers, valid)  # noqa: E731
    divergence = mean(divergences)
    critic = mean(losses.value_loss(output.value, moves.target))
    total = divergence + config.value_weight * critic - entropy_weight * mean(losses.entropy(output.logits))
    return total, ImitationLosses(total, divergence, mean(agrees), critic, jnp.zeros(()))
