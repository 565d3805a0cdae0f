"""Training runs: interruptions leave no trace, broken files are told apart, lost numbers end a run."""

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
from dowsax.learn.checkpoint import Keeper, restore
from dowsax.learn.train import Diverged, train

CONFIG = ppo.PPOConfig(epochs=1, minibatches=2)
NUM_SEARCHES = NUM_TICKS = 8
STEPS = 200
"""About five updates of 45 moves each."""
CHUNK = 2


@pytest.fixture(scope="module")
def learner():
    return ppo.build(corridor(NUM_SEARCHES, NUM_TICKS), table, CONFIG, total_steps=STEPS)


@pytest.fixture
def keeper(tmp_path):
    return Keeper(tmp_path / "checkpoint.safetensors", {"steps": STEPS, "fields": ["gas"]}, exact=True)


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
def begun(learner, keeper, key):
    """A run that was interrupted after its first chunk."""
    with pytest.raises(Interruption):
        train(learner, key, steps=STEPS, chunk=CHUNK, keeper=keeper, on_chunk=interrupt)
    return keeper


def test_interruptions_leave_no_trace(learner, begun, key):
    """Interrupted and taken up again is the same, bit for bit, as never interrupted, rows and all."""
    whole, whole_rows = train(learner, key, steps=STEPS, chunk=CHUNK)
    assert begun.load().updates == CHUNK
    resumed, rows = train(learner, key, steps=STEPS, chunk=CHUNK, keeper=begun)
    require_equal(resumed, whole)
    assert [row["updates"] for row in rows] == list(range(1, len(rows) + 1))
    for row in [*whole_rows, *rows]:
        assert row.pop("seconds") > 0
    assert rows == whole_rows
    assert rows[-1]["steps"] >= STEPS
    again, rows_again = train(learner, key, steps=STEPS, chunk=CHUNK, keeper=begun)
    assert len(rows_again) == len(rows)
    assert int(again.steps) == rows[-1]["steps"]


def test_without_the_searches_new_ones_begin(learner, begun, key):
    """What was learned is kept, the searches are others, and the run goes on."""
    state = restore(begun.load(), learner.init(key))
    slim = replace(begun, exact=False, path=begun.path.with_name("slim.safetensors"))
    slim.save(state, begun.load().rows)
    assert slim.path.stat().st_size < begun.path.stat().st_size
    found = restore(slim.load(), learner.init(jax.random.fold_in(key, 7)))
    np.testing.assert_array_equal(found.network.logits, state.network.logits)
    assert (found.slots.place != state.slots.place).any()


LONGER = 3 * STEPS


def asked_for(keeper, steps):
    """The keeper of the same run with another number of steps."""
    return replace(keeper, configuration={**keeper.configuration, "steps": steps})


def test_a_finished_run_goes_on_to_more_steps(keeper, key):
    """Bit for bit the run that was asked for them at once, if nothing is scheduled over them."""
    learner = actor_critic.build(corridor(NUM_SEARCHES, NUM_TICKS), table)
    whole, whole_rows = train(learner, key, steps=LONGER, chunk=CHUNK)
    train(learner, key, steps=STEPS, chunk=CHUNK, keeper=keeper)
    longer = asked_for(keeper, LONGER)
    extended, rows = train(learner, key, steps=LONGER, chunk=CHUNK, keeper=longer)
    require_equal(extended, whole)
    assert [row["steps"] for row in rows] == [row["steps"] for row in whole_rows]
    assert longer.load().extended == (STEPS,)
    train(learner, key, steps=2 * LONGER, chunk=CHUNK, keeper=asked_for(keeper, 2 * LONGER))
    assert asked_for(keeper, 2 * LONGER).load().extended == (STEPS, LONGER)


def test_a_run_is_extended_only_when_it_is_finished(learner, begun, key):
    done = begun.load().rows[-1]["steps"]
    with pytest.raises(ValueError, match=f"{done} of {STEPS} steps have been made: it can be extended to"):
        asked_for(begun, LONGER).load()
    _, rows = train(learner, key, steps=STEPS, chunk=CHUNK, keeper=begun)
    for steps in (STEPS - 1, rows[-1]["steps"]):
        with pytest.raises(ValueError, match=f"steps have been made already, and {steps} are asked for"):
            asked_for(begun, steps).load()


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


def test_lost_numbers_end_the_run(learner, keeper, key):
    """The message says when and what is left; the checkpoint is the one before."""

    def poisoned(key, state):
        values = jnp.where(state.updates == CHUNK + 1, jnp.nan, state.network.values)
        return learner.update(key, eqx.tree_at(lambda state: state.network.values, state, values))

    with pytest.raises(
        Diverged, match=rf"at update {CHUNK + 2}, after \d+ steps.*update {CHUNK}, is .*safet"
    ):
        train(learner._replace(update=poisoned), key, steps=STEPS, chunk=CHUNK, keeper=keeper)
    kept = keeper.load()
    assert kept.updates == CHUNK == len(kept.rows)
    assert all(np.isfinite(array).all() for array in kept.arrays.values())


