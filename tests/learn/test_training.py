"""Training runs: interruptions change nothing, damaged files are refused, NaN ends a run."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy
from corridor import corridor, table

from dowsax.learn import actor_critic, checkpoint, ppo
from dowsax.learn.base import LearnerState
from dowsax.learn.checkpoint import Checkpointer, restore
from dowsax.learn.train import Diverged, train

CONFIG = ppo.PPOConfig(epochs=1, minibatches=2)
NUM_SEARCHES = ROLLOUT_LENGTH = 8
STEPS = 200
"""About five updates of 45 moves each."""
CHUNK = 2


@pytest.fixture(scope="module")
def learner():
    return ppo.build(corridor(NUM_SEARCHES, ROLLOUT_LENGTH), table, CONFIG, total_steps=STEPS)


@pytest.fixture
def checkpointer(tmp_path):
    return Checkpointer(tmp_path / "checkpoint.safetensors", {"steps": STEPS, "fields": ["gas"]}, exact=True)


def arrays_of(state):
    return jax.tree.leaves(eqx.filter(state, eqx.is_array))


def require_equal(state, expected):
    for one, other in zip(arrays_of(state), arrays_of(expected), strict=True):
        np.testing.assert_array_equal(one, other)


class Interruption(Exception):
    """Stands for a key press or a failure between two chunks."""


def interrupt(progress):
    raise Interruption


@pytest.fixture
def interrupted(learner, checkpointer, key):
    """A run that was interrupted after its first chunk."""
    with pytest.raises(Interruption):
        train(learner, key, steps=STEPS, chunk=CHUNK, checkpointer=checkpointer, on_chunk=interrupt)
    return checkpointer


def test_interruptions_change_nothing(learner, interrupted, key):
    """An interrupted and resumed run equals one that was not interrupted, bit for bit, rows too."""
    whole, whole_rows = train(learner, key, steps=STEPS, chunk=CHUNK)
    assert interrupted.load().updates == CHUNK
    resumed, rows = train(learner, key, steps=STEPS, chunk=CHUNK, checkpointer=interrupted)
    require_equal(resumed, whole)
    assert [row["updates"] for row in rows] == list(range(1, len(rows) + 1))
    for row in [*whole_rows, *rows]:
        assert row.pop("seconds") > 0
    assert rows == whole_rows
    assert rows[-1]["steps"] >= STEPS
    again, rows_again = train(learner, key, steps=STEPS, chunk=CHUNK, checkpointer=interrupted)
    assert len(rows_again) == len(rows)
    assert int(again.steps) == rows[-1]["steps"]


def test_without_the_searches_new_ones_begin(learner, interrupted, key):
    """Network and optimiser are restored, the searches are new, and the run goes on."""
    state = restore(interrupted.load(), learner.init(key))
    slim = replace(interrupted, exact=False, path=interrupted.path.with_name("slim.safetensors"))
    slim.save(state, interrupted.load().rows)
    assert slim.path.stat().st_size < interrupted.path.stat().st_size
    found = restore(slim.load(), learner.init(jax.random.fold_in(key, 7)))
    np.testing.assert_array_equal(found.network.logits, state.network.logits)
    assert (found.environments.place != state.environments.place).any()


LONGER = 3 * STEPS


def asked_for(checkpointer, steps):
    """The checkpointer of the same run with another number of steps."""
    return replace(checkpointer, configuration={**checkpointer.configuration, "steps": steps})


def test_a_finished_run_goes_on_to_more_steps(checkpointer, key):
    """Bit for bit the run that was asked for them at once, if nothing is scheduled over them."""
    learner = actor_critic.build(corridor(NUM_SEARCHES, ROLLOUT_LENGTH), table)
    whole, whole_rows = train(learner, key, steps=LONGER, chunk=CHUNK)
    train(learner, key, steps=STEPS, chunk=CHUNK, checkpointer=checkpointer)
    longer = asked_for(checkpointer, LONGER)
    extended, rows = train(learner, key, steps=LONGER, chunk=CHUNK, checkpointer=longer)
    require_equal(extended, whole)
    assert [row["steps"] for row in rows] == [row["steps"] for row in whole_rows]
    assert longer.load().extended == (STEPS,)
    train(learner, key, steps=2 * LONGER, chunk=CHUNK, checkpointer=asked_for(checkpointer, 2 * LONGER))
    assert asked_for(checkpointer, 2 * LONGER).load().extended == (STEPS, LONGER)


def test_a_run_is_extended_only_when_it_is_finished(learner, interrupted, key):
    done = interrupted.load().rows[-1]["steps"]
    with pytest.raises(ValueError, match=f"{done} of {STEPS} steps have been made: it can be extended to"):
        asked_for(interrupted, LONGER).load()
    _, rows = train(learner, key, steps=STEPS, chunk=CHUNK, checkpointer=interrupted)
    for steps in (STEPS - 1, rows[-1]["steps"]):
        with pytest.raises(ValueError, match=f"steps have been made already, and {steps} are asked for"):
            asked_for(interrupted, steps).load()


@pytest.mark.slow
def test_many_seeds_learn_at_once(learner, key):
    """Mapped over keys, what a seed learns follows from its own key, whatever the others are."""
    keys = jax.random.split(key, 5)
    update = eqx.filter_vmap(lambda key: learner.update(key, learner.init(key)))
    program = eqx.filter_jit(update)
    (one, info), (other, other_info) = program(keys[:3]), program(keys[2:])
    np.testing.assert_array_equal(one.network.logits[2], other.network.logits[0])
    assert (one.network.logits[2] != one.network.logits[1]).any()
    assert int(info.steps[2]) == int(other_info.steps[0])
    assert info.healthy.all()


def test_lost_numbers_end_the_run(learner, checkpointer, key):
    """The message says when and what is left; the checkpoint is the one before."""

    def poisoned(key, state):
        values = jnp.where(state.updates == CHUNK + 1, jnp.nan, state.network.values)
        return learner.update(key, eqx.tree_at(lambda state: state.network.values, state, values))

    with pytest.raises(
        Diverged, match=rf"at update {CHUNK + 2}, after \d+ steps.*update {CHUNK}, is .*safet"
    ):
        train(learner._replace(update=poisoned), key, steps=STEPS, chunk=CHUNK, checkpointer=checkpointer)
    checkpoint = checkpointer.load()
    assert checkpoint.updates == CHUNK == len(checkpoint.rows)
    assert all(np.isfinite(array).all() for array in checkpoint.arrays.values())


def test_an_update_that_is_not_finite_is_not_made(key):
    """Network, optimiser and counts stay as they were."""
    rollout = corridor(NUM_SEARCHES, ROLLOUT_LENGTH)

    def run(key, network, environments):
        environments, transitions, tally = rollout.run(key, network, environments)
        reward = transitions.reward.at[3, 3].set(jnp.nan)
        valid = transitions.valid.at[3, 3].set(True)
        return environments, transitions._replace(reward=reward, valid=valid), tally

    sick = ppo.build(rollout._replace(run=run), table, CONFIG, total_steps=STEPS)
    before = sick.init(key)
    after, info = eqx.filter_jit(sick.update)(key, before)
    assert not info.healthy
    for name in ("network", "optimiser", "updates", "steps"):
        for one, other in zip(arrays_of(getattr(before, name)), arrays_of(getattr(after, name)), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_a_kill_while_writing_leaves_the_previous_one(tmp_path):
    """Killed in the middle of the write, or between the two renames: a whole checkpoint is found."""
    script = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        import jax.numpy as jnp
        from dowsax.learn import checkpoint
        from dowsax.learn.base import init_state

        checkpointer = checkpoint.Checkpointer(Path(sys.argv[1]), {})
        state = init_state({"weight": jnp.ones(1000)}, (), ())
        checkpointer.save(state, [{"updates": 1}])

        def die(*_):
            os.kill(os.getpid(), signal.SIGKILL)

        def half(path, data):
            path.write_bytes(data[: len(data) // 2])
            die()

        def first_only(source, target, replace=os.replace):
            replace(source, target)
            die()

        if sys.argv[2] == "half":
            checkpoint.write_through = half
        else:
            os.replace = first_only
        checkpointer.save(state, [{"updates": 1}, {"updates": 2}])
    """)
    for moment in ("half", "between"):
        path = tmp_path / moment / "checkpoint.safetensors"
        path.parent.mkdir()
        process = subprocess.run([sys.executable, "-c", script, str(path), moment], check=False, timeout=60)
        assert process.returncode == -signal.SIGKILL
        checkpoint = Checkpointer(path, {}).load()
        assert checkpoint.rows == [{"updates": 1}]
        np.testing.assert_array_equal(checkpoint.arrays[".network['weight']"], np.ones(1000))


