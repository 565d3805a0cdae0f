"""The runner: nothing twice, nothing lost, and the same numbers with every shard size and engine."""

import multiprocessing
import os
import signal
import time
from dataclasses import replace

import jax
import numpy as np
import pytest
from made_results import SHARD_SIZE, assert_same, invented, shards_of

from dowsax.evaluate import episodes
from dowsax.evaluate.stops import LADDER
from dowsax.experiments import runner
from dowsax.experiments.evaluation import open_evaluation
from dowsax.experiments.run import Run, episode_keys
from dowsax.experiments.runner import FIRST_SHARD_S, execute, local, processes
from dowsax.experiments.store import Shard, Store

RUNS = [Run(policy, "temperature", episodes=2) for policy in ("random", "greedy", "straight")]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_the_shard_size_changes_no_number(runs, reference, computed):
    """Shards of two and of four, and an episode alone."""
    fours = computed(runs, local, "fours", shard_size=4).evaluation
    assert_same(reference.evaluation.episodes(), fours.episodes(), seconds=False)
    run = runs[0]
    search, policy = run.build()
    alone = episodes.run_episodes(search, policy, episode_keys(0, "temperature", np.array([5])), LADDER)
    assert_same({run: reference.evaluation.episodes()[run][5:]}, {run: alone}, seconds=False)


def test_policies_meet_the_same_sources(runs, reference):
    greedy, random = reference.evaluation.episodes().values()
    for one, other in zip(greedy, random, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)
        np.testing.assert_array_equal(one.rows.position[0], other.rows.position[0])
        assert one.rows.reading[0] == other.rows.reading[0]
    assert len({episode.theta.tobytes() for episode in greedy}) == runs[0].episodes


def test_progress_counts_every_episode(reference):
    shards = shards_of(reference.evaluation)
    ended = dict.fromkeys(shards, 0)
    for shard, more in reference.progress:
        ended[shard] += more
    assert ended == {shard: shard.size for shard in shards}


def test_an_interruption_loses_one_shard(runs, reference, tmp_path, monkeypatch):
    evaluation = open_evaluation(tmp_path, runs, SHARD_SIZE)
    compute, asked = runner.compute, []

    def interrupted(shard, *options):
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(shard)
        return compute(shard, *options)

    with monkeypatch.context() as patch:
        patch.setattr(runner, "compute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            execute(evaluation.store, runs)
    shards = shards_of(evaluation)
    assert evaluation.missing() == shards[2:]
    again = []
    monkeypatch.setattr(
        runner, "compute", lambda shard, *options: again.append(shard) or compute(shard, *options)
    )
    execute(evaluation.store, runs)
    assert again == shards[2:]
    assert_same(evaluation.episodes(), reference.evaluation.episodes(), seconds=False)


def test_an_interrupted_run_leaves_no_partial_file(store, made):
    def interrupt(run):
        if run == RUNS[1]:
            raise KeyboardInterrupt

    made.before.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        execute(store, RUNS)
    assert store.incomplete(RUNS) == RUNS[1:]
    made.before.clear()
    execute(store, RUNS)
    assert made.runs == RUNS
    assert store.missing(RUNS) == []
    assert not list(store.folder.rglob("*.partial"))


def test_a_damaged_run_is_computed_again(store, made):
    execute(store, RUNS[:1])
    path = store.path(RUNS[0])
    path.write_bytes(path.read_bytes()[:40])
    execute(store, RUNS[:1])
    assert made.runs == [RUNS[0], RUNS[0]]


def test_no_shard_is_begun_that_may_take_too_long(store, made, monkeypatch):
    """Each takes 100 s of a clock of our own; a third would not be over within 260 s."""
    clock = [0.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    made.before.append(lambda run: clock.__setitem__(0, clock[0] + 100))
    execute(store, RUNS, deadline=260.0)
    assert made.runs == RUNS[:2]
    execute(store, RUNS, deadline=clock[0] + FIRST_SHARD_S / 2)
    assert made.runs == RUNS[:2]


def test_a_batch_that_does_not_fit_is_halved(runs, reference, monkeypatch):
    """An accelerator with room for two episodes takes five as two, two and one."""
    sizes = []

    def in_groups(search, policies, keys, until, progress, *, first, record, present):
        if keys.shape[0] > 2:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")
        assert first == sum(sizes)
        sizes.append(keys.shape[0])
        return [invented(shards_of(reference.evaluation)[0])[0] for _ in keys]

    monkeypatch.setattr(episodes, "run_in_groups", in_groups)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    search, policy = runs[0].build()
    keys = episode_keys(0, "temperature", np.arange(5))
    assert len(episodes.run_episodes(search, policy, keys, LADDER)) == 5
    assert sizes == [2, 2, 1]


@pytest.mark.slow
def test_two_processes_one_killed(runs, reference, computed):
    killed = []

    def kill_one(store, runs, deadline, progress):
        def watched(shard, ended):
            progress(shard, ended)
            if ended and not killed:
                killed.append(multiprocessing.active_children()[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        processes(2)(store, runs, deadline, watched)

    evaluation = computed(runs, kill_one, "workers").evaluation
    assert len(killed) == 1
    assert evaluation.missing() == []
    assert multiprocessing.active_children() == []
    assert_same(reference.evaluation.episodes(), evaluation.episodes(), seconds=False)


class Ended:
    """A process that has ended."""

    def __init__(self, exitcode):
        self.exitcode = exitcode

    def join(self, timeout=None):
        """There is nothing to wait for."""

    def is_alive(self):
        return False


def ended_worker(message, exitcode):
    """A worker that has sent a message and ended."""
    ours, theirs = multiprocessing.Pipe()
    theirs.send(message)
    theirs.close()
    worker = object.__new__(runner._Worker)
    worker.process, worker.connection, worker.shard = Ended(exitcode), ours, None
    return worker


def test_a_shard_that_kills_every_process_ends_the_run(store, monkeypatch):
    started, message = [], ("progress", (Shard(RUNS[1], 0, 2), 0))
    monkeypatch.setattr(runner, "_start", lambda tasks: started.append(1) or ended_worker(message, -9))
    with pytest.raises(ValueError, match=r"greedy-\w{8}\.shards/00000-00002\.npz died 3 times"):
        execute(store, RUNS[:1], processes(1))
    assert len(started) == 3


@pytest.mark.parametrize(
    ("message", "error"),
    [(("input", "no such weights"), ValueError), (("failure", "Traceback: no such weights"), RuntimeError)],
)
def test_the_error_of_a_process_is_raised(store, monkeypatch, message, error):
    monkeypatch.setattr(runner, "_start", lambda tasks: ended_worker(message, 0))
    monkeypatch.setattr(Ended, "terminate", lambda process: None, raising=False)
    with pytest.raises(error, match="no such weights"):
        execute(store, RUNS, processes(2))


def test_processes_leave_an_accelerator_alone(store, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with pytest.raises(ValueError, match="leave --workers out"):
        execute(store, RUNS, processes(2))


def test_there_is_at_least_one_worker():
    with pytest.raises(ValueError, match="at least 1 worker; got 0"):
        processes(0)


def test_runs_of_other_settings_share_a_folder(store, made):
    execute(store, RUNS)
    others = [replace(run, seed=1) for run in RUNS]
    execute(store, others)
    assert made.runs == [*RUNS, *others]
    assert store.missing([*RUNS, *others]) == []
