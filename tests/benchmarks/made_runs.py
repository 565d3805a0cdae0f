"""Runs whose searches ended as the test says, without any filter."""

import numpy as np

from benchmarks.measured import Measured
from dowsax.evaluate.metrics import Ends
from dowsax.experiments.run import CONTRACTION, CREDIBLE, Run


def ended(path_length, *, stopped=True, error=0.5) -> Ends:
    """Searches that ended after these paths."""
    path_length = np.asarray(path_length, float)
    fill = lambda value, kind: np.broadcast_to(value, path_length.shape).astype(kind)  # noqa: E731
    reading = path_length.astype(int) + 1
    return Ends(fill(stopped, bool), reading, path_length, fill(error, float), fill(0.96, float))


def made_run(
    policy, path_length, *, field="temperature", scenario="id", preset="default", weights="abc", **ends
):
    """A run and what was measured in it; both rules stop alike."""
    run = Run(policy, field, scenario, preset, episodes=len(path_length))
    about = {"policy": policy, "preset": preset, "particles": 2048, "seed": 0, "weights": weights}
    about |= {"steps": None if weights is None else 5000}
    about |= {"episodes": len(path_length), "device": "abacus"}
    end = ended(path_length, **ends)
    theta = np.arange(2.0 * len(path_length)).reshape(-1, 2)
    return run, Measured(about, theta, np.ones(len(path_length)), {CREDIBLE: end, CONTRACTION: end})
