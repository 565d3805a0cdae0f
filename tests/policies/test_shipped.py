"""Trained policies by name and by path."""

import warnings
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import pytest
from made_beliefs import walk_belief
from made_choices import act
from made_networks import CARDS, small

import dowsax
from dowsax.experiments.run import Run, require_known
from dowsax.policies import Lookahead, Neural, policy_named, policy_names, save, shipped
from dowsax.policies.shipped import PRETRAINED_FOLDER, field_of, pretrained_names
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, MODALITIES, Gaussian, Model, Motion, Plume, PlumePrior, benchmark_model

EIGHT = Motion(moves=(*FOUR_MOVES.moves, (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)))


@pytest.fixture
def path(tmp_path):
    where = tmp_path / "net.safetensors"
    save(where, small("set"), CARDS["set"])
    return where


@pytest.mark.slow_after(4)
@pytest.mark.parametrize("name", pretrained_names())
def test_every_shipped_policy_loads_and_is_small(name):
    make = policy_named(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert isinstance(make(benchmark_model("temperature"), FOUR_MOVES), Neural)
    assert (PRETRAINED_FOLDER / f"{name}.safetensors").stat().st_size < 500_000


def test_a_path_is_a_name(path, key):
    """In the catalogue, for users, and in a run; and the policy acts."""
    policy = dowsax.policy(str(path), field="gas")
    assert isinstance(policy, Neural)
    assert policy.encoder.num_particles == 16
    action = eqx.filter_jit(act)(policy, key, walk_belief(0), Station(jnp.zeros(2)))
    assert FOUR_MOVES.free(jnp.zeros(2))[action]
    require_known([Run(str(path), "gas"), Run("greedy", "gas")])


def test_a_run_of_weights_is_named_without_folders_and_tells_weights_apart(path):
    """The folder's name has no slash in it, and other weights in the same file are another run."""
    run = Run(str(path), "gas")
    assert "/" not in run.name
    before = run.fingerprint
    save(path, small("paper"), CARDS["paper"])
    assert Run(str(path), "gas").fingerprint != before


def test_shipped_names_are_policies(path, monkeypatch):
    monkeypatch.setattr(shipped, "PRETRAINED_FOLDER", path.parent)
    assert pretrained_names() == ("net",)
    assert policy_names()[-1] == "net"
    assert isinstance(dowsax.policy("net"), Neural)
    with pytest.raises(ValueError, match=r"known are random, .*, net; .*safetensors file"):
        policy_named("nets")


def test_another_field_works_with_a_warning(path):
    """One line that says what it was trained for; none for a field it was trained for."""
    assert isinstance(dowsax.policy(str(path), field="temperature"), Neural)
    with pytest.warns(UserWarning, match="net was trained for temperature, gas, not for the field energy"):
        assert isinstance(dowsax.policy(str(path), field="energy"), Neural)
    model = Model(PlumePrior(), Plume(), Gaussian(0.3, 0.01))
    with pytest.warns(UserWarning, match="not for a model of your own"):
        dowsax.policy(str(path), model=model)


def test_fields_are_known_by_their_sensor():
    assert [field_of(benchmark_model(name)) for name in MODALITIES] == list(MODALITIES)
    assert field_of(Model(PlumePrior(strength=(1.0, 2.0)), Plume(), MODALITIES["gas"].sensor)) == "gas"
    assert field_of(Model(PlumePrior(), Plume(0.5), MODALITIES["gas"].sensor)) is None


@pytest.mark.parametrize(
    ("card", "motion", "said"),
    [
        ({}, EIGHT, "trained with 4 actions; here there are 8"),
        ({"encoder": "moments", "encoder_sizes": {}}, FOUR_MOVES, "does not fit its network"),
        ({"encoder": "radar"}, FOUR_MOVES, "encoder 'radar' .* known are moments, particles"),
        ({"encoder_sizes": {"num_eyes": 3}}, FOUR_MOVES, "num_eyes"),
    ],
)
def test_what_does_not_fit_is_refused(path, card, motion, said):
    save(path, small("set"), replace(CARDS["set"], **card))
    with pytest.raises(ValueError, match=said) as caught:
        dowsax.policy(str(path), field="gas", motion=motion)
    assert "\n" not in str(caught.value)


def test_any_policy_is_ready_by_name():
    assert isinstance(dowsax.policy("infotaxis", field="gas"), Lookahead)
    assert isinstance(dowsax.policy("infotaxis", model=benchmark_model("gas")), Lookahead)


@pytest.mark.parametrize(
    ("name", "choices", "said"),
    [
        ("straight", {}, "needs the true source"),
        ("infotaxis", {"field": "gas", "model": benchmark_model("gas")}, "not both"),
        ("infotaxis", {"field": "heat"}, "unknown field 'heat'"),
        ("nothing.safetensors", {}, "There is no nothing.safetensors"),
    ],
)
def test_bad_choices_are_named(name, choices, said):
    with pytest.raises(ValueError, match=said):
        dowsax.policy(name, **choices)
