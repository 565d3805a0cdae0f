"""A stored program is the program that would be traced, and it is used only where it is that."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Barrier

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax import programs
from dowsax.inference.presets import PRESETS
from dowsax.programs import stored_jit
from dowsax.world.distributions import LogUniform


@dataclass(frozen=True)
class Foreign:
    """Code that is no part of dowsax."""

    factor: float


@pytest.fixture
def folder(tmp_path):
    """The folder of stored programs of a cache of its own."""
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield tmp_path / "programs"
    jax.config.update("jax_compilation_cache_dir", before)


@pytest.fixture
def traced():
    """A function that looks like one of dowsax, and the list of its traces."""
    traces = []

    def scale(setting, array, shift):
        traces.append(setting)
        factor = setting if isinstance(setting, int) else setting.factor
        return {"scaled": factor * array + shift, "setting": setting, "none": None}

    scale.__module__ = "dowsax.made_up"
    return scale, traces


def new_run(function):
    """The function as a later run of the program has it: nothing is loaded yet."""
    return stored_jit(function)


ARRAY = jnp.arange(3.0)


def test_a_second_run_does_not_trace(folder, traced):
    """And gives the same, what is no array in its result included."""
    scale, traces = traced
    first = new_run(scale)(2, ARRAY, np.float32(1.0))
    assert traces == [2]
    second = new_run(scale)(2, ARRAY, np.float32(5.0))
    assert traces == [2]
    assert len(list(folder.iterdir())) == 1
    np.testing.assert_array_equal(first["scaled"], 2.0 * ARRAY + 1.0)
    np.testing.assert_array_equal(second["scaled"], 2.0 * ARRAY + 5.0)
    assert second["setting"] == 2
    assert second["none"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        (3, ARRAY, np.float32(1.0)),
        (2, jnp.arange(4.0), np.float32(1.0)),
        (2, jnp.arange(3), np.float32(1.0)),
        (2, ARRAY, 1),
    ],
    ids=["setting", "shape", "dtype", "number or not"],
)
def test_other_arguments_have_another_program(folder, traced, arguments):
    scale, traces = traced
    new_run(scale)(2, ARRAY, np.float32(1.0))
    found = new_run(scale)(*arguments)
    assert len(traces) == 2
    np.testing.assert_array_equal(found["scaled"], arguments[0] * arguments[1] + arguments[2])


def test_numbers_share_a_program(folder, traced):
    """Also those in a distribution: a site with other numbers is not compiled again."""
    scale, traces = traced
    stored = new_run(scale)
    for shift in (1.0, 4.5):
        np.testing.assert_array_equal(stored(2, ARRAY, shift)["scaled"], 2.0 * ARRAY + shift)

    def high(distribution):
        traces.append(distribution)
        return distribution.quantile(jnp.ones(()))

    high.__module__ = "dowsax.made_up"
    assert [float(new_run(high)(LogUniform(1.0, top))) for top in (10.0, 250.0)] == [10.0, 250.0]
    assert len(traces) == 2
    assert len(list(folder.iterdir())) == 2


def test_weak_types_stay(folder, traced):
    """Else what is computed from the result would be compiled again, or be of another type."""
    scale, _ = traced
    weak, strong = jnp.asarray(1.0), jnp.asarray(1.0, jnp.float32)
    assert weak.weak_type
    for shift in (weak, strong):
        expected = eqx.filter_jit(scale)(2, shift, shift)["scaled"]
        for _ in range(2):
            found = new_run(scale)(2, shift, shift)["scaled"]
            assert (found.dtype, found.weak_type) == (expected.dtype, expected.weak_type)


def test_a_program_of_its_own_results_is_compiled_once(folder, traced):
    """Its results are committed to a device only where its arguments are."""
    scale, _ = traced
    run, compiled, array = new_run(scale), [], ARRAY

    def listen(event, duration, fun_name=None, **kwargs):
        if event.endswith("backend_compile_duration") and fun_name == "jit(scale)":
            compiled.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listen)
    for _ in range(3):
        array = run(2, array, np.float32(1.0))["scaled"]
    jax.monitoring.unregister_event_duration_listener(listen)
    np.testing.assert_array_equal(array, 8.0 * ARRAY + 7.0)
    assert len(compiled) == 1
    assert not array.committed
    committed = jax.device_put(ARRAY, jax.devices()[0])
    assert run(2, committed, np.float32(1.0))["scaled"].committed


def test_threads_that_need_a_program_at_once_compile_it_once(folder, traced):
    scale, traces = traced
    run, together = new_run(scale), Barrier(2)

    def one(shift):
        together.wait()
        return run(2, ARRAY, np.float32(shift))["scaled"]

    with ThreadPoolExecutor(2) as pool:
        for shift, found in zip((1.0, 2.0), pool.map(one, (1.0, 2.0)), strict=True):
            np.testing.assert_array_equal(found, 2.0 * ARRAY + shift)
    assert traces == [2]


def test_code_that_may_change_is_not_stored(folder, traced):
    """Neither a function from elsewhere nor one that is given something from elsewhere."""
    scale, _ = traced
    found = new_run(scale)(Foreign(2.0), ARRAY, np.float32(1.0))
    np.testing.assert_array_equal(found["scaled"], 2.0 * ARRAY + 1.0)
    scale.__module__ = __name__
    found = new_run(scale)(2, ARRAY, np.float32(1.0))
    np.testing.assert_array_equal(found["scaled"], 2.0 * ARRAY + 1.0)
    assert not folder.exists()


def _flip_in_the_middle(stored):
    middle = len(stored) // 2
    return stored[:middle] + bytes([stored[middle] ^ 1]) + stored[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [lambda stored: b"", lambda stored: b"no program", lambda stored: stored[:-1], _flip_in_the_middle],
    ids=["empty", "other", "cut", "one bit"],
)
def test_a_damaged_file_is_written_again(folder, traced, damage):
    scale, traces = traced
    new_run(scale)(2, ARRAY, np.float32(1.0))
    (path,) = folder.iterdir()
    stored = path.read_bytes()
    path.write_bytes(damage(stored))
    found = new_run(scale)(2, ARRAY, np.float32(1.0))
    assert len(traces) == 2
    np.testing.assert_array_equal(found["scaled"], 2.0 * ARRAY + 1.0)
    assert len(path.read_bytes()) == len(stored)


def test_other_source_has_another_program(folder, traced, monkeypatch):
    scale, traces = traced
    new_run(scale)(2, ARRAY, np.float32(1.0))
    monkeypatch.setattr(programs, "_imported_source", lambda: "of another version")
    new_run(scale)(2, ARRAY, np.float32(1.0))
    assert len(traces) == 2
    assert len(list(folder.iterdir())) == 2


def test_the_digest_is_of_source_and_weights(monkeypatch, tmp_path):
    for name in ("a.py", "weights.safetensors", "page.html"):
        (tmp_path / name).write_text("before")
    monkeypatch.setattr(programs, "__file__", str(tmp_path / "programs.py"))
    digests = [programs._source_digest()]
    for name in ("page.html", "a.py", "weights.safetensors"):
        (tmp_path / name).write_text("after")
        digests.append(programs._source_digest())
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.parametrize("is_first", [True, False], ids=["before the first program", "after it"])
def test_source_that_was_changed_since_the_import_stores_nothing(folder, traced, monkeypatch, is_first):
    """As by an update beside a console that runs: nobody knows which of both was traced."""
    scale, _ = traced
    if is_first:
        programs._imported_source.cache_clear()
    else:
        assert programs._imported_source() is not None
    monkeypatch.setattr(programs, "_file_stamps", lambda: [("updated.py", 1, 1)])
    found = new_run(scale)(2, ARRAY, np.float32(1.0))
    np.testing.assert_array_equal(found["scaled"], 2.0 * ARRAY + 1.0)
    assert not folder.exists()
    programs._imported_source.cache_clear()


@pytest.mark.parametrize(
    ("setting", "other"), [("jax_default_prng_impl", "rbg"), ("jax_default_matmul_precision", "highest")]
)
def test_another_setting_of_jax_has_another_program(folder, traced, setting, other):
    """In the same run and in the next."""
    scale, traces = traced
    stored = new_run(scale)
    stored(2, ARRAY, np.float32(1.0))
    before = getattr(jax.config, setting)
    jax.config.update(setting, other)
    try:
        stored(2, ARRAY, np.float32(1.0))
        assert len(traces) == 2
        new_run(scale)(2, ARRAY, np.float32(1.0))
        assert len(traces) == 2
    finally:
        jax.config.update(setting, before)
    assert len(list(folder.iterdir())) == 2


def test_weights_of_ones_own_are_not_stored(folder):
    """The file may be another one in the next run; what ships with dowsax is part of its source."""
    own = replace(PRESETS["paper-learned"], projection="mine.safetensors")
    for preset, number in ((own, 0), (PRESETS["paper-learned"], 1)):
        run = partial(new_run(_second), preset)
        np.testing.assert_array_equal(run(ARRAY), ARRAY)
        assert len(list(folder.glob("*"))) == number


def _second(_, array):
    return array


_second.__module__ = "dowsax.made_up"


def test_a_folder_that_cannot_be_written_to_only_costs_time(folder, traced):
    scale, traces = traced
    folder.write_text("a file where the folder should be")
    for _ in range(2):
        found = new_run(scale)(2, ARRAY, np.float32(1.0))
        np.testing.assert_array_equal(found["scaled"], 2.0 * ARRAY + 1.0)
    assert len(traces) == 2


def test_keys_distributions_and_traces_pass(folder):
    """A program of a distribution and a random key; in another trace the function is part of that."""

    def draw(distribution, key):
        return jnp.log(distribution.sample(key))

    draw.__module__ = "dowsax.made_up"
    distribution, key = LogUniform(1.0, 10.0), jax.random.key(5)
    expected = draw(distribution, key)
    for _ in range(2):
        np.testing.assert_allclose(new_run(draw)(distribution, key), expected, rtol=1e-6)
    keys = jax.random.split(key, 4)
    together = jax.vmap(partial(new_run(draw), distribution))(keys)
    np.testing.assert_allclose(together, [draw(distribution, each) for each in keys], rtol=1e-6)


@pytest.mark.parametrize(
    ("setting", "value"), [("jax_compilation_cache_dir", None), ("jax_enable_compilation_cache", False)]
)
def test_nothing_is_stored_without_a_cache(folder, traced, setting, value):
    scale, _ = traced
    before = getattr(jax.config, setting)
    jax.config.update(setting, value)
    try:
        new_run(scale)(2, ARRAY, np.float32(1.0))
    finally:
        jax.config.update(setting, before)
    assert not folder.exists()
