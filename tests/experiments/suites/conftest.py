"""Small suites: few searches of simple policies on one small filter, so that little has to be compiled."""

import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from dowsax.inference.presets import PLAIN
from dowsax.reproduce import cells, picturing, searching, stopping
from dowsax.reproduce.cells import Sizes
from dowsax.reproduce.fill import LEAST, fill
from dowsax.reproduce.filters import FILTERS
from dowsax.reproduce.report import write
from dowsax.reproduce.store import Store
from dowsax.reproduce.suite import cells_of
from dowsax.reproduce.suites import all_suites
from dowsax.reproduce.training import REWARDED
from dowsax.world import LOCATIONS

# Two fields that differ by numbers alone share their compiled programs.
FIELDS = ("temperature", "magnetic")
SIZES = Sizes(episodes=3, particles=64, max_readings=6)
LEARNED = ("att-pfrl", "pfrl", *searching.AGDC)
SOURCES = {
    **{name + ending: "greedy" for name in LEARNED for ending in ("", "-ood", "-ood-guarded")},
    **dict.fromkeys(("infotaxis", "entrotaxis", "dcee", "straight"), "random"),
    **{f"{method}-seed-{seed}": "random" for method in REWARDED.values() for seed in (0, 1)},
}


@contextmanager
def made_small():
    """One filter in place of all, two fields in place of seven, two shapes in place of eight."""
    with pytest.MonkeyPatch.context() as patch:
        for name in FILTERS:
            patch.setitem(FILTERS, name, replace(PLAIN, config=replace(PLAIN.config, num_particles=64)))
        for module in (searching, stopping, picturing):
            patch.setattr(module, "FIELDS", FIELDS)
        patch.setattr(searching, "LOCATIONS", {name: LOCATIONS[name] for name in ("uniform", "star")})
        patch.setattr(cells, "WALK_READINGS", 4)
        yield


@pytest.fixture
def small():
    """Small suites in one test."""
    with made_small():
        yield


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """(sizes) -> a folder with the cells of all suites, computed once; suites are small until the end."""
    kept = {}

    def folder(sizes=SIZES):
        if sizes not in kept:
            store = Store(tmp_path_factory.mktemp("reproduced"), sizes, SOURCES)
            fill(store, cells_of(all_suites().values(), store), time.monotonic() + 10 * LEAST)
            kept[sizes] = store
        return kept[sizes]

    with made_small():
        yield folder


@pytest.fixture(scope="module")
def written(filled):
    """(name, sizes) -> the folder of a suite's table, written once."""
    kept = {}

    def folder(name, sizes=SIZES):
        if (name, sizes) not in kept:
            kept[name, sizes] = write(all_suites()[name], filled(sizes), f"dowsax reproduce {name}")
        return kept[name, sizes]

    return folder
