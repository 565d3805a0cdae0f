"""A value network for the olfactory search: the mean steps to the source from a belief, and moves by it.

The belief is seen from the searcher, through hat functions that are narrow nearby and wide far away, so that
a small network suffices for a large grid. It corrects the time that space-aware infotaxis expects, and its
correction is averaged over the turns and mirrors under which the case does not change.
"""

import json
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import safetensors
import safetensors.numpy
from jaxtyping import Array, Float
from safetensors import SafetensorError

from dowsax.files import replace_file, write_through
from dowsax.leaderboards.otto import Case
from dowsax.leaderboards.otto_policies import chances_and_times
from dowsax.leaderboards.otto_search import LEAST, After, Belief, Place
from dowsax.types import Key, Scalar

PRETRAINED_FOLDER = Path(__file__).with_name("pretrained")
_GROWTH = 0.3
"""Knots are apart by this share of their distance from the searcher, and at least by one cell."""
_SCALE = 8.0
"""Makes the square roots of the shares of the belief about as large as one."""
_MAX_LOG = 6.0
"""Of the correction, either way."""

_CARD = "card"

Picture = Float[Array, "kx ky"]


def knots(limit: int) -> np.ndarray:
    """Return where hat functions stand: 0 to `limit` cells from the searcher, on both sides."""
    found = [0]
    while found[-1] < limit:
        found.append(min(limit, found[-1] + max(1, round(_GROWTH * found[-1]))))
    return np.array([-knot for knot in found[:0:-1]] + found)


def hats(number: int) -> Float[np.ndarray, "offsets k"]:
    """Return the hat functions at all offsets on an axis of `number` cells; at each they sum to one."""
    places = knots(number - 1)
    offsets = np.arange(1 - number, number)
    return np.stack([np.interp(offsets, places, one) for one in np.eye(len(places))], axis=1)


def pictures(case: Case, joint: Float[Array, "hits nx ny"], place: Place) -> Float[Array, "hits kx ky"]:
    """Return what the hat functions, centred on the searcher, hold of each belief."""
    east, north = (
        jax.lax.dynamic_slice_in_dim(jnp.asarray(hats(number), float), number - 1 - at, number)
        for number, at in zip(case.shape, place, strict=True)
    )
    return jnp.einsum("xk,hxy,yl->hkl", east, joint, north)


def orientations(case: Case) -> tuple[int, ...]:
    """Return the numbers of the turns and mirrors that leave the case as it is, for `orient`."""
    return tuple(range(8)) if case.may_get_stuck else (0, 2)


def orient(picture: Picture, number: int) -> Picture:
    """Return a picture turned or mirrored: bits of the number mirror its axes, and swap them."""
    flipped = picture[::-1] if number & 1 else picture
    flipped = flipped[:, ::-1] if number & 2 else flipped
    return flipped.T if number & 4 else flipped


class ValueNetwork(eqx.Module):
    """From a picture of the belief to the logarithm of the correction."""

    layers: list[eqx.nn.Linear]

    @staticmethod
    def build(key: Key, case: Case, widths: tuple[int, ...]) -> "ValueNetwork":
        """Return an untrained network, which corrects nothing."""
        sizes = (int(np.prod([len(knots(number - 1)) for number in case.shape])) + 1, *widths, 1)
        keys = jax.random.split(key, len(sizes) - 1)
        pairs = zip(sizes[:-1], sizes[1:], keys, strict=True)
        layers = [eqx.nn.Linear(before, after, key=key) for before, after, key in pairs]
        last = layers[-1]
        zeros = jnp.zeros_like(last.weight), jnp.zeros(1)
        layers[-1] = eqx.tree_at(lambda at: (at.weight, at.bias), last, zeros)
        return ValueNetwork(layers)

    def __call__(self, picture: Picture, time: Scalar) -> Scalar:
        """Return the logarithm of the correction of a time [steps]."""
        shares = _SCALE * jnp.sqrt(jnp.maximum(picture, 0.0))
        hidden = jnp.append(shares.ravel(), jnp.log(time))
        for layer in self.layers[:-1]:
            hidden = jax.nn.relu(layer(hidden))
        return _MAX_LOG * jnp.tanh(self.layers[-1](hidden)[0] / _MAX_LOG)


