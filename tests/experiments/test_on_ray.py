"""Ray gives the numbers of a run in this process, bit for bit, even when a worker is killed."""

import os
import signal
import threading
from pathlib import Path

import pytest
from made_results import assert_same

from dowsax.experiments.on_ray import on_ray
from dowsax.experiments.runner import execute
from dowsax.experiments.store import Store

ray = pytest.importorskip("ray")


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


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_a_local_ray_of_two_workers_one_killed(runs, reference, computed):
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
        evaluation = computed(runs, on_ray("local", 2), "ray").evaluation
    finally:
        over.set()
        killer.join()
    assert len(killed) == 1
    assert evaluation.missing() == []
    assert_same(reference.evaluation.episodes(), evaluation.episodes(), seconds=False)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("somewhere", "A Ray address must be local, auto, HOST:PORT"),
        ("127.0.0.1:99999", "No Ray answers"),
        ("127.0.0.1:1", "No Ray answers at 127.0.0.1:1"),
    ],
)
def test_an_address_without_a_ray_is_refused(runs, tmp_path, address, message):
    with pytest.raises(ValueError, match=message):
        execute(Store(tmp_path), runs, on_ray(address))
