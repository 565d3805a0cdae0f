"""The policy that ships stops as often as it should and finds sources that a random walk does not.

A network with random weights fails.
"""

import math
from pathlib import Path

import equinox as eqx
import jax
import pytest
from scipy.stats import betabinom

from dowsax.envs import SCENARIOS, SearchProblem
from dowsax.evaluate.episodes import run_episodes
from dowsax.evaluate.metrics import ends
from dowsax.evaluate.stops import TraceRule
from dowsax.experiments.suites.report import lines_in
from dowsax.inference import PRESETS
from dowsax.policies import Random, policy_named
from dowsax.policies.encoders import observation_shapes
from dowsax.policies.networks import build_network
from dowsax.policies.shipped import BEST_POLICY, trained_seeds
from dowsax.world import FOUR_MOVES, benchmark_model

MODEL = benchmark_model("gas")
SEARCH = SearchProblem(MODEL, PRESETS["default"].with_particles(64), SCENARIOS["id"], max_readings=40)
RULE = TraceRule("credible", 0.95)
NUM_SEARCHES = 24
REFERENCE = (515, 600)
"""Stops of searches of the shipped policy in this setting: `search(shipped, key=6, number=600)`.

Published rates are of more particles and readings, so the small setting has a rate of its own.
"""
ERROR_RATE = 1e-3
"""How often a policy that is no better than a random walk may pass, and one as good as measured may fail."""
PUBLISHED = Path(__file__).parents[2] / "results/paper/id"


def search(policy, key=5, number=NUM_SEARCHES, problem=SEARCH):
    """How searches, always the same, ended."""
    return ends(run_episodes(problem, policy, jax.random.split(jax.random.key(key), number), (RULE,)), RULE)


def least_stops(stops, searches, number):
    """Return how many of `number` new searches stop at least, 999 times in 1,000, given earlier ones.

    The rate is not known exactly: with a uniform prior the predictive distribution is beta-binomial.
    """
    return betabinom.ppf(ERROR_RATE, number, stops + 1, searches - stops + 1)


def p_value(wins, losses):
    """The exact sign test of pairs: P(at least as many wins), if either of two is as likely to win."""
    pairs = wins + losses
    return sum(math.comb(pairs, number) for number in range(wins, pairs + 1)) / 2**pairs


def is_better(ours, theirs):
    """Whether more of the same searches found the source than can be chance."""
    return p_value(int((ours & ~theirs).sum()), int((theirs & ~ours).sum())) < ERROR_RATE


@pytest.fixture(scope="module")
def by_random_walks():
    return search(Random())


@pytest.fixture(scope="module")
def shipped():
    return policy_named(BEST_POLICY)(MODEL, FOUR_MOVES)


@pytest.fixture(scope="module")
def by_shipped(shipped):
    return search(shipped)


def test_the_shipped_policy_finds_more_than_a_random_walk(by_shipped, by_random_walks):
    assert is_better(by_shipped.right, by_random_walks.right)


def test_the_shipped_policy_stops_as_often_as_it_should(by_shipped, by_random_walks):
    """A random walk does not."""
    least = least_stops(*REFERENCE, NUM_SEARCHES)
    assert by_random_walks.stopped.sum() < least <= by_shipped.stopped.sum()


@pytest.mark.slow
def test_the_training_seeds_stop_as_often_as_published():
    """The published setting, with new searches: stop rates of both test seeds together."""
    place = (BEST_POLICY, "gas", "default", str(RULE))
    rates = [line.numbers["OCE"] for line in lines_in(PUBLISHED) if line[:4] == place]
    stops, searches = (round(sum(part)) for part in zip(*((r.value * r.n, r.n) for r in rates), strict=True))
    assert searches == 600
    policies = [policy_named(name)(MODEL, FOUR_MOVES) for name in trained_seeds(BEST_POLICY)]
    problem = SearchProblem(MODEL, PRESETS["default"], SCENARIOS["id"], max_readings=200)
    assert search(policies, number=36, problem=problem).stopped.sum() >= least_stops(stops, searches, 36)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_random_weights_do_not_pass(shipped, by_random_walks, seed):
    """The same network before it was trained."""
    fresh = eqx.filter_jit(build_network)(jax.random.key(seed), observation_shapes(shipped.encoder, MODEL))
    end = search(eqx.tree_at(lambda policy: policy.network, shipped, fresh))
    assert not is_better(end.right, by_random_walks.right)
    assert end.stopped.sum() < least_stops(*REFERENCE, NUM_SEARCHES)


def test_the_bound_by_hand():
    """With a uniform prior and no searches before, every number of stops is as likely as another."""
    assert least_stops(0, 0, 1999) == 1
    assert least_stops(6000, 6000, 1) == 1


@pytest.mark.parametrize(("wins", "losses", "expected"), [(0, 0, 1.0), (10, 0, 2**-10), (4, 1, 6 / 32)])
def test_the_sign_test_by_hand(wins, losses, expected):
    assert p_value(wins, losses) == expected
