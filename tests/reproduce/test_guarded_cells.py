"""The cells of the guarded policy, next to those of the bare one."""

from dataclasses import replace

from dowsax.reproduce.cells import Sizes
from dowsax.reproduce.store import Store
from dowsax.reproduce.suites import all_suites


def test_the_guarded_policy_is_searched_with_wherever_the_bare_one_is(tmp_path):
    """On every field, in every region and with both filters, with the same weights and a file of its own."""
    store = Store(tmp_path, Sizes())
    cells_of_suite = all_suites()["ood"].cells(store)
    bare, guarded = (
        [cell for cell in cells_of_suite if cell.policy == f"att-pfrl-ood{ending}"]
        for ending in ("", "-guarded")
    )
    assert len(guarded) == len(set(guarded)) == 7 * 3 * 2
    assert guarded == [replace(cell, policy="att-pfrl-ood-guarded") for cell in bare]
    for one, other in zip(bare, guarded, strict=True):
        ours, theirs = store.settings(one), store.settings(other)
        assert {name for name in ours if ours[name] != theirs[name]} == {"policy"}
        assert len(theirs["weights"]) == 16
        assert store.path(one) != store.path(other)
