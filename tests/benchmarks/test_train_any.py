"""The training of one policy for any problem, at tiny size, from its start to a policy that chooses."""

import csv
from dataclasses import replace

import pytest

from benchmarks import train_any
from benchmarks.train_any import NAME, TINY
from dowsax.policies import load
from dowsax.policies.candidate_network import CandidateNetwork
from dowsax.policies.stored import ANY_PROBLEM


@pytest.mark.slow
def test_a_tiny_run_ends_with_a_policy(tmp_path):
    """Through both stages; the same command again has nothing left to do."""
    config = replace(TINY, families=("magnetic-dipole",))
    train_any.train(config, tmp_path)
    rows = list(csv.DictReader((tmp_path / "curve.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["stage"] for row in rows] == ["0", "0", "1"]
    # Searches start in the first steps, so that a first update may have no move yet.
    assert int(rows[-1]["steps"]) > 0
    network, card = load(tmp_path / f"{NAME}.safetensors")
    assert isinstance(network, CandidateNetwork)
    assert card.fields == (ANY_PROBLEM,)
    assert card.steps == int(rows[-1]["steps"])
    again = train_any.train(config, tmp_path)
    assert len(again.rows) == len(rows)
