"""The suites by name, and the runs of the guarded policy next to those of the bare one."""

from dataclasses import replace

import pytest

from dowsax.experiments.store import Store
from dowsax.experiments.suites.registry import all_suites, choose_suites
from dowsax.experiments.suites.suite import Reproduction


def test_names():
    assert [suite.name for suite in choose_suites(["fixed", "id"])] == ["id", "fixed"]
    assert len(choose_suites([])) == 13
    with pytest.raises(ValueError, match="Unknown table 'idd'; known are id, ood"):
        choose_suites(["idd"])


def test_the_guarded_policy_searches_wherever_the_bare_one_does(tmp_path):
    """On every field, in every region and with both filters, with the same weights and a file of its own."""
    paper = Reproduction(Store(tmp_path))
    runs = all_suites()["ood"].runs(paper)
    bare, guarded = (
        [run for run in runs if run.policy == f"att-pfrl-ood{ending}"] for ending in ("", "-guarded")
    )
    assert len(guarded) == len(set(guarded)) == 7 * 3 * 2
    assert guarded == [replace(run, policy="att-pfrl-ood-guarded") for run in bare]
    for one, other in zip(bare, guarded, strict=True):
        ours, theirs = one.settings(), other.settings()
        assert {name for name in ours if ours[name] != theirs[name]} == {"policy"}
        assert len(theirs["weights"]) == 16
        assert paper.store.path(one) != paper.store.path(other)
