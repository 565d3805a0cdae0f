"""The evidence alone against that of `locate`, whose filter and keys it has."""

import jax
import numpy as np
import pytest

from dowsax.inference.evidence import compile_evidence, find_log_evidence
from dowsax.inference.locate import locate
from dowsax.world import benchmark_model

MODEL = benchmark_model("temperature")
DISTANCES = np.array([12.0, 9.0, 6.0, 4.0, 2.0, 1.0])
POSITIONS = np.stack([12 - DISTANCES, np.full(6, 10.0)], axis=1)
READINGS = 20 * np.exp(-DISTANCES / 3) / DISTANCES
FILTER = {"model": MODEL, "preset": "default", "particles": 64}


@pytest.mark.parametrize("seed", [0, 3])
def test_is_that_of_locate(seed):
    expected = locate(POSITIONS, READINGS, **FILTER, seed=seed).log_evidence
    found = find_log_evidence(POSITIONS, READINGS, **FILTER, seed=seed)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_is_minus_infinity_where_a_reading_cannot_be_explained():
    readings = np.array([1.0, 1e25])
    with pytest.raises(ValueError, match="explain"):
        locate(POSITIONS[:2], readings, **FILTER)
    assert find_log_evidence(POSITIONS[:2], readings, **FILTER) == -np.inf


def test_compiles_ahead(caplog):
    """The program that `find_log_evidence` uses: after it nothing is left to compile."""
    other = FILTER | {"particles": 96}

    def compiled():
        return [record for record in caplog.records if "_run_evidence" in record.getMessage()]

    with jax.log_compiles():
        compile_evidence(POSITIONS, READINGS, **other)
        assert compiled()
        caplog.clear()
        find_log_evidence(POSITIONS, READINGS, **other)
        assert not compiled()
