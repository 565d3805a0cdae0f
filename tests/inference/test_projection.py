"""Trained projections: what cannot be loaded says why in one line."""

import json
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy

from dowsax.inference import PRESETS, Preset
from dowsax.inference.attention import DEFAULT_PROJECTION
from dowsax.inference.projection import PROJECTION, load_projection, projection_for, projection_path
from dowsax.inference.weights import normalise
from dowsax.world import benchmark_model


@pytest.fixture
def path(tmp_path):
    """A copy of the shipped projection."""
    for suffix in (".safetensors", ".json"):
        shutil.copy(projection_path(PROJECTION).with_suffix(suffix), tmp_path / f"g{suffix}")
    load_projection.cache_clear()
    return tmp_path / "g.safetensors"


def test_it_may_be_loaded_while_a_program_is_traced(path, key):
    """The arrays are constants of the program and no tracers stay behind in the cache."""
    features, log_weights = jax.random.normal(key, (16, 9)), normalise(jnp.zeros(16))
    within = jax.jit(lambda features: load_projection(str(path))(features, log_weights))(features)
    outside = jax.jit(load_projection(str(path)).__call__)(features, log_weights)
    # One matrix product in two programs: the same but for the order of additions.
    np.testing.assert_allclose(within, outside, atol=1e-6)


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
        lambda path: edit_card(path, sizes={"num_features": 9, "num_embedding": 8, "width": 7}),
        "differ",
    ),
    "an array missing": (lambda path: edit_arrays(path, lambda at: at.pop("layers.0.bias")), "differ"),
    "not finite": (lambda path: edit_arrays(path, lambda at: at["layers.0.bias"].fill(np.nan)), "not finite"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_that_says_what_to_do(path, fault):
    spoil, words = FAULTS[fault]
    spoil(path)
    with pytest.raises(ValueError, match=words) as caught:
        load_projection(str(path))
    assert "\n" not in str(caught.value)


def test_a_card_without_its_sizes_is_refused(path):
    card = json.loads(path.with_suffix(".json").read_text())
    del card["sizes"]
    path.with_suffix(".json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match="lacks sizes"):
        load_projection(str(path))


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=f"known are {PROJECTION}"):
        load_projection("nonesuch")


def test_the_shipped_one_fits_the_benchmark_and_no_other_model():
    model = benchmark_model("gas")
    assert projection_for(PROJECTION, len(model.prior.parameters)).network.in_size == 9
    with pytest.raises(ValueError, match="trained for 7 parameters and this model has 3"):
        projection_for(PROJECTION, 3)


def test_a_preset_hands_its_projection_to_the_filter():
    """Presets stay hashable, as programs are compiled for each."""
    plain = PRESETS["default"]
    preset = Preset(plain.config, plain.proposals, projection=PROJECTION)
    assert hash(preset) != hash(plain)
    model = benchmark_model("gas")
    used = [made.build(model).step.__self__.project for made in (plain, preset)]
    assert used[0] is DEFAULT_PROJECTION
    assert used[1] is load_projection(PROJECTION)