def test_a_checkpoint_with_the_old_names_is_read(learner, interrupted, key):
    """Earlier versions wrote `slots` for `environments` and `num_ticks` for `rollout_length`."""
    before = restore(interrupted.load(), learner.init(key))
    with safetensors.safe_open(interrupted.path, framework="numpy") as file:
        header = json.loads(file.metadata()["dowsax"])
        arrays = {name.replace(".environments", ".slots"): file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    header["configuration"] |= {"num_ticks": 4}
    data = safetensors.numpy.save(arrays, metadata={"dowsax": json.dumps(header)})
    interrupted.path.write_bytes(data)
    now = replace(interrupted, configuration={**interrupted.configuration, "rollout_length": 4})
    require_equal(restore(now.load(), learner.init(key)), before)


def test_another_configuration_is_named(interrupted):
    """The setting in which they differ, and both its values."""
    other = replace(interrupted, configuration={"steps": STEPS, "fields": ["gas", "energy"]})
    with pytest.raises(ValueError, match="fields is gas there and gas, energy here"):
        other.load()


def test_another_network_is_refused(learner, interrupted, key):
    """The first array that does not fit, and both its shapes."""
    start_search = learner.init(key)
    wider = eqx.tree_at(lambda state: state.network.logits, start_search, jnp.zeros((9, 2)))
    with pytest.raises(ValueError, match=r"another network: \.network\.logits is float32\[5, 2\] there"):
        restore(interrupted.load(), wider)
    without = LearnerState(
        start_search.network, (), start_search.environments, start_search.updates, start_search.steps
    )
    with pytest.raises(ValueError, match="is in the file only"):
        restore(interrupted.load(), without)


@pytest.mark.parametrize("length", [0, 7, 100, -8])
def test_a_file_that_is_cut_short_is_refused(interrupted, length):
    """Wherever it ends."""
    data = interrupted.path.read_bytes()
    interrupted.path.write_bytes(data[:length])
    interrupted.previous.unlink()
    with pytest.raises(ValueError, match="cannot be read, it is cut short"):
        interrupted.load()


def test_the_one_before_takes_the_place_of_a_damaged_one(interrupted):
    before = safetensors.numpy.load_file(interrupted.previous)
    interrupted.path.write_bytes(interrupted.path.read_bytes()[:100])
    checkpoint = interrupted.load()
    assert checkpoint.path == interrupted.previous
    assert set(checkpoint.arrays) == set(before)


@pytest.mark.parametrize("header", [{"version": checkpoint.VERSION}, [1], {}])
def test_a_header_that_lacks_something_is_no_checkpoint(interrupted, header):
    interrupted.path.write_bytes(
        safetensors.numpy.save({"a": np.zeros(1)}, metadata={"dowsax": json.dumps(header)})
    )
    interrupted.previous.unlink()
    with pytest.raises(ValueError, match="no checkpoint"):
        interrupted.load()


def test_another_version_is_refused(interrupted):
    """Its number and ours."""
    header = {"version": checkpoint.VERSION + 1}
    data = safetensors.numpy.save({"a": np.zeros(1)}, metadata={"dowsax": json.dumps(header)})
    interrupted.path.write_bytes(data)
    with pytest.raises(ValueError, match="has layout 2, this version of dowsax reads 1"):
        interrupted.load()
    assert os.listdir(interrupted.path.parent).count(interrupted.previous.name) == 1


def test_keys_are_kept_as_bits(tmp_path, key):
    """A state may hold keys; they come back as they were."""
    state = LearnerState({}, (), {"key": key, "flag": jnp.array(True)}, jnp.array(3), jnp.array(4))
    checkpointer = Checkpointer(tmp_path / "keys.safetensors", {}, exact=True)
    checkpointer.save(state, [])
    other = eqx.tree_at(lambda state: state.environments["key"], state, jax.random.fold_in(key, 1))
    found = restore(checkpointer.load(), other)
    assert jax.random.key_data(found.environments["key"]).tolist() == jax.random.key_data(key).tolist()
    assert found.environments["flag"].dtype == bool
