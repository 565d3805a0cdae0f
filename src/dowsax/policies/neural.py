"""A policy from an encoder and a network."""

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.inference import Belief
from dowsax.policies.base import Action, choose_best
from dowsax.policies.encoders import Encoder
from dowsax.policies.networks import Network
from dowsax.types import Key, Station
from dowsax.world import Budget, Candidates


class Neural(eqx.Module):
    """The most probable action of a network, or, with `sample`, one drawn from its distribution."""

    encoder: Encoder
    network: Network
    sample: bool = eqx.field(default=False, static=True)

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action:
        observation_key, choice_key = jax.random.split(key)
        observation = self.encoder(observation_key, belief, station, candidates, budget)
        logits = self.network(observation).logits
        if self.sample:
            return jax.random.categorical(choice_key, logits).astype(jnp.int32)
        return choose_best(choice_key, logits, candidates.mask)
