"""Files of projections: what is written is what is read."""

import json

import equinox as eqx
import jax
import numpy as np
import pytest

from benchmarks.projection_files import save_projection, trained_attention
from dowsax.inference import PRESETS
from dowsax.inference.projection import PROJECTION, MLPProjection, load_card, load_projection

CARD = {"epsilon": 0.25, "num_neighbours": 8}


@pytest.fixture
def stored(tmp_path, key):
    """An untrained projection and the file it was saved to."""
    projection = MLPProjection.build(key, 5, 4, 6)
    path = tmp_path / "g.safetensors"
    save_projection(path, projection, CARD)
    load_projection.cache_clear()
    return projection, path


def test_round_trip_is_exact(stored):
    projection, path = stored
    loaded = load_projection(str(path))
    for before, after in zip(jax.tree.leaves(projection), jax.tree.leaves(loaded), strict=True):
        if eqx.is_array_like(before):
            np.testing.assert_array_equal(before, after)
    attention = trained_attention(str(path))
    assert (attention.epsilon, attention.num_neighbours) == (0.25, 8)
    assert sorted(file.name for file in path.parent.iterdir()) == ["g.json", "g.safetensors"]


def test_a_card_without_its_numbers_is_refused(stored):
    _, path = stored
    card = json.loads(path.with_suffix(".json").read_text())
    del card["epsilon"]
    path.with_suffix(".json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match="lacks epsilon"):
        trained_attention(str(path))


def test_the_shipped_one_was_trained_for_the_preset_that_uses_it():
    assert "benchmarks.projection_study train" in load_card(PROJECTION)["command"]
    assert PRESETS["training-attention"].config.attention == trained_attention()
