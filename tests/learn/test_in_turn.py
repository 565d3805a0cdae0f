"""Training in turn, on corridors of which the best policy is known: one network learns from all families."""

import jax
import numpy as np
import pytest
from corridor import corridor, table

from dowsax.learn import ppo
from dowsax.learn.base import all_finite
from dowsax.learn.checkpoint import Checkpointer
from dowsax.learn.in_turn import Stage, hold_out, train_in_turn
from dowsax.learn.ppo import PPOConfig
from dowsax.learn.rollout import Rollout

CONFIG = PPOConfig(learning_rate=0.03, minibatches=2, sees_time=False)
ROUNDS = 6


def stages(first: int = ROUNDS, second: int = 2):
    rollouts = {"short": corridor(8, 8), "long": corridor(16, 8)}
    return [
        Stage(
            name,
            {
                family: ppo.build(rollout, table, CONFIG, total_steps=2 * rounds)
                for family, rollout in rollouts.items()
            },
            CONFIG,
            rounds,
        )
        for name, rounds in (("first", first), ("second", second))
    ]


@pytest.fixture(scope="module")
def trained():
    return train_in_turn(stages(), table(jax.random.key(0)), jax.random.key(1))


def test_families_take_turns_in_each_stage(trained):
    rows = trained.rows
    assert [row["family"] for row in rows] == [0, 1] * (ROUNDS + 2)
    assert [row["stage"] for row in rows] == [0] * 2 * ROUNDS + [1] * 4
    steps = [row["steps"] for row in rows]
    assert steps == sorted(steps)
    assert [row["updates"] for row in rows] == list(range(1, len(rows) + 1))


def test_one_network_learns(trained):
    """It goes right, towards the prize, wherever it is."""
    assert bool(all_finite(trained.network))
    assert (np.diff(trained.network.logits, axis=1) > 0).all()


def test_an_interrupted_run_goes_on(tmp_path):
    """With all of its rows, in the stage in which it was, and through the rest."""
    checkpointer = Checkpointer(tmp_path / "checkpoint.safetensors", {"seed": 1})

    class Interrupted(Exception):
        pass

    def interrupt(turn):
        if len(turn.rows) == 2 * ROUNDS + 1:
            raise Interrupted

    parts = {"checkpointer": checkpointer, "save_interval_s": 0.0}
    start = table(jax.random.key(0))
    with pytest.raises(Interrupted):
        train_in_turn(stages(), start, jax.random.key(1), on_turn=interrupt, **parts)
    rows = checkpointer.load().rows
    assert len(rows) == 2 * ROUNDS + 1
    turn = train_in_turn(stages(), table(jax.random.key(0)), jax.random.key(1), **parts)
    assert turn.rows[: len(rows)] == rows
    assert len(turn.rows) == 2 * (ROUNDS + 2)
    again = train_in_turn(stages(), table(jax.random.key(0)), jax.random.key(1), **parts)
    assert again.rows == turn.rows
    for leaf, other in zip(jax.tree.leaves(again.network), jax.tree.leaves(turn.network), strict=True):
        np.testing.assert_array_equal(leaf, other)


def test_nothing_is_learned_from_what_is_held_out(key):
    """Its moves are not valid, and the others stay as they are."""
    held_out = np.arange(16) >= 12
    whole, rest = corridor(16, 8), hold_out(corridor(16, 8), held_out)
    searches = whole.init(key)
    _, moves, _ = whole.run(key, table(key), searches)
    _, fewer, _ = rest.run(key, table(key), searches)
    np.testing.assert_array_equal(fewer.valid, np.asarray(moves.valid) & ~held_out)
    assert np.asarray(moves.valid)[:, held_out].any()


def test_first_searches_may_share_memory():
    """As those of the benchmark's fields do: what is donated twice would stop the run."""
    simple = corridor(8, 8)

    def run(key, network, environments):
        after, transitions, tally = simple.run(key, network, environments[0])
        return (after, environments[1]), transitions, tally

    doubled = Rollout(lambda key: (simple.init(key),) * 2, run)
    learner = ppo.build(doubled, table, CONFIG, total_steps=2)
    stage = Stage("only", {"doubled": learner}, CONFIG, 2)
    turn = train_in_turn([stage], table(jax.random.key(0)), jax.random.key(1))
    assert [row["updates"] for row in turn.rows] == [1, 2]
