"""Actor-critic networks: from an observation to the logits of the actions and a value."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dowsax.policies.encoders import (
    CandidateObservation,
    MomentObservation,
    Observation,
    ParticleObservation,
)
from dowsax.types import Key, Scalar

MASKED_LOGIT = -1e9
"""The logit of a move that does not fit: its probability is 0, and every sum with it stays finite."""
_ACTOR_OUTPUT_GAIN = 0.01
"""An untrained policy is nearly uniform."""


class ActorCriticOutput(NamedTuple):
    """The output of an actor-critic network."""

    logits: Float[Array, " actions"]
    """Unnormalised log probabilities; `MASKED_LOGIT` for a move that is cut short while another fits."""
    value: Scalar
    """The expected return."""


@runtime_checkable
class Network(Protocol):
    """A network for the observations of one encoder."""

    def __call__(self, observation: Any) -> ActorCriticOutput: ...


class Layers(eqx.Module):
    """Dense layers with an activation between them."""

    layers: tuple[eqx.nn.Linear, ...]
    activation: Any = eqx.field(static=True)

    @staticmethod
    def build(key: Key, widths: tuple[int, ...], activation, last_gain: float = math.sqrt(2)) -> "Layers":
        """Orthogonal weights and no bias; `last_gain` is the size of the last layer's weights."""
        keys = jax.random.split(key, len(widths) - 1)
        gains = [math.sqrt(2)] * (len(widths) - 2) + [last_gain]
        layers = tuple(_dense(*row) for row in zip(keys, widths[:-1], widths[1:], gains, strict=True))
        return Layers(layers, activation)

    def __call__(self, numbers: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        for layer in self.layers[:-1]:
            numbers = self.activation(layer(numbers))
        return self.layers[-1](numbers)


def _dense(key: Key, num_inputs: int, num_outputs: int, gain: float) -> eqx.nn.Linear:
    weight = jax.nn.initializers.orthogonal(gain)(key, (num_outputs, num_inputs), jnp.float32)
    blank = eqx.nn.Linear(num_inputs, num_outputs, key=key)
    return eqx.tree_at(lambda layer: (layer.weight, layer.bias), blank, (weight, jnp.zeros(num_outputs)))


def mask_logits(logits: Float[Array, " actions"], free: Bool[Array, " actions"]) -> Float[Array, " actions"]:
    """Set the logits of moves that are cut short to `MASKED_LOGIT`, unless every move is."""
    return jnp.where(free | ~jnp.any(free), logits, MASKED_LOGIT)


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
        actor = Layers.build(actor_key, (*widths, sizes.num_actions), jnp.tanh, _ACTOR_OUTPUT_GAIN)
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
            _dense(actor_key, sizes.trunk, sizes.num_actions, _ACTOR_OUTPUT_GAIN),
            _dense(critic_key, sizes.trunk, 1, 1.0),
            sizes,
        )

    def __call__(self, observation: ParticleObservation) -> ActorCriticOutput:
        encoded = jax.nn.relu(jax.vmap(self.encoder)(observation.particles))
        pooled = [jnp.mean(encoded, axis=0), jnp.max(encoded, axis=0), observation.numbers]
        hidden = jax.nn.relu(self.trunk(jnp.concatenate(pooled)))
        return ActorCriticOutput(
            mask_logits(self.actor(hidden)[observation.order], observation.free), self.critic(hidden)[0]
        )


@dataclass(frozen=True)
class CandidateSizes:
    """Static sizes of a `CandidateNetwork`, which does not depend on the number of candidates."""

    num_features: int
    num_numbers: int
    width: int = 64


class CandidateNetwork(eqx.Module):
    """A score of each candidate, by itself and among the others: their order does not matter."""

    encoder: Layers
    context: Layers
    scorer: Layers
    critic: eqx.nn.Linear
    sizes: CandidateSizes = eqx.field(static=True)

    @staticmethod
    def build(key: Key, sizes: CandidateSizes) -> "CandidateNetwork":
        """Build an untrained network, whose policy is nearly uniform."""
        encoder_key, context_key, scorer_key, critic_key = jax.random.split(key, 4)
        width = sizes.width
        return CandidateNetwork(
            Layers.build(encoder_key, (sizes.num_features, width, width), jax.nn.relu),
            Layers.build(context_key, (2 * width + sizes.num_numbers, width, width), jax.nn.relu),
            Layers.build(scorer_key, (2 * width, width, 1), jax.nn.relu, _ACTOR_OUTPUT_GAIN),
            _dense(critic_key, width, 1, 1.0),
            sizes,
        )

    def __call__(self, observation: CandidateObservation) -> ActorCriticOutput:
        encoded = jax.nn.relu(jax.vmap(self.encoder)(observation.candidates))
        free = (observation.free | ~jnp.any(observation.free))[:, None]
        # Activations are at least 0, so that 0 is below the highest of the candidates that count.
        pooled = [jnp.mean(encoded, axis=0, where=free), jnp.max(encoded, axis=0, where=free, initial=0.0)]
        context = jax.nn.relu(self.context(jnp.concatenate([*pooled, observation.numbers])))
        scores = jax.vmap(lambda one: self.scorer(jnp.concatenate([one, context]))[0])(encoded)
        return ActorCriticOutput(mask_logits(scores, observation.free), self.critic(context)[0])


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
