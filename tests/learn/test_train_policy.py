"""Training on a user's problem: any model and any candidates. The card names the problem."""

import warnings
from dataclasses import replace

import jax
import numpy as np
import own_problem
import pytest

from dowsax.evaluate import TraceRule, run_episodes
from dowsax.learn import TrainConfig, methods, train_policy
from dowsax.learn.base import Learner
from dowsax.policies import load, policy_named, save
from dowsax.policies.networks import CandidateNetwork
from dowsax.world import benchmark_model

SIZES = {"steps": 60, "searches": 8, "rollout_length": 4}


@pytest.fixture(scope="module")
def problem():
    return own_problem.leak()


@pytest.fixture(scope="module")
def trained(problem):
    return train_policy(problem, "leak", **SIZES)


@pytest.fixture(scope="module")
def path(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("policies") / "mine.safetensors"
    save(path, trained.policy.network, trained.card)
    return path


@pytest.mark.slow
def test_it_searches_with_the_candidates_of_the_problem(problem, trained):
    episodes = run_episodes(
        problem, trained.policy, jax.random.split(jax.random.key(0), 3), (TraceRule("credible", 0.9),)
    )
    assert all(episode.rows.path_length[-1] <= own_problem.WAY_M + 1e-2 for episode in episodes)
    assert trained.rows[-1]["steps"] >= SIZES["steps"]
    assert all(np.isfinite(row["actor_loss"]) for row in trained.rows)


@pytest.mark.slow
def test_the_card_says_for_which_problem(problem, trained, path):
    """Loaded for it there is no warning; for another model or area there is one line."""
    network, card = load(path)
    assert isinstance(network, CandidateNetwork)
    assert (card.fields, card.method) == (("leak",), "pfrl-candidates")
    assert card.problem == TrainConfig.for_problem(problem).fingerprint
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy_named(str(path))(problem.model, problem.actions)
    with pytest.warns(UserWarning, match="mine was trained for leak, not for this model and these actions"):
        policy_named(str(path))(problem.model, replace(problem.actions, high=(61.0, 40.0)))
    with pytest.raises(ValueError, match=r"trained with .* numbers; here there are"):
        policy_named(str(path))(benchmark_model("gas"), problem.actions)


def test_settings_are_those_of_the_problem(problem, monkeypatch):
    config = TrainConfig.for_problem(problem, "leak", steps=7)
    (search,) = config.searches()
    assert (search.preset, search.max_readings) == (problem.preset, problem.max_readings)
    assert config.name == "pfrl-candidates-on-leak"
    assert TrainConfig.for_problem(problem, "leak", preset="paper").name == (
        "pfrl-candidates-with-paper-on-leak"
    )
    assert config.settings()["problem"] == config.fingerprint != ""
    assert TrainConfig("pfrl").fingerprint == ""
    monkeypatch.setattr(methods.ppo, "build", lambda *parts, total_steps: Learner(total_steps, None))
    assert config.learner().init == 7


def test_methods_of_the_benchmark_say_what_they_need(problem):
    with pytest.raises(ValueError, match="needs moves of fixed lengths"):
        TrainConfig.for_problem(problem, method="pfrl").rollout()
    with pytest.raises(ValueError, match=r"build the settings with `TrainConfig\.for_problem`"):
        TrainConfig("pfrl-candidates", problem=problem)
