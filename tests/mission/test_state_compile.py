"""What is compiled ahead is what the first reading needs."""

import jax
import pytest
from made_missions import hill_site

from dowsax.mission.advisor import Advisor
from dowsax.world import benchmark_model


@pytest.fixture
def log_compiles():
    """JAX logs what is compiled, in the threads of a warm-up as well."""
    jax.config.update("jax_log_compiles", True)
    yield
    jax.config.update("jax_log_compiles", False)


def test_the_first_reading_compiles_no_filter(log_compiles, caplog):
    """Of a model whose programs are stored: a warm-up with values of another kind would be in vain."""
    site = hill_site(particles=96, geofence=(), no_go=())
    advisor = Advisor(site, "infotaxis", seed=4, model=benchmark_model("temperature"))
    assert _steps(caplog) == {"_step", "_step_null"}
    caplog.clear()
    advisor.observe((2.0, 2.0), 1.0)
    assert not _steps(caplog)


def _steps(caplog) -> set[str]:
    """Return the functions of the filters that were compiled."""
    lines = [line for line in caplog.messages if line.startswith("Compiling")]
    return {name for name in ("_step", "_step_null") if any(f"jit({name})" in line for line in lines)}
