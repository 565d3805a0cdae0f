"""The sweep of one who is told more: its stations, when it sees a source, and how long it takes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import limits
from dowsax.evaluate.metrics import Ends
from dowsax.world import benchmark_model

STRONG = np.array([12.0, 9.0, 2000.0, 0.5, 0.0, 2.0, 6.0], np.float32)
FAINT = np.array([12.0, 9.0, 2000.0, 0.5, 0.0, 2.0, 0.15], np.float32)


@pytest.mark.parametrize("spacing", limits.SPACINGS)
@pytest.mark.parametrize("turned", [False, True])
def test_a_sweep_goes_in_unit_moves_and_leaves_no_gap(spacing, turned):
    """Every place of the sources' square is within half a spacing, and half a move, of some station."""
    stations = limits.sweep(spacing, turned)
    moves = np.abs(np.diff(stations, axis=0)).sum(axis=1)
    assert set(np.round(moves, 5)) <= {0.0, 1.0}
    if moves[-1] > 0:
        # Too narrow for the readings there are.
        assert spacing < 2
        return
    side = np.linspace(limits.LOW, limits.HIGH, 31)
    places = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    nearest = np.abs(places[:, None] - stations[None]).max(axis=2).min(axis=1)
    assert nearest.max() <= spacing / 2 + 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("field", "expected"), [("temperature", 0.01), ("energy", 1.155)])
def test_clean_air_is_told_by_half_a_nat(field, expected):
    """Normal: (c/σ)²/2 at c = σ, up to the noise that grows with c. Poisson: (1 + c) log(1 + c) − c."""
    assert np.exp(limits.threshold(benchmark_model(field))) == pytest.approx(expected, rel=0.12)


def test_a_strong_source_is_met_at_once_and_a_faint_one_is_swept_for():
    model = benchmark_model("temperature")
    paths = jnp.array([limits.sweep(spacing, False) for spacing in (2.0, 15.0)])
    thetas = jnp.array([STRONG, FAINT])
    swept, straight = jax.device_get(
        limits.expected_paths(model, float(np.log(0.01)), thetas, jnp.zeros(2), paths)
    )
    # Seen from the start: then both are the way to it, which is as long along either axis.
    np.testing.assert_allclose([swept[0], straight[0]], 2 * (12.5 - 2.5), rtol=1e-4)
    # The faint one is not found everywhere, and where it is, on a longer way.
    assert 0.3 * straight[0] < straight[1] < straight[0]
    assert swept[1] > 1.5 * straight[1]


@pytest.mark.slow
def test_the_ratio_is_over_the_straight_walk():
    """With strong sources the told searcher is the straight walk itself."""
    rng = np.random.default_rng(0)
    thetas = np.tile(STRONG, (200, 1))
    thetas[:, :2] = rng.uniform(limits.LOW, limits.HIGH, (200, 2))
    lengths = np.abs(thetas[:, :2] - 2.5).sum(axis=1)
    zeros, ones = np.zeros(200), np.ones(200)
    ends = Ends(np.ones(200, bool), lengths, lengths, zeros, ones)
    found = limits.sweep_ratio(benchmark_model("temperature"), thetas, ends)
    assert found.value == pytest.approx(1.0, abs=1e-4)
    assert found.low <= found.value <= found.high
    assert found.n == 200
