"""Learners on a corridor whose best policy and values are known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from corridor import NUM_PLACES, best_values, corridor, observe, table

from dowsax.learn import actor_critic, losses, ppo
from dowsax.learn.base import anneal, init_state
from dowsax.learn.rollout import Transitions

DISCOUNT = 0.9


def after(learner, num_updates):
    """A program that learns for so many updates."""

    @eqx.filter_jit
    def run(key):
        init_key, update_key = jax.random.split(key)
        arrays, rest = eqx.partition(learner.init(init_key), eqx.is_array)

        def update(arrays, key):
            state, info = learner.update(key, eqx.combine(arrays, rest))
            return eqx.filter(state, eqx.is_array), info

        arrays, infos = jax.lax.scan(update, arrays, jax.random.split(update_key, num_updates))
        return eqx.combine(arrays, rest), infos

    return run


@pytest.fixture(scope="module")
def learners():
    rollout = corridor()
    ppo_config = ppo.PPOConfig(
        discount=DISCOUNT, learning_rate=0.02, final_learning_rate=0.002, minibatches=4
    )
    paper_config = actor_critic.ActorCriticConfig(discount=DISCOUNT, actor_rate=0.1, critic_rate=0.1)
    return {
        "ppo": after(ppo.build(rollout, table, ppo_config, total_steps=14_000), 80),
        "actor-critic": after(actor_critic.build(rollout, table, paper_config), 150),
    }


@pytest.mark.parametrize("name", ["ppo", "actor-critic"])
def test_finds_the_best_policy_and_its_values(learners, name, key):
    """Right everywhere, and the value of each place is γ to the number of moves still needed."""
    state, infos = learners[name](key)
    right = jax.nn.softmax(state.network.logits)[:, 1]
    assert (right > 0.9).all()
    # Errors of the policy cost moves: a share of 0.1 of wrong ones, two moves each, changes no value by 0.1.
    np.testing.assert_allclose(state.network.values, best_values(DISCOUNT), atol=0.1)
    assert infos.healthy.all()
    assert int(state.updates) == infos.steps.size
    assert int(state.steps) == int(infos.steps.sum())
    early, late = (part.mean() for part in (infos.entropy[:5], infos.entropy[-5:]))
    assert late < early <= np.log(2) + 1e-6


def test_every_move_is_learned_from_once_a_pass(key):
    """With a rate that leaves the weights nearly as they are, minibatches add up to the gradient of all.

    24 of 40 entries are moves: three minibatches of eight, whatever lies in the other entries.
    """
    keys = jax.random.split(key, 6)
    valid = jnp.zeros(40, bool).at[jax.random.permutation(keys[0], 40)[:24]].set(True)
    moves = ppo.Moves(
        observation=jax.vmap(observe)(jax.random.randint(keys[1], (40,), 0, NUM_PLACES)),
        action=jax.random.randint(keys[2], (40,), 0, 2),
        log_prob=jnp.where(valid, jnp.log(0.5), -1e9),
        advantage=jax.random.normal(keys[3], (40,)),
        target=jnp.where(valid, jax.random.normal(keys[4], (40,)), 1e9),
    )
    rate = 1e-3
    config = ppo.PPOConfig(
        epochs=2, minibatches=5, entropy_weight=0.0, final_entropy_weight=0.0, learning_rate=rate
    )
    network = table(keys[5])
    improve = eqx.filter_jit(ppo.optimise)
    learned, _, means, healthy = improve(
        key, init_state(network, (), ()), moves, valid, optax.identity(), config, jnp.zeros(())
    )

    def whole(network):
        output = jax.vmap(network)(jax.tree.map(lambda leaf: leaf[valid], moves.observation))
        log_ratio = losses.log_prob_of(output.logits, moves.action[valid]) - moves.log_prob[valid]
        objective = losses.clipped_objective(log_ratio, moves.advantage[valid], config.clip)
        error = losses.value_loss(output.value, moves.target[valid])
        return jnp.mean(config.value_weight * error - objective)

    gradient = eqx.filter_grad(whole)(network)
    assert healthy
    for name in ("logits", "values"):
        before, after, slope = (getattr(tree, name) for tree in (network, learned, gradient))
        steps = (before - after) / rate
        np.testing.assert_allclose(steps, 2 * 3 * slope, rtol=0.02, atol=6 * rate)
    np.testing.assert_allclose(means.total, whole(network), atol=0.02)


@pytest.mark.parametrize(("sees_time", "expected"), [(True, [1.0, 0.5, 1.0]), (False, [1.0, 0.95, 1.0])])
def test_nothing_is_expected_after_a_time_out_that_was_seen_coming(sees_time, expected):
    """A stop, a time-out that is worth 0.5 by itself, and a stop of the next search; all values are 0.5."""
    flags = jnp.array([[True, False], [False, True], [True, False]])
    half = jnp.full((3, 1), 0.5)
    moves, _ = ppo.compute_advantages(
        Transitions(
            observation=jax.vmap(jax.vmap(observe))(jnp.zeros((3, 1), jnp.int32)),
            action=jnp.zeros((3, 1), jnp.int32),
            log_prob=half,
            value=half,
            next_value=half,
            reward=jnp.array([[1.0], [0.5], [1.0]]),
            terminated=flags[:, :1],
            truncated=flags[:, 1:],
            valid=jnp.ones((3, 1), bool),
        ),
        ppo.PPOConfig(discount=DISCOUNT, sees_time=sees_time),
    )
    np.testing.assert_allclose(moves.target, expected, rtol=1e-6)


def test_a_rollout_without_moves_teaches_nothing(key):
    """The network stays as it is, and nothing is sick about it."""
    moves = ppo.Moves(jax.vmap(observe)(jnp.zeros(8, jnp.int32)), jnp.zeros(8, jnp.int32), *jnp.zeros((3, 8)))
    network = table(key)
    learned, _, means, healthy = ppo.optimise(
        key,
        init_state(network, (), ()),
        moves,
        jnp.zeros(8, bool),
        optax.identity(),
        ppo.PPOConfig(),
        jnp.zeros(()),
    )
    np.testing.assert_array_equal(learned.logits, network.logits)
    assert healthy
    assert means.total == 0


def test_annealing_is_a_straight_line():
    """From the start to the end of the run, and no further."""
    found = [float(anneal(4.0, 2.0, jnp.array(share))) for share in (0.0, 0.5, 1.0, 3.0)]
    assert found == [4.0, 3.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        (ppo.PPOConfig, {"discount": 1.5}),
        (ppo.PPOConfig, {"clip": 0.0}),
        (ppo.PPOConfig, {"epochs": 0}),
        (ppo.PPOConfig, {"learning_rate": 0.0}),
        (actor_critic.ActorCriticConfig, {"discount": 0.0}),
        (actor_critic.ActorCriticConfig, {"critic_rate": -1.0}),
    ],
)
def test_choices_out_of_range_are_named(config, wrong):
    """By the name of the choice."""
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be"):
        config(**wrong)
