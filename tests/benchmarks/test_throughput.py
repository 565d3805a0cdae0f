"""Moves a second: what is counted, and when the clock runs."""

from typing import NamedTuple

import jax.numpy as jnp
import pytest

from benchmarks import throughput
from benchmarks.table_files import read_lines
from dowsax.learn import METHODS, Rollout


class Moved(NamedTuple):
    valid: jnp.ndarray


def test_only_moves_after_the_warming_up_are_counted():
    """Rollout k makes k moves: of three after two, 2 + 3 + 4. The clock is read twice."""
    runs = Rollout(
        lambda key: jnp.zeros((), jnp.int32),
        lambda key, network, slots: (slots + 1, Moved(jnp.arange(8) < slots), None),
    )
    times = iter((10.0, 14.0))
    assert throughput.moves_in(runs, None, 2, 3, lambda: next(times)) == (9, 4.0)


def test_a_new_line_takes_the_place_of_the_old(tmp_path, monkeypatch):
    speeds = iter("1234")
    monkeypatch.setattr(
        throughput,
        "measure",
        lambda name, searches, tiny: (
            {"method": name, "device": "abacus", "searches": str(searches)}
            | {"moves_per_second": next(speeds)}
        ),
    )
    for methods, searches in ((("pfrl", "att-pfrl"), None), (("pfrl",), None), (("pfrl",), 7)):
        throughput.write(tmp_path, methods, searches)
    lines = read_lines(tmp_path / throughput.FILE)
    assert [(line["method"], line["searches"], line["moves_per_second"]) for line in lines] == [
        ("att-pfrl", "None", "2"),
        ("pfrl", "None", "3"),
        ("pfrl", "7", "4"),
    ]


@pytest.mark.parametrize("preset", sorted({method.preset for method in METHODS.values()}))
def test_every_filter_of_training_is_timed(preset):
    assert preset in {METHODS[name].preset for name in throughput.USUAL}
