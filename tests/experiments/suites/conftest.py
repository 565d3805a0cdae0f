"""Suites that are computed and written once for all tests of a module."""

import pytest
from made_suites import made_small

from dowsax.experiments.runner import execute
from dowsax.experiments.store import Store
from dowsax.experiments.suites.registry import all_suites
from dowsax.experiments.suites.report import write
from dowsax.experiments.suites.suite import Reproduction, runs_of


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """(seed) -> a reproduction with the runs of all suites, computed once; suites are small until the end."""
    papers = {}

    def paper(seed=0):
        if seed not in papers:
            store = Store(tmp_path_factory.mktemp("reproduced"))
            papers[seed] = Reproduction(store, 3, (seed,), 64, 6)
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
