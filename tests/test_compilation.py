"""Compiled programs are kept between runs, and no step is ever compiled twice in one."""

import os
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from dowsax.inference import PRESETS, FilterConfig, Preset
from dowsax.types import Station
from dowsax.world import benchmark_model

SOURCE = Path(__file__).parents[1] / "src"
STATION = Station(jnp.zeros(2, jnp.float32))


def after_a_command(expression, **environment):
    """What an expression prints once the command line has run, in a process of its own."""
    script = f"from dowsax.cli import run; run(['--version']); import os, jax; print({expression})"
    unset = ("JAX_", "DOWSAX_", "TF_", "XLA_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unset)}
    outcome = subprocess.run(
        [sys.executable, "-c", script],
        env=kept | {"PYTHONPATH": str(SOURCE)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return outcome.stdout.splitlines()[-1]


def test_the_cache_is_on_unless_switched_off_or_given(tmp_path):
    """In the user's cache folder by default; elsewhere if JAX was told so; nowhere if switched off."""
    folder, user = "jax.config.jax_compilation_cache_dir", str(tmp_path)
    assert after_a_command(folder, XDG_CACHE_HOME=user) == str(tmp_path / "dowsax" / "jax")
    assert after_a_command(folder, XDG_CACHE_HOME=user, DOWSAX_COMPILATION_CACHE="off") == "None"
    assert after_a_command(folder, JAX_COMPILATION_CACHE_DIR="/elsewhere") == "/elsewhere"


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", PRESETS)
def test_step_gives_back_the_kind_of_belief_it_takes(name, key):
    """Same shapes and dtypes, none weak: else the second reading would compile, and nothing be stored."""
    filter_ = PRESETS[name].with_particles(32).with_ranks().with_horizon(4).build(benchmark_model("gas"))
    before = jax.eval_shape(filter_.init, key)
    after, _ = jax.eval_shape(filter_.step, key, before, STATION, jnp.zeros(()))
    kinds = [
        [(leaf.shape, leaf.dtype, leaf.weak_type) for leaf in jax.tree.leaves(at)] for at in (before, after)
    ]
    assert jax.tree.structure(before) == jax.tree.structure(after)
    assert kinds[0] == kinds[1]
    assert not any(weak for _, _, weak in kinds[0])


def test_step_traces_once(key):
    """Two readings one after the other, one trace."""
    config = FilterConfig(num_particles=16, horizon=4, temper=False, num_moves=0, max_moves=0)
    filter_ = Preset(config, proposals=()).build(benchmark_model("temperature"))
    step = jax.jit(eqx.debug.assert_max_traces(filter_.step, max_traces=1))
    init_key, first_key, second_key = jax.random.split(key, 3)
    belief = jax.jit(filter_.init)(init_key)
    belief, _ = step(first_key, belief, STATION, jnp.asarray(1.0, jnp.float32))
    belief, _ = step(second_key, belief, STATION, jnp.asarray(2.0, jnp.float32))
    assert belief.history.size == 2


def test_the_command_line_keeps_alarms_of_the_compiler_off_stderr():
    """Constant folding that takes long is an alarm of level 2. A level that the user has set stays."""
    level = "os.environ['TF_CPP_MIN_LOG_LEVEL']"
    assert after_a_command(level) == "3"
    assert after_a_command(level, TF_CPP_MIN_LOG_LEVEL="0") == "0"
