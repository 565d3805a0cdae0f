"""What holds in every test: shapes are checked, ranks are never promoted, keys come from the test's name."""

import gc
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

# Before the first import of dowsax: every annotated function and module of it is checked at run time.
install_import_hook("dowsax", "beartype.beartype")

jax.config.update("jax_numpy_rank_promotion", "raise")

# How long an example takes depends on the machine, and on what has to be compiled for it.
settings.register_profile("dowsax", deadline=None)
settings.load_profile("dowsax")

_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dowsax" / "jax"
jax.config.update("jax_compilation_cache_dir", str(_CACHE))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)

# No error of the compiler has to name the lines of Python that a program came from.
jax.config.update("jax_traceback_in_locations_limit", 0)

# Tracing leaves many objects behind, few of them in cycles.
gc.set_threshold(50_000, 20, 100)

_LONGEST = (
    "experiments/test_on_ray.py",
    "experiments/test_runner.py",
    "test_examples.py",
    "docs/test_tutorials.py",
    "experiments/suites/test_report.py",
    "browser/test_console_looks.py",
    "inference/test_gold.py",
    "inference/test_swaying_surveys.py",
    "learn/test_rollout.py",
    "inference/test_filter.py",
    "browser/test_console_restart.py",
    "browser/test_console_keeping.py",
    "cli/test_advise.py",
    "world/sensors/test_swaying_wind.py",
)
"""Files whose tests take longest, first: as the last ones they would leave a core idle."""

_MEMORY_MAPS = Path("/proc/self/maps")
_MOST_MEMORY_MAPS = 25_000


def pytest_configure(config: pytest.Config) -> None:
    """Warnings are errors, except that a cache one cannot write to only costs time."""
    config.addinivalue_line("filterwarnings", "ignore:Error (reading|writing) persistent compilation cache")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark cases beyond the first as slow where a test says so, and let long files begin."""
    num_cases: dict[str, int] = {}
    for item in items:
        mark = item.get_closest_marker("slow_after")
        name = item.nodeid.partition("[")[0]
        if mark is not None and num_cases.setdefault(name, 0) >= mark.args[0]:
            item.add_marker(pytest.mark.slow)
        num_cases[name] = num_cases.get(name, 0) + 1
    tests = Path(__file__).parent
    rank = {tests / name: number for number, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture
def key(request: pytest.FixtureRequest) -> jax.Array:
    """A key of the test's own: distinct between tests, the same in every run."""
    return jax.random.key(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(scope="module", autouse=True)
def _few_memory_maps() -> Iterator[None]:
    """Compiled functions are let go where there are many.

    Each holds memory maps, of which Linux allows a process 65,530; the compiler crashes beyond that.
    """
    yield
    if _MEMORY_MAPS.exists() and _MEMORY_MAPS.read_bytes().count(b"\n") > _MOST_MEMORY_MAPS:
        jax.clear_caches()
        gc.collect()
