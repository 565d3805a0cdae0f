"""What holds in every test: shapes are checked, ranks are never promoted, keys come from the test's name."""

import os
import zlib
from pathlib import Path

import jax
import pytest
from jaxtyping import install_import_hook

# Before the first import of dowsax: every annotated function and module of it is checked at run time.
install_import_hook("dowsax", "beartype.beartype")

jax.config.update("jax_numpy_rank_promotion", "raise")

_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dowsax" / "jax"
jax.config.update("jax_compilation_cache_dir", str(_CACHE))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def pytest_configure(config: pytest.Config) -> None:
    """Warnings are errors, except that a cache one cannot write to only costs time."""
    config.addinivalue_line("filterwarnings", "ignore:Error (reading|writing) persistent compilation cache")


@pytest.fixture
def key(request: pytest.FixtureRequest) -> jax.Array:
    """A key of the test's own: distinct between tests, the same in every run."""
    return jax.random.key(zlib.crc32(request.node.nodeid.encode()))
