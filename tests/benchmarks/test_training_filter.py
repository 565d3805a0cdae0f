"""The check of the filters of training: its runs and its table, on made-up searches."""

import numpy as np
from made_runs import made_run

from benchmarks import learning_tables, training_filter
from benchmarks.table_files import read_lines
from dowsax.evaluate.tables import labelled_csv
from dowsax.inference import PRESETS
from dowsax.learn import METHODS


def test_every_filter_of_training_is_checked():
    assert {method.preset for method in METHODS.values()} <= set(training_filter.FILTERS) <= set(PRESETS)
    plan = training_filter.plan(["plain", "training"], ["straight", "folder/mine.safetensors"], ["gas"])
    assert [(one.preset, one.policy) for one in plan] == [
        (preset, policy) for preset in ("plain", "training") for policy in ("straight", "mine")
    ]


def test_collapse_is_seen(tmp_path):
    """One false stop of forty is allowed; half of them are not."""
    error = np.full(40, 0.1)
    runs = [
        made_run("straight", np.ones(40), preset="training", error=np.where(np.arange(40) < 1, 2.0, error)),
        made_run("straight", np.ones(40), preset="plain", error=np.where(np.arange(40) < 20, 2.0, error)),
    ]
    path = tmp_path / training_filter.FILE
    path.write_text(labelled_csv(training_filter.lines_of(dict(runs))), encoding="utf-8")
    assert len(read_lines(path)) == 4
    table = learning_tables.tables(tmp_path)["filters-credible"]
    rows = [[part.strip() for part in line.split("|")[1:4]] for line in table.splitlines()[2:4]]
    assert rows[0] == ["training", "straight", "0.03 [0.00, 0.13]"]
    assert rows[1] == ["plain", "straight", "**0.50 [0.35, 0.65]**"]
