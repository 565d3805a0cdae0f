"""Frozen projections: what is written is what is read, and what cannot be used says why in one line."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy

from dowsax.inference import PRESETS, Preset
from dowsax.inference.attention import STANDARDISE
from dowsax.inference.features import MLPProjection
from dowsax.inference.learned import (
    PROJECTION,
    known_projections,
    learned_attention,
    load_card,
    load_projection,
    projection_for,
    save_projection,
)
from dowsax.inference.weights import normalise
from dowsax.world import benchmark_model

CARD = {"epsilon": 0.25, "num_neighbours": 8}


@pytest.fixture
def stored(tmp_path, key):
    """An untrained projection and the file it was saved to."""
    projection = MLPProjection.build(key, 5, 4, 6)
    path = tmp_path / "g.safetensors"
    save_projection(path, projection, CARD)
    load_projection.cache_clear()
    return projection, path


def test_round_trip_is_exact(stored, key):
    projection, path = stored
    loaded = load_projection(str(path))
    for before, after in zip(jax.tree.leaves(projection), jax.tree.leaves(loaded), strict=True):
        if eqx.is_array_like(before):
            np.testing.assert_array_equal(before, after)
    attention = learned_attention(str(path))
    assert (attention.epsilon, attention.num_neighbours) == (0.25, 8)
    assert sorted(file.name for file in path.parent.iterdir()) == ["g.json", "g.safetensors"]


def test_it_may_be_loaded_while_a_program_is_traced(stored, key):
    """The arrays are constants of the program and no tracers stay behind in the cache."""
    projection, path = stored
    features, log_weights = jax.random.normal(key, (16, 5)), normalise(jnp.zeros(16))
    within = jax.jit(lambda features: load_projection(str(path))(features, log_weights))(features)
    outside = jax.jit(load_projection(str(path)).__call__)(features, log_weights)
    # One matrix product in two programs: the same but for the order of additions.
    np.testing.assert_allclose(within, outside, atol=1e-6)
    np.testing.assert_allclose(within, projection(features, log_weights), atol=1e-6)


def edit_card(path, **changes):
    card = json.loads(path.with_suffix(".json").read_text()) | changes
    path.with_suffix(".json").write_text(json.dumps(card))


def edit_arrays(path, change):
    arrays = safetensors.numpy.load_file(path)
    change(arrays)
    safetensors.numpy.save_file(arrays, path)


FAULTS = {
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:-7]), "cut short"),
    "empty": (lambda path: path.write_bytes(b""), "cut short"),
    "no card": (lambda path: path.with_suffix(".json").unlink(), "missing"),
    "half a card": (lambda path: path.with_suffix(".json").write_text('{"format": 1,'), "not JSON"),
    "a list for a card": (lambda path: path.with_suffix(".json").write_text("[]"), "no card"),
    "another format": (lambda path: edit_card(path, format=2), "no card of a projection in format 1"),
    "another network": (lambda path: edit_card(path, kind="SetNetwork"), "no card of a projection"),
    "another size": (
        lambda path: edit_card(path, sizes={"num_features": 5, "num_embedding": 4, "width": 7}),
        "differ",
    ),
    "an array missing": (lambda path: edit_arrays(path, lambda at: at.pop("layers.0.bias")), "differ"),
    "not finite": (lambda path: edit_arrays(path, lambda at: at["layers.0.bias"].fill(np.nan)), "not finite"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_that_says_what_to_do(stored, fault):
    _, path = stored
    spoil, words = FAULTS[fault]
    spoil(path)
    with pytest.raises(ValueError, match=words) as caught:
        load_projection(str(path))
    assert "\n" not in str(caught.value)


def test_a_card_without_its_numbers_is_refused(stored):
    _, path = stored
    card = json.loads(path.with_suffix(".json").read_text())
    del card["epsilon"]
    path.with_suffix(".json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match="lacks epsilon"):
        load_card(str(path))


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=f"known are {PROJECTION}"):
        load_projection("nonesuch")


def test_the_shipped_one_fits_the_benchmark_and_no_other_model():
    assert PROJECTION in known_projections()
    model = benchmark_model("gas")
    assert projection_for(PROJECTION, len(model.prior.parameters)).network.in_size == 9
    with pytest.raises(ValueError, match="trained for 7 parameters and this model has 3"):
        projection_for(PROJECTION, 3)
    card = load_card(PROJECTION)
    assert "benchmarks.projection_study train" in card["command"]
    assert 0 < learned_attention().epsilon < 1
    # The preset says the same without reading the card when it is imported.
    assert PRESETS["training-attention"].config.attention == learned_attention()


def test_a_preset_hands_its_projection_to_the_filter():
    """Presets stay hashable, as programs are compiled for each."""
    plain = PRESETS["default"]
    preset = Preset(plain.config, plain.proposals, projection=PROJECTION)
    assert hash(preset) != hash(plain)
    model = benchmark_model("gas")
    used = [made.build(model).step.__self__.project for made in (plain, preset)]
    assert used[0] is STANDARDISE
    assert used[1] is load_projection(PROJECTION)
