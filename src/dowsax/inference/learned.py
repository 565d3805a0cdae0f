"""Projections g of the attention that were trained and frozen: one file of arrays and one card beside it.

The arrays are in safetensors, named by layer; the card is JSON and says how they came about. The package
ships the weights in `pretrained/`; a path to such a file works wherever a name does.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from dowsax.files import replacing, write_through
from dowsax.inference.attention import AttentionConfig
from dowsax.inference.features import MLPProjection

FORMAT = 1
SHIPPED = Path(__file__).with_name("pretrained")
PROJECTION = "projection"
"""The name of the projection that ships with the package."""


def save_projection(path: Path, projection: MLPProjection, card: dict[str, Any]) -> None:
    """Write the arrays to `path` and the card beside it, each whole or not at all.

    The card gets the sizes of the network and the format; `epsilon` and `num_neighbours` must be in it.
    """
    AttentionConfig(card["epsilon"], card["num_neighbours"])
    arrays = {name: np.asarray(leaf) for name, leaf in _named(projection).items()}
    header = {"format": FORMAT, "kind": "MLPProjection", "sizes": _sizes(projection)}
    path.parent.mkdir(parents=True, exist_ok=True)
    described = (json.dumps(header | card, indent=1) + "\n").encode()
    for place, data in ((path, safetensors.numpy.save(arrays)), (path.with_suffix(".json"), described)):
        with replacing(place) as partial:
            write_through(partial, data)


@lru_cache(maxsize=8)
def load_projection(name: str) -> MLPProjection:
    """The projection of this name, or in this .safetensors file, or a ValueError in one line.

    Its leaves are NumPy arrays, so that it may be loaded while a program is traced.
    """
    path, card = _path(name), load_card(name)
    try:
        arrays = safetensors.numpy.load(path.read_bytes())
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{path} cannot be read ({error}): it is cut short or no safetensors file."
        ) from None
    skeleton = eqx.filter_eval_shape(MLPProjection.build, jax.random.key(0), **card["sizes"])
    wanted = {name: leaf.shape for name, leaf in _named(skeleton).items()}
    found = {name: array.shape for name, array in arrays.items()}
    if wanted != found:
        raise ValueError(f"{path} and its card differ: the card asks for {wanted}, the file holds {found}.")
    if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values()):
        raise ValueError(f"{path} holds weights that are not finite float32 numbers: train them again.")
    leaves = [arrays[name] for name in wanted]
    return eqx.tree_at(lambda at: list(_named(at).values()), skeleton, leaves)


def projection_for(name: str, num_parameters: int) -> MLPProjection:
    """The projection, or a ValueError where Θ has another number of columns than it was trained on."""
    projection = load_projection(name)
    trained = _sizes(projection)["num_features"] - 2
    if trained != num_parameters:
        raise ValueError(
            f"The projection {name!r} was trained for {trained} parameters and this model has "
            f"{num_parameters}: train another, or use the standardising one."
        )
    return projection


def load_card(name: str) -> dict[str, Any]:
    """What is known about the projection: how it was trained, its ε and number of neighbours, results."""
    path = _path(name).with_suffix(".json")
    try:
        card = json.loads(path.read_text())
    except OSError:
        raise ValueError(
            f"The card {path} is missing: it belongs beside the weights of the same name."
        ) from None
    except ValueError:
        raise ValueError(f"The card {path} is not JSON: it is cut short or was edited.") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT or card.get("kind") != "MLPProjection":
        raise ValueError(f"{path} is no card of a projection in format {FORMAT}: train or install it again.")
    missing = [field for field in ("sizes", "epsilon", "num_neighbours") if field not in card]
    if missing:
        raise ValueError(f"The card {path} lacks {', '.join(missing)}: train or install it again.")
    return card


def learned_attention(name: str = PROJECTION) -> AttentionConfig:
    """The smoothing for which the projection was trained: its ε and its number of neighbours."""
    card = load_card(name)
    return AttentionConfig(epsilon=card["epsilon"], num_neighbours=card["num_neighbours"])


def known_projections() -> list[str]:
    """The names of those that ship with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.safetensors"))


def _path(name: str) -> Path:
    path = Path(name) if name.endswith(".safetensors") else SHIPPED / f"{name}.safetensors"
    if not path.is_file():
        known = ", ".join(known_projections())
        raise ValueError(f"No projection {name!r}: known are {known}, or the path of a .safetensors file.")
    return path


def _named(projection: MLPProjection) -> dict[str, Any]:
    """Its arrays, by layer."""
    layers = enumerate(projection.network.layers)
    return {
        f"layers.{at}.{part}": getattr(layer, part) for at, layer in layers for part in ("weight", "bias")
    }


def _sizes(projection: MLPProjection) -> dict[str, int]:
    shapes = [layer.weight.shape for layer in projection.network.layers]
    return {"num_features": shapes[0][1], "num_embedding": shapes[-1][0], "width": shapes[0][0]}
