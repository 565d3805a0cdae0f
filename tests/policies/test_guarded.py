"""A trained policy with a guard: who decides, from which reading on, and by which names."""

import functools
import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import walk_belief
from made_choices import act
from made_networks import CARDS, small

import dowsax
from dowsax.experiments.run import Run
from dowsax.policies import ENCODERS, Guarded, Lookahead, Neural, policy_named, save, shipped
from dowsax.policies.guarded import guard_after
from dowsax.policies.shipped import PRETRAINED_FOLDER, pretrained_names, weights_path
from dowsax.policies.stored import Card, card_of, digest_of
from dowsax.policies.utilities import information_gain
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, benchmark_model

NAME = "pfrl-ood-guarded"
MODEL = benchmark_model("temperature")
NUM_KEYS = 64
HERE = Station(jnp.array([7.3, 11.6]))
AFTER = 6
SIZES = range(AFTER - 3, AFTER + 3)


def after_readings(size):
    """The same belief with another number of readings."""
    return eqx.tree_at(lambda b: b.history.size, walk_belief(3), jnp.asarray(size, jnp.int32))


@functools.cache
def policies():
    """A small network, which is quick to compile, with the guard of the shipped ones."""
    network = Neural(ENCODERS["moments"](MODEL, FOUR_MOVES), small("paper"))
    return Guarded(network, Lookahead(MODEL, information_gain), AFTER)


@functools.cache
def actions_of(part):
    """(keys, belief) -> actions of the guarded policy, or of one of its two alone; compiled once."""
    policy = policies() if part == "guarded" else getattr(policies(), part)
    return jax.jit(jax.vmap(lambda key, belief: act(policy, key, belief, HERE), in_axes=(0, None)))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_network_decides_before_and_the_planner_from_then_on(size, key):
    """With the same keys, to the letter, at every number of readings around the border."""
    keys, belief = jax.random.split(key, NUM_KEYS), after_readings(size)
    decides = "network" if size < AFTER else "planner"
    found = actions_of("guarded")(keys, belief)
    assert found.dtype == jnp.int32
    np.testing.assert_array_equal(found, actions_of(decides)(keys, belief))


def test_the_two_would_differ(key):
    """Else nothing above says who has decided."""
    keys = jax.random.split(key, NUM_KEYS)
    for size in (AFTER - 1, AFTER):
        belief = after_readings(size)
        assert (actions_of("network")(keys, belief) != actions_of("planner")(keys, belief)).any()


def test_searches_of_a_batch_are_each_at_their_own_reading(key):
    """Over beliefs too, some before and some after: as each alone, one by one."""
    keys = jax.random.split(key, len(SIZES))
    beliefs = [after_readings(size) for size in SIZES]
    batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *beliefs)
    choose = lambda key, belief: act(policies(), key, belief, HERE)  # noqa: E731
    together, one_alone = jax.jit(jax.vmap(choose))(keys, batch), jax.jit(choose)
    alone = [one_alone(*one) for one in zip(keys, beliefs, strict=True)]
    np.testing.assert_array_equal(together, alone)


def test_one_search_alone_pays_for_one_of_the_two(key):
    """Whoever does not decide is not run: each of the two is counted as it acts."""
    acted = []

    def counted(name, action):
        def choose(key, belief, station, candidates, budget):
            jax.debug.callback(lambda: acted.append(name))
            return jnp.asarray(action, jnp.int32)

        return choose

    policy = eqx.filter_jit(Guarded(counted("network", 0), counted("planner", 1), AFTER))
    chosen = [int(act(policy, key, after_readings(size), HERE)) for size in SIZES]
    jax.effects_barrier()
    assert chosen == [int(size >= AFTER) for size in SIZES]
    assert sorted(acted) == ["network"] * chosen.count(0) + ["planner"] * chosen.count(1)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", pretrained_names())
def test_every_shipped_policy_has_a_guard_as_patient_as_its_card_says(name):
    """Twice the last mean path of its training, of the bare one's weights, with Infotaxis in wait."""
    made = dowsax.policy(f"{name}-guarded", field="gas")
    bare = dowsax.policy(name, field="gas")
    assert isinstance(made, Guarded)
    assert eqx.tree_equal(made.network, bare)
    assert isinstance(made.planner, Lookahead)
    assert (made.planner.utility, made.planner.depth) == (information_gain, 1)
    usual = card_of(PRETRAINED_FOLDER / f"{name}.safetensors").curves["path_length"][-1]
    assert 0 <= made.after - 2 * usual < 1


@pytest.mark.parametrize("usual", [0.3, 10.0, 22.531, 150.0])
def test_patience_follows_the_end_of_the_curve(usual):
    card = Card("particles", curves={"path_length": [999.0, 40.0, usual]})
    assert guard_after("net", card) == math.ceil(2 * usual)


@pytest.mark.parametrize(
    "curves", [{}, {"path_length": []}, {"path_length": [30.0, 0.0]}, {"path_length": [float("nan")]}]
)
def test_a_card_without_a_curve_is_refused_in_one_line(curves, tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "PRETRAINED_FOLDER", tmp_path)
    save(tmp_path / "net.safetensors", small("set"), replace(CARDS["set"], curves=curves))
    assert isinstance(dowsax.policy("net"), Neural)
    with pytest.raises(ValueError, match=r"card of net has no curve .* without -guarded") as caught:
        policy_named("net-guarded")
    assert "\n" not in str(caught.value)


def test_patience_is_at_least_a_reading():
    with pytest.raises(ValueError, match="readings >= 1; got 0"):
        replace(policies(), after=0)


@pytest.mark.parametrize(
    "name", ["-guarded", "infotaxis-guarded", "att-pfrl-guarded-guarded", "nets-guarded"]
)
def test_a_policy_without_guard_is_refused(name):
    with pytest.raises(ValueError, match=r"known are random, .* att-pfrl, .* also with -guarded") as caught:
        policy_named(name)
    assert "\n" not in str(caught.value)


def test_a_field_that_the_network_does_not_know_is_warned_of(tmp_path, monkeypatch):
    """As without the guard, in the same words."""
    monkeypatch.setattr(shipped, "PRETRAINED_FOLDER", tmp_path)
    save(tmp_path / "net.safetensors", small("set"), replace(CARDS["set"], curves={"path_length": [20.0]}))
    with pytest.warns(UserWarning, match="net was trained for temperature, gas, not for the field energy"):
        assert isinstance(policy_named("net-guarded")(benchmark_model("energy"), FOUR_MOVES), Guarded)


def test_a_run_has_the_weights_of_the_bare_policy_and_a_name_of_its_own():
    bare, guarded_policy = (Run(name, "gas") for name in ("pfrl-ood", NAME))
    assert weights_path(NAME) == weights_path("pfrl-ood")
    digest = digest_of(PRETRAINED_FOLDER / "pfrl-ood.safetensors")
    assert bare.settings()["weights"] == digest
    assert guarded_policy.settings()["weights"] == digest
    assert bare.fingerprint != guarded_policy.fingerprint
