"""The policy that ships finds sources that a random walk does not; a network with random weights fails."""

import math

import equinox as eqx
import jax
import pytest

from dowsax.envs import SCENARIOS, SearchProblem
from dowsax.evaluate.episodes import run_episodes
from dowsax.evaluate.metrics import ends
from dowsax.evaluate.stops import TraceRule
from dowsax.inference import PRESETS
from dowsax.policies import Random, policy_named
from dowsax.policies.encoders import observation_shapes
from dowsax.policies.networks import build_network
from dowsax.policies.shipped import BEST_POLICY
from dowsax.world import FOUR_MOVES, benchmark_model

MODEL = benchmark_model("gas")
SEARCH = SearchProblem(MODEL, PRESETS["default"].with_particles(64), SCENARIOS["id"], max_readings=40)
RULE = TraceRule("credible", 0.95)
NUM_SEARCHES = 24
ERROR_RATE = 1e-3
"""How often a policy that is no better than a random walk may pass."""


def found(policy):
    """Which of the searches, always the same, stopped within a metre of the source."""
    keys = jax.random.split(jax.random.key(5), NUM_SEARCHES)
    return ends(run_episodes(SEARCH, policy, keys, (RULE,)), RULE).right


def p_value(wins, losses):
    """The exact sign test of pairs: P(at least as many wins), if either of two is as likely to win."""
    pairs = wins + losses
    return sum(math.comb(pairs, number) for number in range(wins, pairs + 1)) / 2**pairs


def is_better(ours, theirs):
    """Whether more of the same searches found the source than can be chance."""
    return p_value(int((ours & ~theirs).sum()), int((theirs & ~ours).sum())) < ERROR_RATE


@pytest.fixture(scope="module")
def by_random_walks():
    return found(Random())


@pytest.fixture(scope="module")
def shipped():
    return policy_named(BEST_POLICY)(MODEL, FOUR_MOVES)


def test_the_shipped_policy_finds_more_than_a_random_walk(shipped, by_random_walks):
    assert is_better(found(shipped), by_random_walks)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_random_weights_do_not_pass(shipped, by_random_walks, seed):
    """The same network before it was trained."""
    fresh = eqx.filter_jit(build_network)(jax.random.key(seed), observation_shapes(shipped.encoder, MODEL))
    assert not is_better(found(eqx.tree_at(lambda policy: policy.network, shipped, fresh)), by_random_walks)


@pytest.mark.parametrize(("wins", "losses", "expected"), [(0, 0, 1.0), (10, 0, 2**-10), (4, 1, 6 / 32)])
def test_the_sign_test_by_hand(wins, losses, expected):
    assert p_value(wins, losses) == expected
