"""Networks as files: what comes back is what went in, and what is broken is refused in one line."""

import json
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from made_networks import CARDS, small
from safetensors.numpy import load as decode
from safetensors.numpy import save as encode

from dowsax.policies import load, save
from dowsax.policies.stored import _digest, card_path, digest_of


@pytest.fixture
def path(tmp_path):
    """A file of weights, whole."""
    where = tmp_path / "mine" / "net.safetensors"
    save(where, small("set"), CARDS["set"])
    return where


def rewrite(path: Path, change, vouch: bool = True) -> None:
    """Change the arrays of a file, with a card that vouches for them or not."""
    arrays = dict(decode(path.read_bytes()))
    change(arrays)
    path.write_bytes(encode(arrays))
    if vouch:
        edit(path, digest=_digest(path.read_bytes()))


def edit(path: Path, **changes) -> None:
    card = card_path(path)
    card.write_text(json.dumps(json.loads(card.read_text()) | changes))


def refusal(path: Path) -> str:
    with pytest.raises(ValueError, match="net") as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("kind", ["paper", "set"])
def test_a_round_trip_changes_nothing(kind, tmp_path):
    """To the bit, with all its card; and nothing else is left in the folder."""
    path, network = tmp_path / "net.safetensors", small(kind)
    save(path, network, CARDS[kind])
    back, card = load(path)
    assert eqx.tree_equal(network, back)
    assert card == CARDS[kind]
    assert sorted(found.name for found in tmp_path.iterdir()) == ["net.json", "net.safetensors"]
    assert len(digest_of(path)) == 16


def test_a_card_of_before_there_were_settings_is_read(path):
    card = card_path(path)
    about = json.loads(card.read_text())
    assert about.pop("settings") == {"seed": 3}
    card.write_text(json.dumps(about))
    assert load(path)[1] == replace(CARDS["set"], settings={})


def test_a_card_with_the_old_keys_is_read(path):
    """Earlier versions wrote `sight` for `encoder`, in the settings too."""
    card = path.with_suffix(".json")
    about = json.loads(card.read_text())
    about["sight"], about["sight_sizes"] = about.pop("encoder"), about.pop("encoder_sizes")
    about["settings"] = {"num_ticks": 4, "choices": {"sight": "moments"}}
    card.write_text(json.dumps(about))
    _, read = load(path)
    assert (read.encoder, read.encoder_sizes) == (about["sight"], about["sight_sizes"])
    assert read.settings == {"rollout_length": 4, "choices": {"encoder": "moments"}}


def test_arrays_are_named_by_their_place(path):
    names = set(decode(path.read_bytes()))
    assert {"encoder.layers.0.weight", "trunk.layers.1.bias", "actor.weight", "critic.bias"} <= names


def test_other_weights_have_another_digest(path):
    before = digest_of(path)
    save(path, eqx.tree_at(lambda net: net.critic.bias, small("set"), jnp.zeros(1)), CARDS["set"])
    assert digest_of(path) != before


@pytest.mark.parametrize("length", [0, 7, 100, -1])
def test_a_file_cut_short_is_refused(path, length):
    path.write_bytes(path.read_bytes()[:length])
    assert "cut short or damaged" in refusal(path)


def test_a_flipped_bit_is_seen(path):
    """Also where it leaves a number that could be a weight."""
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(bytes(content))
    assert "damaged" in refusal(path)


def test_missing_files_are_named(path):
    card_path(path).unlink()
    assert "There is no" in refusal(path)
    assert "net.json" in refusal(path)
    save(path, small("set"), CARDS["set"])
    path.unlink()
    assert "net.safetensors" in refusal(path)
    assert "ends in .safetensors" in refusal(path.with_suffix(".pt"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": 99}, "format 99, this version of dowsax reads 1"),
        ({"network": {"kind": "transformer", "sizes": {}}}, "'transformer' is unknown, known are paper, set"),
        ({"network": {"kind": "paper", "sizes": {"depth": 3}}}, "sizes of network 'paper' are"),
        (
            {"network": {"kind": "paper", "sizes": {"num_numbers": 17, "num_actions": 4, "width": -8}}},
            "above 0",
        ),
        (
            {"network": {"kind": "paper", "sizes": {"num_numbers": 17, "num_actions": 4, "width": 8}}},
            "lacks actor",
        ),
        ({"network": None}, "another version or damaged"),
        ({"seeds": 3}, "another version or damaged"),
    ],
)
def test_a_card_of_another_network_or_version_is_refused(path, changes, said):
    edit(path, **changes)
    assert said in refusal(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', "\x00"])
def test_a_card_that_is_none_is_refused(path, text):
    card_path(path).write_text(text)
    assert "damaged" in refusal(path)


def test_arrays_that_do_not_fit_are_named(path):
    """Missing, of another shape, of another type, one too many, not finite."""
    name, whole = "trunk.layers.0.weight", path.read_bytes()
    cases = [
        (lambda arrays: arrays.pop(name), f"lacks {name}"),
        (lambda arrays: arrays.update({name: np.zeros((3, 3), np.float32)}), f"{name} of shape (3, 3)"),
        (lambda arrays: arrays.update({name: arrays[name].astype(np.float64)}), "float64"),
        (lambda arrays: arrays.update({"more": np.zeros(3, np.float32)}), "also holds more"),
        (lambda arrays: arrays.update({name: arrays[name] * np.float32(np.nan)}), "not finite"),
    ]
    for change, said in cases:
        path.write_bytes(whole)
        rewrite(path, change)
        assert said in refusal(path)
    path.write_bytes(whole)
    rewrite(path, lambda arrays: arrays.update({name: arrays[name] + 1}), vouch=False)
    assert "does not belong to net.json" in refusal(path)


def test_nothing_is_written_of_weights_that_are_not_finite(path):
    """Nor of a card that cannot be written: the old files stay whole."""
    network = eqx.tree_at(lambda net: net.critic.bias, small("set"), jnp.full(1, jnp.nan))
    with pytest.raises(ValueError, match=r"critic\.bias are not finite"):
        save(path, network, CARDS["set"])
    with pytest.raises(TypeError):
        save(path, small("set"), replace(CARDS["set"], results={"gas": {1, 2}}))
    assert eqx.tree_equal(load(path)[0], small("set"))
    assert len(list(path.parent.iterdir())) == 2


def test_a_place_that_cannot_be_written_is_named(path):
    with pytest.raises(ValueError, match="Cannot write"):
        save(path / "below.safetensors", small("set"), CARDS["set"])
