"""Policies by name."""

import pytest

from dowsax.policies import POLICIES, Lookahead, Oracle, Policy, policy_named
from dowsax.policies.utilities import predictive_entropy
from dowsax.world import FOUR_MOVES, benchmark_model

MODEL = benchmark_model("gas")


@pytest.mark.parametrize("name", POLICIES)
def test_every_name_makes_a_policy(name):
    assert policy_named(name) is POLICIES[name]
    policy = POLICIES[name](MODEL, FOUR_MOVES)
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
    assert policy_named("straight") is policy_named("oracle-straight")
    assert policy_named("circle") is policy_named("oracle-circle")
