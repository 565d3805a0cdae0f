"""Small suites: few searches of simple policies on one small filter, so that little has to be compiled."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from dowsax.experiments import walks
from dowsax.experiments.presets import VARIANTS
from dowsax.experiments.runner import execute
from dowsax.experiments.store import Store
from dowsax.experiments.suites import figures, searches, stopping
from dowsax.experiments.suites.registry import all_suites
from dowsax.experiments.suites.report import write
from dowsax.experiments.suites.rewards import REWARDED
from dowsax.experiments.suites.suite import Reproduction, runs_of
from dowsax.inference.presets import PLAIN
from dowsax.world import LOCATIONS

# Two fields that differ by numbers alone share their compiled programs.
FIELDS = ("temperature", "magnetic")
LEARNED = ("att-pfrl", "pfrl", *searches.AGDC)
POLICIES = {
    **{name + ending: "greedy" for name in LEARNED for ending in ("", "-ood", "-ood-guarded")},
    **dict.fromkeys(("infotaxis", "entrotaxis", "dcee", "straight"), "random"),
    **{f"{method}-seed-{seed}": "random" for method in REWARDED.values() for seed in (0, 1)},
}


@contextmanager
def made_small():
    """One filter in place of all, two fields in place of seven, two shapes in place of eight."""
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIANTS:
            patch.setitem(VARIANTS, name, replace(PLAIN, config=replace(PLAIN.config, num_particles=64)))
        for module in (searches, stopping, figures):
            patch.setattr(module, "FIELDS", FIELDS)
        patch.setattr(searches, "LOCATIONS", {name: LOCATIONS[name] for name in ("uniform", "star")})
        patch.setattr(walks, "WALK_READINGS", 4)
        yield


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """(seed) -> a reproduction with the runs of all suites, computed once; suites are small until the end."""
    papers = {}

    def paper(seed=0):
        if seed not in papers:
            store = Store(tmp_path_factory.mktemp("reproduced"))
            papers[seed] = Reproduction(store, 3, seed, 64, 6, POLICIES)
            execute(store, runs_of(all_suites().values(), papers[seed]))
        return papers[seed]

    with made_small():
        yield paper


@pytest.fixture(scope="module")
def written(filled):
    """(name, seed) -> the folder of a suite's table, written once."""
    folders = {}

    def folder(name, seed=0):
        if (name, seed) not in folders:
            folders[name, seed] = write(all_suites()[name], filled(seed), f"dowsax reproduce {name}")
        return folders[name, seed]

    return folder
