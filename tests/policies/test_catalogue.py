"""Policies by name."""

import pickle

import pytest

from dowsax.geo.polygons import Bounds
from dowsax.policies import POLICIES, Lookahead, Oracle, Policy, policy_named
from dowsax.policies.simple import OracleCircle, OracleStraight
from dowsax.policies.utilities import predictive_entropy
from dowsax.world import FOUR_MOVES, Fence, NearAndFar, PolicyMismatch, benchmark_model

MODEL = benchmark_model("gas")


@pytest.mark.parametrize("name", POLICIES)
def test_every_name_makes_a_policy(name):
    policy = policy_named(name)(MODEL, FOUR_MOVES)
    assert type(policy) is type(POLICIES[name](MODEL, FOUR_MOVES))
    assert isinstance(policy, (Policy, Oracle))


def test_a_number_says_how_far_a_planner_looks():
    policy = policy_named("entrotaxis-3")(MODEL, FOUR_MOVES)
    assert isinstance(policy, Lookahead)
    assert (policy.utility, policy.depth) == (predictive_entropy, 3)


@pytest.mark.parametrize("name", ["", "infotaxi", "infotaxis-1", "infotaxis-22", "greedy-2", "-2"])
def test_an_unknown_name_lists_the_known(name):
    with pytest.raises(ValueError, match="known are random") as caught:
        policy_named(name)
    message = str(caught.value)
    assert "\n" not in message
    assert all(pretrained_names in message for pretrained_names in POLICIES)


def test_oracles_have_their_old_names_too():
    assert isinstance(policy_named("straight")(MODEL, FOUR_MOVES), OracleStraight)
    assert isinstance(policy_named("circle")(MODEL, FOUR_MOVES), OracleCircle)


@pytest.mark.parametrize("name", ["infotaxis-2", "zigzag", "pfrl", "pfrl-guarded"])
def test_a_policy_that_does_not_fit_is_named(name):
    """Also after the error went through another process."""
    places = NearAndFar(Fence.of(Bounds()), (0.0, 0.0), (20.0, 20.0), lengths=(5.0,))
    with pytest.raises(PolicyMismatch, match=f"^The policy '{name}' needs moves of fixed lengths") as caught:
        policy_named(name)(MODEL, places)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
