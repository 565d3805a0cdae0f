"""The suites by name, and the runs of the guarded policy next to those of the bare one."""

from dataclasses import replace

import pytest

from dowsax.experiments.store import Store
from dowsax.experiments.suites.registry import all_suites, choose_suites
from dowsax.experiments.suites.suite import Reproduction
from dowsax.policies.shipped import trained_seeds, weights_path
from dowsax.policies.stored import card_of, digest_of


def test_names():
    assert [suite.name for suite in choose_suites(["fixed", "id"])] == ["id", "fixed"]
    assert len(choose_suites([])) == 13
    with pytest.raises(ValueError, match="Unknown table 'idd'; known are id, ood"):
        choose_suites(["idd"])


def test_the_guarded_policy_searches_wherever_the_bare_one_does(tmp_path):
    """On every field and in every region, with the same weights and a file of its own."""
    paper = Reproduction(Store(tmp_path))
    runs = all_suites()["ood"].runs(paper)
    bare, guarded = (
        [run for run in runs if run.policy == f"pfrl-ood{ending}"] for ending in ("", "-guarded")
    )
    assert len(guarded) == len(set(guarded)) == 7 * 3
    for one, other in zip(bare, guarded, strict=True):
        ours, theirs = one.settings(), other.settings()
        assert {name for name in ours if ours[name] != theirs[name]} == {"policy"}
        assert paper.store.path(one) != paper.store.path(other)


def test_each_seed_has_runs_of_its_own(tmp_path):
    paper = Reproduction(Store(tmp_path), seeds=(0, 1))
    for suite in choose_suites([]):
        first, second = ([run for run in suite.runs(paper) if run.seed == seed] for seed in (0, 1))
        assert second == [replace(run, seed=1) for run in first]
        assert suite.runs(paper) == first + second


def test_trained_policies_search_with_all_their_training_seeds(tmp_path):
    """Three in turn, each with weights of its own and as many moves of training as every other method."""
    paper = Reproduction(Store(tmp_path))
    runs = [run for suite in all_suites().values() for run in suite.runs(paper) if hasattr(run, "policy")]
    trained = {run.policy: run for run in runs if "weights" in run.settings()}
    assert {"att-pfrl-paper", "pfrl", "att-pfrl", "agdc-kld", "pfrl-ood", "att-pfrl-r2"} < set(trained)
    assert trained["pfrl"].searchers == ("pfrl", "pfrl-seed-1", "pfrl-seed-2")
    for policy, run in trained.items():
        assert run.searchers == trained_seeds(policy)
        assert len(run.searchers) == 3, policy
        paths = [weights_path(name) for name in run.searchers]
        assert len({digest_of(path) for path in paths}) == len(paths)
        assert all(3_000_000 <= card_of(path).steps < 3_500_000 for path in paths)
