"""Actor-critic networks: from an observation to the logits of the actions and a value."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.policies.candidate_network import CandidateNetwork, CandidateSizes
from dowsax.policies.encoders import (
    CandidateObservation,
    MomentObservation,
    Observation,
    ParticleObservation,
)
from dowsax.policies.layers import ACTOR_OUTPUT_GAIN, ActorCriticOutput, Layers, Network, dense, mask_logits
from dowsax.types import Key

__all__ = [
    "NETWORKS",
    "ActorCriticOutput",
    "CandidateNetwork",
    "CandidateSizes",
    "Network",
    "PaperNetwork",
    "PaperSizes",
    "SetNetwork",
    "SetSizes",
    "build_network",
]


@dataclass(frozen=True)
class PaperSizes:
    """Static sizes of a `PaperNetwork`."""

    num_numbers: int
    num_actions: int
    width: int = 64


class PaperNetwork(eqx.Module):
    """The paper's actor and critic on [p, z, μ, σ]: two networks of two hidden layers with tanh."""

    actor: Layers
    critic: Layers
    sizes: PaperSizes = eqx.field(static=True)

    @staticmethod
    def build(key: Key, sizes: PaperSizes) -> "PaperNetwork":
        """Build an untrained network, whose policy is nearly uniform."""
        actor_key, critic_key = jax.random.split(key)
        widths = (sizes.num_numbers, sizes.width, sizes.width)
        actor = Layers.build(actor_key, (*widths, sizes.num_actions), jnp.tanh, ACTOR_OUTPUT_GAIN)
        return PaperNetwork(actor, Layers.build(critic_key, (*widths, 1), jnp.tanh, 1.0), sizes)

    def __call__(self, observation: MomentObservation) -> ActorCriticOutput:
        return ActorCriticOutput(
            mask_logits(self.actor(observation.numbers), observation.free),
            self.critic(observation.numbers)[0],
        )


@dataclass(frozen=True)
class SetSizes:
    """Static sizes of a `SetNetwork`."""

    num_features: int
    num_numbers: int
    num_actions: int
    width: int = 64
    """Of the layers that every particle goes through."""
    trunk: int = 192
    """Of the layers that see them all."""


class SetNetwork(eqx.Module):
    """Every particle through the same layers, pooled by mean and maximum, and joined with the numbers.

    The output does not depend on the order of the particles. Features are those after the symmetry; the
    logits are for the actions before it.
    """

    encoder: Layers
    trunk: Layers
    actor: eqx.nn.Linear
    critic: eqx.nn.Linear
    sizes: SetSizes = eqx.field(static=True)

    @staticmethod
    def build(key: Key, sizes: SetSizes) -> "SetNetwork":
        """Build an untrained network, whose policy is nearly uniform."""
        encoder_key, trunk_key, actor_key, critic_key = jax.random.split(key, 4)
        joined = 2 * sizes.width + sizes.num_numbers
        return SetNetwork(
            Layers.build(encoder_key, (sizes.num_features, sizes.width, sizes.width), jax.nn.relu),
            Layers.build(trunk_key, (joined, sizes.trunk, sizes.trunk), jax.nn.relu),
            dense(actor_key, sizes.trunk, sizes.num_actions, ACTOR_OUTPUT_GAIN),
            dense(critic_key, sizes.trunk, 1, 1.0),
            sizes,
        )

    def __call__(self, observation: ParticleObservation) -> ActorCriticOutput:
        encoded = jax.nn.relu(jax.vmap(self.encoder)(observation.particles))
        pooled = [jnp.mean(encoded, axis=0), jnp.max(encoded, axis=0), observation.numbers]
        hidden = jax.nn.relu(self.trunk(jnp.concatenate(pooled)))
        return ActorCriticOutput(
            mask_logits(self.actor(hidden)[observation.order], observation.free), self.critic(hidden)[0]
        )


NETWORKS = {
    "paper": (PaperNetwork, PaperSizes),
    "set": (SetNetwork, SetSizes),
    "candidates": (CandidateNetwork, CandidateSizes),
}
"""The networks by name, with the dataclass of their sizes."""


def build_network(key: Key, observation: Observation) -> PaperNetwork | SetNetwork | CandidateNetwork:
    """Build an untrained network for an observation, which may be shapes only (`jax.eval_shape`)."""
    num_numbers, num_actions = observation.numbers.shape[0], observation.free.shape[0]
    if isinstance(observation, MomentObservation):
        return PaperNetwork.build(key, PaperSizes(num_numbers, num_actions))
    if isinstance(observation, CandidateObservation):
        return CandidateNetwork.build(key, CandidateSizes(observation.candidates.shape[1], num_numbers))
    return SetNetwork.build(key, SetSizes(observation.particles.shape[1], num_numbers, num_actions))
