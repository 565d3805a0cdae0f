"""A network as a policy."""

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.inference import Belief
from dowsax.policies.base import Action, best
from dowsax.policies.networks import Network
from dowsax.policies.sight import Sight
from dowsax.types import Key, Station
from dowsax.world import FOUR_MOVES, Motion


class Neural(eqx.Module):
    """The action that appeals most to a network, or one drawn by its odds."""

    sight: Sight
    network: Network
    motion: Motion = FOUR_MOVES
    sample: bool = eqx.field(default=False, static=True)

    def __call__(self, key: Key, belief: Belief, station: Station) -> Action:
        seen_key, choice_key = jax.random.split(key)
        logits = self.network(self.sight(seen_key, belief, station)).logits
        if self.sample:
            return jax.random.categorical(choice_key, logits).astype(jnp.int32)
        return best(choice_key, logits, self.motion.free(station.position))