class ValuePolicy(eqx.Module):
    """Costs of moves: the mean steps to the source after each, by a value network."""

    network: ValueNetwork

    def __call__(self, case: Case, belief: Belief, place: Place, after: After) -> Float[Array, " moves"]:
        chances, times = chances_and_times(case, after)
        seen = normalised_pictures(case, after, chances)
        values = jax.vmap(jax.vmap(partial(mean_steps, self.network, orientations(case))))(seen, times)
        return jnp.sum(chances * values, axis=1)


def mean_steps(network: ValueNetwork, numbers: tuple[int, ...], picture: Picture, time: Scalar) -> Scalar:
    """Return the mean steps to the source, its correction averaged over these orientations."""
    turned = jnp.stack([orient(picture, number) for number in numbers])
    return time * jnp.exp(jnp.mean(jax.vmap(network, (0, None))(turned, time)))


def normalised_pictures(
    case: Case, after: After, chances: Float[Array, "moves hits"]
) -> Float[Array, "moves hits kx ky"]:
    """Return the pictures of the beliefs after each move and reading."""
    seen = jax.vmap(lambda joint, place: pictures(case, joint, place))(after.joint, after.places)
    return seen / jnp.maximum(chances, LEAST)[..., None, None]


def save_network(path: Path, network: ValueNetwork, card: dict[str, Any]) -> None:
    """Write the weights as half floats, and a card (how they were trained) in the header of the same file."""
    arrays = {name: np.asarray(leaf, np.float16) for name, leaf in _named(network).items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as partial_file:
        write_through(partial_file, safetensors.numpy.save(arrays, {_CARD: json.dumps(card)}))


def load_network(path: Path, case: Case) -> ValueNetwork:
    """Load the value network of a case; ValueError if the file cannot be used for it."""
    try:
        arrays = safetensors.numpy.load(path.read_bytes())
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{path} cannot be read ({error}): give a safetensors file of benchmarks.otto_training."
        ) from None
    widths = tuple(arrays[f"layers.{at}.bias"].size for at in range(len(arrays) // 2 - 1))
    network = ValueNetwork.build(jax.random.key(0), case, widths)
    expected = {name: leaf.shape for name, leaf in _named(network).items()}
    found = {name: array.shape for name, array in arrays.items()}
    if expected != found:
        raise ValueError(f"{path} holds {found}, and the case {case.slug} needs {expected}: train it again.")
    leaves = [jnp.asarray(arrays[name], jnp.float32) for name in expected]
    if not all(bool(jnp.isfinite(leaf).all()) for leaf in leaves):
        raise ValueError(f"{path} holds weights that are not finite: train it again.")
    return eqx.tree_at(lambda at: list(_named(at).values()), network, leaves)


def load_card(path: Path) -> dict[str, Any]:
    """Return how the weights in a file were trained."""
    with safetensors.safe_open(path, "numpy") as file:
        return json.loads(file.metadata()[_CARD])


@lru_cache(maxsize=8)
def shipped_policy(case: Case) -> ValuePolicy:
    """Return the policy of the network that ships for a case."""
    return ValuePolicy(load_network(network_path(case), case))


def network_path(case: Case) -> Path:
    """Return where the shipped weights of a case are, if there are any."""
    return PRETRAINED_FOLDER / f"otto-{case.slug}.safetensors"


def _named(network: ValueNetwork) -> dict[str, Any]:
    layers = enumerate(network.layers)
    return {
        f"layers.{at}.{part}": getattr(layer, part) for at, layer in layers for part in ("weight", "bias")
    }
