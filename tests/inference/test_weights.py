"""Laws of weights in log space."""

import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dowsax.inference.weights import alive, ess, log_total, max_weight, normalise

# Fixed shape: one compilation. A share of −∞ stands for particles outside the budget.
ENTRIES = st.one_of(st.floats(-200, 200, width=32), st.just(-np.inf))
LOG_WEIGHTS = arrays(np.float32, 12, elements=ENTRIES)
SEARCH = settings(max_examples=50, deadline=None, derandomize=True)


@SEARCH
@given(LOG_WEIGHTS)
def test_normalised_weights_agree_with_double_precision(values):
    result = np.asarray(normalise(jnp.asarray(values)))
    assert not np.isnan(result).any()
    if not np.isfinite(values).any():
        assert (result == -np.inf).all()
        assert not alive(jnp.asarray(values))
        return
    wide = values.astype(np.float64)
    weights = np.exp(wide - wide.max())
    weights /= weights.sum()
    # The entries are at most 400 apart: float32 rounding of their difference.
    np.testing.assert_allclose(np.exp(result), weights, rtol=400 * 2**-22, atol=1e-30)
    size = float(ess(jnp.asarray(result)))
    np.testing.assert_allclose(size, 1 / np.sum(weights**2), rtol=1e-3)
    assert 1 - 1e-3 <= size <= 12 * (1 + 1e-3)
    np.testing.assert_allclose(float(max_weight(jnp.asarray(result))), weights.max(), rtol=1e-4)


def test_one_dominating_weight_has_effective_size_one():
    assert ess(normalise(jnp.array([0.0, -500.0, -jnp.inf]))) == 1.0


def test_no_particle_left_gives_no_nan():
    dead = jnp.full(4, -jnp.inf, jnp.float32)
    assert log_total(dead) == -jnp.inf
    assert ess(dead) == 0.0
    assert max_weight(dead) == 0.0
