"""The value network of the olfactory search: its picture of a belief, its symmetry, and its files."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.leaderboards.otto import CASES
from dowsax.leaderboards.otto_network import (
    ValueNetwork,
    ValuePolicy,
    hats,
    load_card,
    load_network,
    mean_steps,
    network_path,
    orient,
    orientations,
    pictures,
    save_network,
    shipped_policy,
)
from dowsax.leaderboards.otto_search import look_ahead

SMALL, _, MEDIUM, _ = CASES
MIRRORED = {0: 1, 1: 0, 2: 2, 3: 3}
"""Moves when the first axis is mirrored."""


def scrambled(key, case, widths=(8, 8)):
    """Return a network that has forgotten that it starts without any correction."""
    network = ValueNetwork.build(key, case, widths)
    weights, rest = eqx.partition(network, eqx.is_array)
    leaves, tree = jax.tree.flatten(weights)
    keys = jax.random.split(key, len(leaves))
    leaves = [leaf + 0.3 * jax.random.normal(own, leaf.shape) for leaf, own in zip(leaves, keys, strict=True)]
    return eqx.combine(jax.tree.unflatten(tree, leaves), rest)


def random_belief(key, case):
    logits = 2 * jax.random.normal(key, case.shape)
    return jax.nn.softmax(logits.ravel()).reshape(case.shape)


@pytest.mark.parametrize("number", [1, 2, 7, 19, 53])
def test_hat_functions_sum_to_one(number):
    """And each offset is the mean of the knots about it, so that pictures keep mass and mean."""
    found = hats(number)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.shape[0] == 2 * number - 1
    np.testing.assert_allclose(found, found[::-1, ::-1], atol=1e-12)


def test_a_picture_holds_the_whole_belief(key):
    belief = random_belief(key, MEDIUM)
    seen = pictures(MEDIUM, belief[None], jnp.array([3, 40]))[0]
    assert float(seen.sum()) == pytest.approx(1.0, rel=1e-5)


def test_a_picture_is_of_what_is_nearby():
    belief = jnp.zeros(SMALL.shape).at[4, 9].set(1.0)
    seen = pictures(SMALL, belief[None], jnp.array([3, 11]))[0]
    middle = np.array(seen.shape) // 2
    assert seen[middle[0] + 1, middle[1] - 2] == 1


def test_untrained_it_is_the_time_of_space_aware_infotaxis(key):
    network = ValueNetwork.build(key, SMALL, (8,))
    picture = pictures(SMALL, random_belief(key, SMALL)[None], jnp.array([3, 11]))[0]
    assert mean_steps(network, (0, 3), picture, jnp.array(7.0)) == 7


@pytest.mark.parametrize("case", [SMALL, MEDIUM], ids=lambda case: case.name)
def test_values_do_not_change_with_turns_and_mirrors(key, case):
    network = scrambled(key, case)
    numbers = orientations(case)
    picture = pictures(case, random_belief(key, case)[None], jnp.array([3, 11]))[0]
    values = [mean_steps(network, numbers, orient(picture, number), jnp.array(7.0)) for number in numbers]
    assert len({round(float(value), 3) for value in values}) == 1
    assert float(values[0]) != pytest.approx(7.0, rel=1e-3)


def test_the_eight_orientations_differ():
    picture = jnp.arange(9.0).reshape(3, 3)
    assert len({tuple(np.ravel(orient(picture, number))) for number in range(8)}) == 8


def test_a_mirrored_world_has_mirrored_costs(key):
    policy, belief = ValuePolicy(scrambled(key, SMALL)), random_belief(key, SMALL)
    place, mirrored = jnp.array([7, 9]), jnp.array([11, 9])
    costs = policy(SMALL, belief, place, look_ahead(SMALL, belief, place))
    found = policy(SMALL, belief[::-1], mirrored, look_ahead(SMALL, belief[::-1], mirrored))
    np.testing.assert_allclose([found[MIRRORED[move]] for move in range(4)], costs, rtol=1e-4)


def test_files_hold_weights_and_card(key, tmp_path):
    network, path = scrambled(key, SMALL), tmp_path / "weights.safetensors"
    save_network(path, network, {"seed": 3})
    assert load_card(path) == {"seed": 3}
    loaded = load_network(path, SMALL)
    for new, old in zip(jax.tree.leaves(loaded), jax.tree.leaves(network), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-3, atol=1e-4)


def test_a_file_of_another_case_is_refused(key, tmp_path):
    path = tmp_path / "weights.safetensors"
    save_network(path, scrambled(key, SMALL), {})
    with pytest.raises(ValueError, match="windy-medium needs"):
        load_network(path, MEDIUM)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="cannot be read"):
        load_network(path, SMALL)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.slug)
def test_weights_ship_for_every_case(case):
    policy = shipped_policy(case)
    assert network_path(case).stat().st_size < 600_000
    belief, place = jnp.full(case.shape, 1 / np.prod(case.shape)), jnp.array(case.start)
    costs = jax.jit(partial(policy, case))(belief, place, look_ahead(case, belief, place))
    assert np.isfinite(costs).all()
