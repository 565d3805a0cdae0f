"""A network that scores candidates by what they are, by the belief around them, and among each other.

It sees only lengths and angles between sensor, candidates and particles. So its scores are the same however a
problem is turned or mirrored, in any order of the particles, and they go with the candidates in any order.
"""

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dowsax.policies.encoders import CandidateObservation
from dowsax.policies.layers import ACTOR_OUTPUT_GAIN, ActorCriticOutput, Layers, dense, mask_logits
from dowsax.types import Key

_NUM_PAIR_FEATURES = 6
_MIN_SPREAD = 1e-2
"""Of the stop radius."""
_NO_ATTENTION = -1e9


@dataclass(frozen=True)
class CandidateSizes:
    """Static sizes of a `CandidateNetwork`, for any number of candidates and particles."""

    num_features: int
    num_numbers: int
    width: int = 64
    heads: int = 4
    """Of each attention; they divide the widths."""
    particle_width: int = 32
    """Of what is attended to of a particle; 0 without attention to particles."""


class Attention(eqx.Module):
    """Attention of several heads, of each query to entries of its own."""

    query: eqx.nn.Linear
    key: eqx.nn.Linear
    value: eqx.nn.Linear
    output: eqx.nn.Linear
    num_heads: int = eqx.field(static=True)

    @staticmethod
    def build(key: Key, width: int, entry_width: int, inner: int, num_heads: int) -> "Attention":
        """Build attention of queries of this width to entries of the other; `inner` is that of all heads."""
        keys = jax.random.split(key, 4)
        return Attention(
            dense(keys[0], width, inner, 1.0),
            dense(keys[1], entry_width, inner, 1.0),
            dense(keys[2], entry_width, inner, 1.0),
            dense(keys[3], inner, width, 1.0),
            num_heads,
        )

    def __call__(
        self, queries: Float[Array, "k width"], entries: Float[Array, "#k n entry"], mask: Bool[Array, " n"]
    ) -> Float[Array, "k width"]:
        heads = lambda numbers: numbers.reshape(*numbers.shape[:-1], self.num_heads, -1)  # noqa: E731
        query = heads(jax.vmap(self.query)(queries))
        key = heads(jax.vmap(jax.vmap(self.key))(entries))
        value = heads(jax.vmap(jax.vmap(self.value))(entries))
        key, value = (jnp.broadcast_to(each, (query.shape[0], *each.shape[1:])) for each in (key, value))
        scores = jnp.einsum("khd,knhd->khn", query, key) / math.sqrt(query.shape[-1])
        weights = jax.nn.softmax(jnp.where(mask[None, None, :], scores, _NO_ATTENTION), axis=-1)
        mixed = jnp.einsum("khn,knhd->khd", weights, value)
        return jax.vmap(self.output)(mixed.reshape(query.shape[0], -1))


class CandidateNetwork(eqx.Module):
    """A score of each candidate, by itself, by the particles and among the others, and a value."""

    encoder: Layers
    pairs: Layers | None
    """Of each candidate and particle."""
    to_particles: Attention | None
    to_candidates: Attention
    context: Layers
    scorer: Layers
    critic: Layers
    sizes: CandidateSizes = eqx.field(static=True)

    @staticmethod
    def build(key: Key, sizes: CandidateSizes) -> "CandidateNetwork":
        """Build an untrained network, whose policy is nearly uniform."""
        keys = jax.random.split(key, 7)
        width, inner, heads = sizes.width, sizes.particle_width, sizes.heads
        pairs = to_particles = None
        if inner:
            pairs = Layers.build(keys[1], (_NUM_PAIR_FEATURES, inner, inner), jax.nn.relu)
            to_particles = Attention.build(keys[2], width, inner, inner, heads)
        return CandidateNetwork(
            Layers.build(keys[0], (sizes.num_features + sizes.num_numbers, width, width), jax.nn.relu),
            pairs,
            to_particles,
            Attention.build(keys[3], width, width, width, heads),
            Layers.build(keys[4], (2 * width + sizes.num_numbers, width, width), jax.nn.relu),
            Layers.build(keys[5], (2 * width, width, 1), jax.nn.relu, ACTOR_OUTPUT_GAIN),
            Layers.build(keys[6], (width, width, 1), jax.nn.relu, 1.0),
            sizes,
        )

    def __call__(self, observation: CandidateObservation) -> ActorCriticOutput:
        numbers, free = observation.numbers, observation.free | ~jnp.any(observation.free)
        encode = lambda features: jax.nn.relu(self.encoder(jnp.concatenate([features, numbers])))  # noqa: E731
        encoded = jax.vmap(encode)(observation.candidates)
        if self.pairs is not None and self.to_particles is not None:
            pairs = jax.nn.relu(jax.vmap(jax.vmap(self.pairs))(pair_features(observation)))
            everyone = jnp.ones(pairs.shape[1], bool)
            encoded = jax.nn.relu(encoded + self.to_particles(encoded, pairs, everyone))
        encoded = jax.nn.relu(encoded + self.to_candidates(encoded, encoded[None], free))
        # Activations are at least 0, so that 0 is below the highest of the candidates that count.
        where = free[:, None]
        pooled = [jnp.mean(encoded, axis=0, where=where), jnp.max(encoded, axis=0, where=where, initial=0.0)]
        context = jax.nn.relu(self.context(jnp.concatenate([*pooled, numbers])))
        scores = jax.vmap(lambda one: self.scorer(jnp.concatenate([one, context]))[0])(encoded)
        return ActorCriticOutput(mask_logits(scores, observation.free), self.critic(context)[0])


def pair_features(observation: CandidateObservation) -> Float[Array, "k m features"]:
    """Return how each particle lies to each candidate and to the sensor, and what a reading tells for it."""
    offsets, particles = observation.offsets, observation.particles
    apart = _norm(offsets[:, None, :] - particles[None, :, :])
    shape = apart.shape
    from_here, way = _norm(particles)[None, :], _norm(offsets)[:, None]
    spread = jnp.maximum(_norm(jnp.std(particles, axis=0)), _MIN_SPREAD)
    cosine = jnp.matmul(offsets, particles.T, precision=jax.lax.Precision.HIGHEST)
    cosine = cosine / jnp.maximum(way * from_here, _MIN_SPREAD)
    columns = [
        jnp.log1p(apart),
        apart / (apart + spread),
        jnp.broadcast_to(jnp.log1p(from_here), shape),
        jnp.exp(-0.5 * apart**2),
        cosine,
        observation.signals,
    ]
    return jnp.stack(columns, axis=-1)


def _norm(offsets: Float[Array, "*batch axes"]) -> Float[Array, "*batch"]:
    return jnp.sqrt(jnp.sum(offsets**2, axis=-1))