def test_an_update_that_is_not_finite_is_not_made(key):
    """Network, optimiser and counts stay as they were."""
    rollout = corridor(NUM_SEARCHES, NUM_TICKS)

    def run(key, network, slots):
        slots, transitions, tally = rollout.run(key, network, slots)
        reward = transitions.reward.at[3, 3].set(jnp.nan)
        valid = transitions.valid.at[3, 3].set(True)
        return slots, transitions._replace(reward=reward, valid=valid), tally

    sick = ppo.build(rollout._replace(run=run), table, CONFIG, total_steps=STEPS)
    before = sick.init(key)
    after, info = eqx.filter_jit(sick.update)(key, before)
    assert not info.healthy
    for name in ("network", "optimiser", "updates", "steps"):
        for one, other in zip(arrays_of(getattr(before, name)), arrays_of(getattr(after, name)), strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_kill_while_writing_leaves_the_previous_one(tmp_path):
    """Killed in the middle of the write, or between the two renames: a whole checkpoint is found."""
    script = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        import jax.numpy as jnp
        from dowsax.learn import checkpoint
        from dowsax.learn.base import begin

        keeper = checkpoint.Keeper(Path(sys.argv[1]), {})
        state = begin({"weight": jnp.ones(1000)}, (), ())
        keeper.save(state, [{"updates": 1}])

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
        keeper.save(state, [{"updates": 1}, {"updates": 2}])
    """)
    for moment in ("half", "between"):
        path = tmp_path / moment / "checkpoint.safetensors"
        path.parent.mkdir()
        process = subprocess.run([sys.executable, "-c", script, str(path), moment], check=False, timeout=60)
        assert process.returncode == -signal.SIGKILL
        kept = Keeper(path, {}).load()
        assert kept.rows == [{"updates": 1}]
        np.testing.assert_array_equal(kept.arrays[".network['weight']"], np.ones(1000))


def test_another_configuration_is_named(begun):
    """The setting in which they differ, and both its values."""
    other = replace(begun, configuration={"steps": STEPS, "fields": ["gas", "energy"]})
    with pytest.raises(ValueError, match="fields is gas there and gas, energy here"):
        other.load()


def test_another_network_is_refused(learner, begun, key):
    """The first array that does not fit, and both its shapes."""
    fresh = learner.init(key)
    wider = eqx.tree_at(lambda state: state.network.logits, fresh, jnp.zeros((9, 2)))
    with pytest.raises(ValueError, match=r"another network: \.network\.logits is float32\[5, 2\] there"):
        restore(begun.load(), wider)
    without = LearnerState(fresh.network, (), fresh.slots, fresh.updates, fresh.steps)
    with pytest.raises(ValueError, match="is in the file only"):
        restore(begun.load(), without)


@pytest.mark.parametrize("length", [0, 7, 100, -8])
def test_a_file_that_is_cut_short_is_told(begun, length):
    """Wherever it ends."""
    data = begun.path.read_bytes()
    begun.path.write_bytes(data[:length])
    begun.previous.unlink()
    with pytest.raises(ValueError, match="cannot be read, it is cut short"):
        begun.load()


def test_the_one_before_takes_the_place_of_a_damaged_one(begun):
    before = safetensors.numpy.load_file(begun.previous)
    begun.path.write_bytes(begun.path.read_bytes()[:100])
    kept = begun.load()
    assert kept.path == begun.previous
    assert set(kept.arrays) == set(before)


@pytest.mark.parametrize("header", [{"version": checkpoint.VERSION}, [1], {}])
def test_a_header_that_lacks_something_is_no_checkpoint(begun, header):
    begun.path.write_bytes(
        safetensors.numpy.save({"a": np.zeros(1)}, metadata={"dowsax": json.dumps(header)})
    )
    begun.previous.unlink()
    with pytest.raises(ValueError, match="no checkpoint"):
        begun.load()


def test_another_version_is_told(begun):
    """Its number and ours."""
    header = {"version": checkpoint.VERSION + 1}
    data = safetensors.numpy.save({"a": np.zeros(1)}, metadata={"dowsax": json.dumps(header)})
    begun.path.write_bytes(data)
    with pytest.raises(ValueError, match="has layout 2, this version of dowsax reads 1"):
        begun.load()
    assert os.listdir(begun.path.parent).count(begun.previous.name) == 1


def test_keys_are_kept_as_bits(tmp_path, key):
    """A state may hold keys; they come back as they were."""
    state = LearnerState({}, (), {"key": key, "flag": jnp.array(True)}, jnp.array(3), jnp.array(4))
    keeper = Keeper(tmp_path / "keys.safetensors", {}, exact=True)
    keeper.save(state, [])
    other = eqx.tree_at(lambda state: state.slots["key"], state, jax.random.fold_in(key, 1))
    found = restore(keeper.load(), other)
    assert jax.random.key_data(found.slots["key"]).tolist() == jax.random.key_data(key).tolist()
    assert found.slots["flag"].dtype == bool
