"""Losses against plain formulas, and the gradients that they are made for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.learn import losses

CLIP = 0.2


@pytest.mark.parametrize(
    ("ratio", "advantage", "slope"),
    [
        (1.0, 2.0, 2.0),
        (1.1, 2.0, 2.2),
        (1.3, 2.0, 0.0),
        (0.7, 2.0, 1.4),
        (0.7, -2.0, 0.0),
        (1.3, -2.0, -2.6),
    ],
)
def test_gradient_ends_where_the_clip_begins(ratio, advantage, slope):
    """d/d(log ρ) is ρA, and exactly 0 beyond the clip on the side to which A drives; the way back is open."""
    gradient = jax.grad(lambda log_ratio: losses.clipped_objective(log_ratio, jnp.array(advantage), CLIP))
    np.testing.assert_allclose(gradient(jnp.log(jnp.array(ratio))), slope, rtol=1e-5)


def test_objective_at_the_old_policy_is_the_policy_gradient(key):
    """At ρ = 1 the gradient is that of A log π."""
    logit_key, advantage_key = jax.random.split(key)
    logits = jax.random.normal(logit_key, (32, 4))
    action = jnp.arange(32) % 4
    advantage = jax.random.normal(advantage_key, (32,))
    old = losses.log_prob_of(logits, action)

    def clipped(logits):
        return jnp.sum(losses.clipped_objective(losses.log_prob_of(logits, action) - old, advantage, CLIP))

    def printed(logits):
        return -jnp.sum(losses.actor_loss(losses.log_prob_of(logits, action), advantage))

    np.testing.assert_allclose(jax.grad(clipped)(logits), jax.grad(printed)(logits), rtol=1e-5, atol=1e-6)


def test_what_is_not_valid_does_not_count(key):
    """Mean and gradient are those of the valid entries alone, even beside entries that are no numbers."""
    numbers = jax.random.normal(key, (20,)).at[::3].set(jnp.nan)
    valid = jnp.isfinite(numbers)
    value, slope = jax.value_and_grad(losses.masked_mean)(numbers, valid)
    np.testing.assert_allclose(value, np.asarray(numbers)[np.asarray(valid)].mean(), rtol=1e-5)
    np.testing.assert_allclose(slope, valid / valid.sum(), rtol=1e-6)
    assert losses.masked_mean(numbers, jnp.zeros(20, bool)) == 0
    normal = losses.normalise(numbers, valid)
    checkpoint = np.asarray(normal)[np.asarray(valid)]
    np.testing.assert_allclose([checkpoint.mean(), checkpoint.std()], [0.0, 1.0], atol=1e-5)
    assert (normal[~valid] == 0).all()


def test_equal_advantages_drive_nowhere():
    """A rollout in which every move was worth the same has nothing to teach."""
    assert (losses.normalise(jnp.full(8, 3.0), jnp.ones(8, bool)) == 0).all()


def test_entropy_lies_between_its_ends(key):
    """0 for a certain choice, log 4 for none, and the sum over the probabilities in between."""
    logits = 2 * jax.random.normal(key, (50, 4))
    probs = np.exp(np.asarray(logits, np.float64))
    probs /= probs.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(losses.entropy(logits), -(probs * np.log(probs)).sum(1), rtol=1e-4, atol=1e-5)
    ends = losses.entropy(jnp.array([[0.0, -1e9, -1e9, -1e9], [3.0, 3.0, 3.0, 3.0]]))
    np.testing.assert_allclose(ends, [0.0, np.log(4)], rtol=1e-6)


def test_divergence_is_unbiased(key):
    """Its mean over actions of the old policy is KL(old ‖ new), and no term of it is negative."""
    old, new = jnp.array([0.5, 0.2, -1.0]), jnp.array([0.0, 0.4, -0.5])
    log_old, log_new = jax.nn.log_softmax(old), jax.nn.log_softmax(new)
    terms = losses.divergence(log_new - log_old)
    assert (terms >= 0).all()
    exact = jnp.sum(jnp.exp(log_old) * (log_old - log_new))
    np.testing.assert_allclose(jnp.sum(jnp.exp(log_old) * terms), exact, rtol=1e-4)


def test_printed_losses_hold_the_error_fixed():
    """The critic follows δ; the actor's loss has no gradient through it."""
    error, log_prob = jnp.array([0.5, -2.0]), jnp.array([-1.0, -0.3])
    np.testing.assert_allclose(jax.grad(lambda error: losses.critic_loss(error).sum())(error), error)
    of_log_prob, of_error = jax.grad(lambda *parts: losses.actor_loss(*parts).sum(), (0, 1))(log_prob, error)
    np.testing.assert_allclose(of_log_prob, -error)
    assert (of_error == 0).all()
