"""Filling a folder: an interruption loses one cell, a budget is kept, and processes do not meet."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from dowsax.experiment import fingerprint
from dowsax.reproduce.cells import SearchCell, Sizes
from dowsax.reproduce.fill import LEAST, fill
from dowsax.reproduce.store import Store, byte_of
from dowsax.reproduce.workers import _complain

CELLS = [SearchCell(policy, "temperature") for policy in ("random", "greedy", "straight")]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, Sizes(episodes=2))


@pytest.fixture
def measured(monkeypatch):
    """The cells that were computed, at no cost; `measured.each` is called before each."""
    computed = []

    def measure(cell, sizes, source, progress, threads):
        for call in each:
            call(cell)
        computed.append(cell)
        return {"number": np.array(len(computed))}

    each = []
    monkeypatch.setattr(SearchCell, "measure", measure)
    computed_and_calls = type("Measured", (), {"cells": computed, "each": each})
    return computed_and_calls


def soon():
    return time.monotonic() + 10 * LEAST


def test_an_interruption_loses_one_cell(store, measured):
    def interrupt(cell):
        if cell == CELLS[1]:
            raise KeyboardInterrupt

    measured.each.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        fill(store, CELLS, soon())
    assert store.missing(CELLS) == CELLS[1:]
    measured.each.clear()
    fill(store, CELLS, soon())
    assert measured.cells == CELLS
    assert store.missing(CELLS) == []
    assert not list(store.folder.rglob("*.partial"))


def test_a_damaged_cell_is_computed_again(store, measured):
    fill(store, CELLS[:1], soon())
    path = store.path(CELLS[0])
    path.write_bytes(path.read_bytes()[:40])
    fill(store, CELLS[:1], soon())
    assert measured.cells == [CELLS[0], CELLS[0]]


def test_no_cell_is_begun_that_may_take_too_long(store, measured, monkeypatch):
    """Each cell takes 100 s of a clock of our own; a third would not be over within 260 s."""
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    measured.each.append(lambda cell: clock.__setitem__(0, clock[0] + 100))
    fill(store, CELLS, 260.0)
    assert measured.cells == CELLS[:2]
    fill(store, CELLS, clock[0] + LEAST / 2)
    assert measured.cells == CELLS[:2]


@contextmanager
def another_process(store, *where):
    """Another process that holds these bytes of the file of claims, or all of it, until it is killed."""
    holds = (
        "import fcntl, sys; file = open(sys.argv[1], 'ab'); "
        "fcntl.lockf(file, fcntl.LOCK_EX, *map(int, sys.argv[2:])); print(flush=True); input()"
    )
    words = [sys.executable, "-c", holds, str(store.folder / ".claims"), *map(str, where)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        yield
        other.kill()


def test_a_cell_that_another_process_is_at_is_left_to_it(store, measured):
    """When that process is killed its cells are free again."""
    with another_process(store):
        fill(store, CELLS, soon())
    assert measured.cells == []
    fill(store, CELLS, soon())
    assert measured.cells == CELLS


def test_processes_begin_in_folders_of_their_own(store, measured):
    """Cells of one folder share compiled programs; where another process is, one helps only at the end."""
    elsewhere = [replace(cell, scenario="shift") for cell in CELLS]
    with another_process(store, 1, byte_of(CELLS[0].folder)):
        fill(store, [*CELLS, *elsewhere], soon())
    assert measured.cells == [*elsewhere, *CELLS]


def test_a_cell_that_another_process_has_finished_is_not_computed(store, measured):
    """While the first is computed another process finishes the second."""

    def elsewhere(cell):
        if cell == CELLS[0]:
            store.keep(CELLS[1], {"number": np.array(-1)})

    measured.each.append(elsewhere)
    fill(store, CELLS, soon())
    assert measured.cells == [CELLS[0], CELLS[2]]


def test_cells_of_other_settings_have_other_names(store, tmp_path):
    stores = [
        store,
        *(replace(store, sizes=replace(store.sizes, **change)) for change in ({"seed": 1}, {"episodes": 3})),
        replace(store, sources={"random": "att-pfrl"}),
    ]
    assert len({one.path(CELLS[0]) for one in stores}) == len(stores)


def test_cells_of_other_code_are_refused_unless_it_is_trusted(store, measured, monkeypatch):
    fill(store, CELLS[:1], soon())
    mark = store.about(CELLS[0])["code"]
    monkeypatch.setattr(fingerprint, "code_mark", lambda: "other")
    with pytest.raises(ValueError, match=f"computed by other code, marked {mark}.*--trust {mark}"):
        store.missing(CELLS)
    assert replace(store, trusted=(mark,)).missing(CELLS) == CELLS[1:]


def test_a_cell_says_where_it_comes_from(store, measured):
    fill(store, CELLS[:1], soon())
    about = store.about(CELLS[0])
    assert {"policy", "field", "seed", "episodes", "filter", "code", "versions", "device"} <= set(about)
    assert json.loads(json.dumps(about)) == about


def test_what_a_process_says_is_raised():
    class Line:
        def __init__(self, *said):
            self.said = list(said)

        def recv(self):
            if not self.said:
                raise EOFError
            return self.said.pop()

    with pytest.raises(ValueError, match="no such weights"):
        _complain(Line(("input", "no such weights")), [0])
    with pytest.raises(RuntimeError, match="Traceback"):
        _complain(Line(("failure", "Traceback")), [0])
    with pytest.raises(ValueError, match="1 of 2 processes died"):
        _complain(Line(), [0, -9])
    _complain(Line(), [0, 0])
