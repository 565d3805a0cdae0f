"""Files of trained projections g of the attention: `dowsax.inference.projection` loads them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from dowsax.files import replace_file, write_through
from dowsax.inference import AttentionConfig
from dowsax.inference.projection import CARD_FORMAT, PROJECTION, MLPProjection, load_card


def save_projection(path: Path, projection: MLPProjection, card: dict[str, Any]) -> None:
    """Write the arrays to `path` and the card beside it, each whole or not at all.

    `epsilon` and `num_neighbours` must be in the card; the sizes of the network and the format are added.
    """
    AttentionConfig(card["epsilon"], card["num_neighbours"])
    arrays = {name: np.asarray(leaf) for name, leaf in projection.arrays.items()}
    header = {"format": CARD_FORMAT, "kind": "MLPProjection", "sizes": projection.sizes}
    path.parent.mkdir(parents=True, exist_ok=True)
    described = (json.dumps(header | card, indent=1) + "\n").encode()
    for place, data in ((path, safetensors.numpy.save(arrays)), (path.with_suffix(".json"), described)):
        with replace_file(place) as partial:
            write_through(partial, data)


def trained_attention(name: str = PROJECTION) -> AttentionConfig:
    """Return the smoothing for which a projection was trained: its ε and its number of neighbours."""
    card = load_card(name)
    missing = [field for field in ("epsilon", "num_neighbours") if field not in card]
    if missing:
        raise ValueError(f"The card of {name} lacks {', '.join(missing)}: train it again.")
    return AttentionConfig(epsilon=card["epsilon"], num_neighbours=card["num_neighbours"])
