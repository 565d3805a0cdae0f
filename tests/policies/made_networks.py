"""Small networks with weights that are quick to make."""

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.policies.networks import PaperNetwork, PaperSizes, SetNetwork, SetSizes
from dowsax.policies.stored import Card

SMALL = {"paper": (PaperNetwork, PaperSizes(17, 4, 8)), "set": (SetNetwork, SetSizes(10, 239, 4, 8, 8))}
CARDS = {
    "paper": Card("moments", method="paper", fields=("gas",)),
    "set": Card(
        "particles",
        {"num_particles": 16},
        method="att-pfrl",
        fields=("temperature", "gas"),
        command="dowsax train --method att-pfrl",
        settings={"seed": 3},
        commit="0123abc",
        seeds=(0, 1),
        device="cpu",
        steps=1000,
        curves={"path": [40.0, 30.5]},
        results={"gas": {"success": 0.97}},
    ),
}


def small(kind: str):
    """A network of a kind, every weight another number."""
    of, sizes = SMALL[kind]
    shapes = eqx.filter_eval_shape(of.build, jax.random.key(0), sizes)
    keys = iter(jax.random.split(jax.random.key(1), len(jax.tree.leaves(shapes))))
    return jax.tree.map(lambda leaf: jax.random.normal(next(keys), leaf.shape, jnp.float32), shapes)
