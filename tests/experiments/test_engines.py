"""Processes and Ray give the numbers of a run here, bit for bit, even when one of them is killed."""

import multiprocessing
import os
import signal
import threading
from pathlib import Path

import jax
import pytest

from dowsax.experiment import workers
from dowsax.experiment.on_ray import on_ray
from dowsax.experiment.shards import cut
from dowsax.experiment.workers import processes

from .conftest import assert_same


def test_two_processes_one_killed(config, reference, filled_run):
    killed = []

    def kill_one(*arguments):
        config, shards, progress = arguments

        def watched(shard, ended):
            progress(shard, ended)
            if not killed:
                killed.append(multiprocessing.active_children()[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        yield from processes(2)(config, shards, watched)

    run = filled_run(config, kill_one, "workers").run
    assert len(killed) == 1
    assert run.missing() == []
    assert multiprocessing.active_children() == []
    assert_same(reference.run.cells(), run.cells(), seconds=False)


def test_a_shard_that_kills_every_process_ends_the_run(config, monkeypatch):
    started = []

    def doomed(config, shard):
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=os._exit, args=(1,))
        process.start()
        theirs.close()
        started.append(shard)
        return workers._Worker(process, ours, shard)

    monkeypatch.setattr(workers, "_started", doomed)
    shard = cut(config)[1]
    with pytest.raises(ValueError, match=r"greedy--temperature--id--00001\.npz died 3 times"):
        next(processes(1)(config, [shard], lambda shard, ended: None))
    assert started == [shard] * 3


def test_processes_leave_an_accelerator_alone(config, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with pytest.raises(ValueError, match="leave --workers out"):
        next(processes(2)(config, [], lambda shard, ended: None))


def descendants(name):
    """The processes below this one whose title begins with a name."""
    parents, titles = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            titles[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:
            continue

    def ours(process):
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return [process for process, title in titles.items() if title.startswith(name) and ours(process)]


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_a_local_ray_of_two_workers_one_killed(config, reference, filled_run):
    pytest.importorskip("ray")
    killed, over = [], threading.Event()

    def kill_one():
        while not (killed or over.wait(0.05)):
            working = descendants("ray::compute_alone")
            if working:
                os.kill(working[0], signal.SIGKILL)
                killed.append(working[0])

    killer = threading.Thread(target=kill_one)
    killer.start()
    try:
        run = filled_run(config, on_ray("local", 2), "ray").run
    finally:
        over.set()
        killer.join()
    assert len(killed) == 1
    assert run.missing() == []
    assert_same(reference.run.cells(), run.cells(), seconds=False)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("somewhere", "A Ray address is local, auto, HOST:PORT"),
        ("127.0.0.1:99999", "No Ray answers"),
        ("127.0.0.1:1", "No Ray answers at 127.0.0.1:1"),
    ],
)
def test_an_address_without_a_ray_is_refused(config, address, message):
    pytest.importorskip("ray")
    with pytest.raises(ValueError, match=message):
        next(on_ray(address)(config, [], lambda shard, ended: None))
