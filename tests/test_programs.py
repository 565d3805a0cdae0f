"""A stored program is the program that would be traced, and it is used only where it is that."""

from dataclasses import dataclass
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

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
        factor = setting if isinstance(setting, float) else setting.factor
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
    first = new_run(scale)(2.0, ARRAY, np.float32(1.0))
    assert traces == [2.0]
    second = new_run(scale)(2.0, ARRAY, np.float32(5.0))
    assert traces == [2.0]
    assert len(list(folder.iterdir())) == 1
    np.testing.assert_array_equal(first["scaled"], 2.0 * ARRAY + 1.0)
    np.testing.assert_array_equal(second["scaled"], 2.0 * ARRAY + 5.0)
    assert second["setting"] == 2.0
    assert second["none"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        (3.0, ARRAY, np.float32(1.0)),
        (2.0, jnp.arange(4.0), np.float32(1.0)),
        (2.0, jnp.arange(3), np.float32(1.0)),
        (2.0, ARRAY, 1.0),
    ],
    ids=["setting", "shape", "dtype", "array or not"],
)
def test_other_arguments_have_another_program(folder, traced, arguments):
    scale, traces = traced
    new_run(scale)(2.0, ARRAY, np.float32(1.0))
    found = new_run(scale)(*arguments)
    assert len(traces) == 2
    np.testing.assert_array_equal(found["scaled"], arguments[0] * arguments[1] + arguments[2])


def test_weak_types_stay(folder, traced):
    """Else what is computed from the result would be compiled again, or be of another type."""
    scale, _ = traced
    weak, strong = jnp.asarray(1.0), jnp.asarray(1.0, jnp.float32)
    assert weak.weak_type
    for shift in (weak, strong):
        expected = eqx.filter_jit(scale)(2.0, shift, shift)["scaled"]
        for _ in range(2):
            found = new_run(scale)(2.0, shift, shift)["scaled"]
            assert (found.dtype, found.weak_type) == (expected.dtype, expected.weak_type)


def test_code_that_may_change_is_not_stored(folder, traced):
    """Neither a function from elsewhere nor one that is given something from elsewhere."""
    scale, _ = traced
    found = new_run(scale)(Foreign(2.0), ARRAY, np.float32(1.0))
    np.testing.assert_array_equal(found["scaled"], 2.0 * ARRAY + 1.0)
    scale.__module__ = __name__
    found = new_run(scale)(2.0, ARRAY, np.float32(1.0))
    np.testing.assert_array_equal(found["scaled"], 2.0 * ARRAY + 1.0)
    assert not folder.exists()


@pytest.mark.parametrize("damage", [b"", b"no program", b"\x80\x05K\x01."])
def test_a_damaged_file_is_written_again(folder, traced, damage):
    scale, traces = traced
    new_run(scale)(2.0, ARRAY, np.float32(1.0))
    (path,) = folder.iterdir()
    stored = path.read_bytes()
    path.write_bytes(damage)
    found = new_run(scale)(2.0, ARRAY, np.float32(1.0))
    assert len(traces) == 2
    np.testing.assert_array_equal(found["scaled"], 2.0 * ARRAY + 1.0)
    assert len(path.read_bytes()) == len(stored)


def test_a_folder_that_cannot_be_written_to_only_costs_time(folder, traced):
    scale, traces = traced
    folder.write_text("a file where the folder should be")
    for _ in range(2):
        found = new_run(scale)(2.0, ARRAY, np.float32(1.0))
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


def test_nothing_is_stored_without_a_cache(folder, traced):
    scale, _ = traced
    jax.config.update("jax_compilation_cache_dir", None)
    new_run(scale)(2.0, ARRAY, np.float32(1.0))
    assert not folder.exists()
