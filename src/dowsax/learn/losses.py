"""The losses of the learners: pure functions of arrays."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.types import Scalar


def masked_mean(numbers: Float[Array, "*batch"], valid: Bool[Array, "*batch"]) -> Scalar:
    """Return the mean of the valid entries, 0 if there is none. Other entries get no gradient."""
    total = jnp.sum(jnp.where(valid, numbers, 0.0))
    return total / jnp.maximum(jnp.sum(valid), 1)


def normalise(numbers: Float[Array, "*batch"], valid: Bool[Array, "*batch"]) -> Float[Array, "*batch"]:
    """Normalise to mean 0 and standard deviation 1 over the valid entries; 0 elsewhere."""
    centred = jnp.where(valid, numbers - masked_mean(numbers, valid), 0.0)
    return centred / jnp.sqrt(masked_mean(centred**2, valid) + 1e-12)


def log_prob_of(
    logits: Float[Array, "*batch actions"], action: Int[Array, "*batch"]
) -> Float[Array, "*batch"]:
    """Return the log probability of the chosen action."""
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], axis=-1)[..., 0]


def entropy(logits: Float[Array, "*batch actions"]) -> Float[Array, "*batch"]:
    """[nats], from 0 for a certain choice to log(number of actions). Logits are finite."""
    log_probs = jax.nn.log_softmax(logits)
    return -jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1)


def clipped_objective(
    log_ratio: Float[Array, "*batch"], advantage: Float[Array, "*batch"], clip: float
) -> Float[Array, "*batch"]:
    r"""Return PPO's clipped objective, to be maximised.

    $$\min\{\rho A,\ \mathrm{clip}(\rho, 1 - \epsilon, 1 + \epsilon) A\}$$

    $\rho = \pi(a \mid s) / \pi_\text{old}(a \mid s)$. Its gradient is zero once the ratio has moved further
    than ε in the direction of the advantage.
    """
    ratio = jnp.exp(log_ratio)
    return jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - clip, 1 + clip) * advantage)


def value_loss(value: Float[Array, "*batch"], target: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    r"""$\frac12 (V - R)^2$. Not clipped, as clipping has been found not to help."""
    return 0.5 * (value - target) ** 2


def divergence(log_ratio: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    r"""An estimate of $\mathrm{KL}(\pi_\text{old} \,\|\, \pi)$ from actions of the old policy.

    $\rho - 1 - \log\rho$: unbiased, and never negative.
    """
    return jnp.expm1(log_ratio) - log_ratio


def critic_loss(error: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    r"""The printed critic: $\frac12 \delta^2$. $V(s')$ is held fixed in δ."""
    return 0.5 * error**2


def actor_loss(log_prob: Float[Array, "*batch"], error: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    r"""The printed actor: $-\delta \log \pi(a \mid s)$, with δ held fixed."""
    return -log_prob * jax.lax.stop_gradient(error)
