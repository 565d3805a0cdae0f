"""Parts of networks: dense layers, the output of actor and critic, and logits of what cannot be reached."""

import math
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dowsax.types import Key, Scalar

MASKED_LOGIT = -1e9
"""The logit of a move that does not fit: its probability is 0, and every sum with it stays finite."""
ACTOR_OUTPUT_GAIN = 0.01
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
        layers = tuple(dense(*row) for row in zip(keys, widths[:-1], widths[1:], gains, strict=True))
        return Layers(layers, activation)

    def __call__(self, numbers: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        for layer in self.layers[:-1]:
            numbers = self.activation(layer(numbers))
        return self.layers[-1](numbers)


def dense(key: Key, num_inputs: int, num_outputs: int, gain: float) -> eqx.nn.Linear:
    """Return a layer with orthogonal weights of this size and no bias."""
    weight = jax.nn.initializers.orthogonal(gain)(key, (num_outputs, num_inputs), jnp.float32)
    blank = eqx.nn.Linear(num_inputs, num_outputs, key=key)
    return eqx.tree_at(lambda layer: (layer.weight, layer.bias), blank, (weight, jnp.zeros(num_outputs)))


def mask_logits(logits: Float[Array, " actions"], free: Bool[Array, " actions"]) -> Float[Array, " actions"]:
    """Set the logits of moves that are cut short to `MASKED_LOGIT`, unless every move is."""
    return jnp.where(free | ~jnp.any(free), logits, MASKED_LOGIT)
