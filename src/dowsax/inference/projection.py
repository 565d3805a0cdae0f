"""The trained projection g of the attention: a small network, loaded from a file of arrays and its card.

The arrays are in safetensors, named by layer; the card beside them is JSON and says how they were trained.
The package ships one in `pretrained/`.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
import safetensors.numpy
from jaxtyping import Array, Float
from safetensors import SafetensorError

from dowsax.inference.features import Standardise
from dowsax.types import Key

CARD_FORMAT = 1
PRETRAINED_FOLDER = Path(__file__).with_name("pretrained")
PROJECTION = "projection"
"""The name of the projection that ships with the package."""
SUFFIX = ".safetensors"
"""Of the path of a projection that the user has trained."""


class MLPProjection(eqx.Module):
    """A small network on the standardised features: g of the paper, with weights that can be trained."""

    network: eqx.nn.MLP
    standardise: Standardise = Standardise()

    @staticmethod
    def build(key: Key, num_features: int, num_embedding: int = 8, width: int = 32) -> "MLPProjection":
        """Return an untrained projection with one hidden layer."""
        return MLPProjection(eqx.nn.MLP(num_features, num_embedding, width, 1, jax.nn.tanh, key=key))

    def __call__(self, features: Float[Array, "n f"], log_weights: Float[Array, " n"]) -> Float[Array, "n e"]:
        return jax.vmap(self.network)(self.standardise(features, log_weights))

    @property
    def arrays(self) -> dict[str, Any]:
        """The weights and biases, named by layer."""
        layers = enumerate(self.network.layers)
        return {
            f"layers.{at}.{part}": getattr(layer, part) for at, layer in layers for part in ("weight", "bias")
        }

    @property
    def sizes(self) -> dict[str, int]:
        """The arguments of `build` but for the key."""
        shapes = [layer.weight.shape for layer in self.network.layers]
        return {"num_features": shapes[0][1], "num_embedding": shapes[-1][0], "width": shapes[0][0]}


@lru_cache(maxsize=8)
def load_projection(name: str) -> MLPProjection:
    """Load a projection by its shipped name or from a .safetensors file; ValueError if it cannot be used.

    Its leaves are NumPy arrays, so that it may be loaded while a program is traced.
    """
    path, card = projection_path(name), load_card(name)
    try:
        arrays = safetensors.numpy.load(path.read_bytes())
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{path} cannot be read ({error}): it is cut short or no safetensors file."
        ) from None
    skeleton = eqx.filter_eval_shape(MLPProjection.build, jax.random.key(0), **card["sizes"])
    expected = {name: leaf.shape for name, leaf in skeleton.arrays.items()}
    found = {name: array.shape for name, array in arrays.items()}
    if expected != found:
        raise ValueError(f"{path} and its card differ: the card asks for {expected}, the file holds {found}.")
    if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values()):
        raise ValueError(f"{path} holds weights that are not finite float32 numbers: train them again.")
    leaves = [arrays[name] for name in expected]
    return eqx.tree_at(lambda at: list(at.arrays.values()), skeleton, leaves)


def projection_for(name: str, num_parameters: int) -> MLPProjection:
    """Load a projection for a Θ of `num_parameters` columns; ValueError if it was trained for another."""
    projection = load_projection(name)
    trained = projection.sizes["num_features"] - 2
    if trained != num_parameters:
        raise ValueError(
            f"The projection {name!r} was trained for {trained} parameters and this model has "
            f"{num_parameters}: train another, or use the standardising one."
        )
    return projection


def load_card(name: str) -> dict[str, Any]:
    """Load the card of a projection: its sizes, how it was trained, and results."""
    path = projection_path(name).with_suffix(".json")
    try:
        card = json.loads(path.read_text())
    except OSError:
        raise ValueError(
            f"The card {path} is missing: it belongs beside the weights of the same name."
        ) from None
    except ValueError:
        raise ValueError(f"The card {path} is not JSON: it is cut short or was edited.") from None
    if not isinstance(card, dict) or card.get("format") != CARD_FORMAT or card.get("kind") != "MLPProjection":
        raise ValueError(
            f"{path} is no card of a projection in format {CARD_FORMAT}: train or install it again."
        )
    if "sizes" not in card:
        raise ValueError(f"The card {path} lacks sizes: train or install it again.")
    return card


def projection_path(name: str) -> Path:
    """Return the file of a projection by its shipped name or its own path."""
    path = Path(name) if name.endswith(SUFFIX) else PRETRAINED_FOLDER / f"{name}{SUFFIX}"
    if not path.is_file():
        known = ", ".join(sorted(path.stem for path in PRETRAINED_FOLDER.glob("*.safetensors")))
        raise ValueError(f"No projection {name!r}: known are {known}, or the path of a .safetensors file.")
    return path
