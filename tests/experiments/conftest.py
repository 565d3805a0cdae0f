"""A tiny evaluation, computed once, and made-up episodes for tests that need none."""

from typing import NamedTuple

import numpy as np
import pytest
from made_results import SHARD_SIZE, invent, shards_of

from dowsax.experiments.evaluation import Evaluation, grid, open_evaluation
from dowsax.experiments.run import Run
from dowsax.experiments.runner import execute, local


class Computed(NamedTuple):
    """An evaluation and the progress that was reported while it was computed."""

    evaluation: Evaluation
    progress: list


@pytest.fixture(scope="session")
def runs():
    """Two policies, six episodes in shards of two."""
    return grid(("greedy", "random"), ("temperature",), episodes=6, particles=64, max_readings=6)


@pytest.fixture(scope="session")
def computed(tmp_path_factory):
    """(runs, engine, name) -> the evaluation in a folder of its own, computed by the engine."""

    def compute(runs, engine, name, shard_size=SHARD_SIZE):
        evaluation = open_evaluation(tmp_path_factory.mktemp(name), runs, shard_size)
        progress = []
        report = lambda shard, ended: progress.append((shard, ended))  # noqa: E731
        execute(evaluation.store, runs, engine, progress=report)
        return Computed(evaluation, progress)

    return compute


@pytest.fixture(scope="session")
def reference(runs, computed):
    """The tiny evaluation, computed in this process."""
    return computed(runs, local, "reference")


@pytest.fixture
def invented_evaluation(runs, tmp_path):
    """A complete evaluation of made-up episodes; nothing may be computed from its numbers."""
    evaluation = open_evaluation(tmp_path / "invented", runs, SHARD_SIZE)
    for shard in shards_of(evaluation):
        invent(evaluation.store, shard)
    return evaluation


@pytest.fixture
def made(monkeypatch):
    """The runs that were computed, at no cost; what is in `made.before` is called before each."""
    made = type("Made", (), {"runs": [], "before": []})

    def compute(run, start, stop, progress, threads):
        for call in made.before:
            call(run)
        made.runs.append(run)
        return {"number": np.array([len(made.runs)])}

    monkeypatch.setattr(Run, "compute", compute)
    return made
