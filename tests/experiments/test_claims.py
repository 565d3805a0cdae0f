"""Claims: processes on one folder do not compute the same shard."""

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from made_results import MADE

from dowsax.experiments.claims import byte_of, claims_path
from dowsax.experiments.run import Run
from dowsax.experiments.runner import execute
from dowsax.experiments.store import Store

RUNS = [Run(policy, "temperature", episodes=2) for policy in ("random", "greedy", "straight")]


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    claims_path(store).parent.mkdir()
    return store


@contextmanager
def another_process(store, *where):
    """Another process that locks these bytes of the file of claims, or all of it, until it is killed."""
    holds = (
        "import fcntl, sys; file = open(sys.argv[1], 'ab'); "
        "fcntl.lockf(file, fcntl.LOCK_EX, *map(int, sys.argv[2:])); print(flush=True); input()"
    )
    words = [sys.executable, "-c", holds, str(claims_path(store)), *map(str, where)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        yield
        other.kill()


def test_a_shard_that_another_process_has_claimed_is_left_to_it(store, made):
    """When that process is killed its shards can be claimed again."""
    with another_process(store):
        execute(store, RUNS)
    assert made.runs == []
    execute(store, RUNS)
    assert made.runs == RUNS


def test_processes_begin_in_different_folders(store, made):
    """Runs in one folder share compiled programs; a folder in which another process works comes last."""
    elsewhere = [replace(run, scenario="shift") for run in RUNS]
    with another_process(store, 1, byte_of(RUNS[0].folder)):
        execute(store, [*RUNS, *elsewhere])
    assert made.runs == [*elsewhere, *RUNS]


def test_a_shard_that_another_process_has_computed_is_not_computed(store, made):
    """While the first is computed another process finishes the second."""

    def elsewhere(run):
        if run == RUNS[0]:
            (shard,) = store.shards(RUNS[1])
            store.write(shard, {"number": np.array([-1])}, MADE)

    made.before.append(elsewhere)
    execute(store, RUNS)
    assert made.runs == [RUNS[0], RUNS[2]]
