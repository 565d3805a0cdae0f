r"""The attention projection g, learned.

Attention may pass weight to particles that deserve it, if g compares them by what matters. Here g is trained
so that the smoothed belief has a low energy score of the true Θ. The score is proper: in expectation nothing
beats the posterior itself, so neither a belief that is too sure nor one that is too wide can win.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from benchmarks.populations import Reweighted
from dowsax.inference.attention import AttentionConfig, attend, smooth
from dowsax.inference.features import MLPProjection
from dowsax.inference.weights import normalise
from dowsax.types import Key, Scalar, Theta

NUM_LOCATION = 2
"""The first columns of Θ are the location."""


@dataclass(frozen=True)
class ProjectionConfig:
    """Static choices of the training."""

    num_steps: int = 2000
    batch_size: int = 48
    learning_rate: float = 5e-3
    """Of Adam; it falls to zero along a cosine."""
    num_neighbours: int = 16
    num_embedding: int = 8
    width: int = 32
    epsilon: float = 0.2
    """ε, or where it starts when it is learned."""
    learn_epsilon: bool = False
    """Learn ε along with g. What is best for one smoothing is too much for a filter that smooths often."""
    rest_weight: float = 0.5
    """What the score of the other coordinates counts beside that of the location."""

    def __post_init__(self) -> None:
        sizes = (self.num_steps, self.batch_size, self.num_neighbours, self.num_embedding, self.width)
        if min(sizes) < 1:
            raise ValueError("The numbers of steps, neighbours and units and the batch must be at least 1.")
        if not 0 < self.epsilon < 1:
            raise ValueError(f"`epsilon` is a share of the weights, strictly in (0, 1); got {self.epsilon}.")
        if not self.learning_rate > 0 or not self.rest_weight >= 0:
            raise ValueError("`learning_rate` must be positive and `rest_weight` not negative.")


class Smoother(eqx.Module):
    """What is learned: g, and if asked for ε, by its logit."""

    project: MLPProjection
    epsilon_logit: Scalar

    @property
    def epsilon(self) -> Scalar:
        return jax.nn.sigmoid(self.epsilon_logit)


class ProjectionState(eqx.Module):
    """A training under way."""

    smoother: Smoother
    optimiser: PyTree


class ProjectionInfo(NamedTuple):
    """One step of the training."""

    score: Scalar
    """The mean score of the batch, before the step."""
    gain: Scalar
    """How much lower it is than without smoothing."""
    epsilon: Scalar


class ProjectionLearner(NamedTuple):
    """A pair of pure functions; what is learned from is given to the second, (p, …)."""

    init: Callable[[Key], ProjectionState]
    update: Callable[[Key, ProjectionState, Reweighted], tuple[ProjectionState, ProjectionInfo]]


def energy_score(particles: Float[Array, "n d"], log_weights: Float[Array, " n"], theta: Theta) -> Scalar:
    r"""$\sum_i w_i |\Theta_i - \Theta| - \tfrac12 \sum_{ij} w_i w_j |\Theta_i - \Theta_j| \ge 0$.

    Low is good (Gneiting and Raftery, 2007). In the unit of the particles.
    """
    weights = jnp.exp(normalise(log_weights))
    to_truth = jnp.linalg.norm(particles - theta[None, :], axis=1)
    apart = jnp.linalg.norm(particles[:, None, :] - particles[None, :, :], axis=2)
    return weights @ to_truth - 0.5 * weights @ (apart @ weights)


def population_score(
    population: Reweighted, log_weights: Float[Array, " n"], rest_weight: float = 0.0
) -> Scalar:
    """The energy score of the location, and that of the other coordinates times `rest_weight`, scaled."""
    particles = population.particles / population.scale[None, :]
    theta = population.theta / population.scale
    score = energy_score(particles[:, :NUM_LOCATION], log_weights, theta[:NUM_LOCATION])
    if rest_weight == 0:
        return score
    return score + rest_weight * energy_score(particles[:, NUM_LOCATION:], log_weights, theta[NUM_LOCATION:])


def smoothed_weights(smoother: Smoother, population: Reweighted, num_neighbours: int) -> Float[Array, " n"]:
    """The log weights after smoothing along the attention of g."""
    attention = attend(
        population.particles,
        population.log_likelihoods,
        population.log_weights,
        AttentionConfig(num_neighbours=num_neighbours),
        project=smoother.project,
    )
    return smooth(population.log_weights, attention, smoother.epsilon)


def build(num_parameters: int, config: ProjectionConfig) -> ProjectionLearner:
    """Adam on g, and on ε if it is learned; each update takes a random batch of the populations."""
    schedule = optax.cosine_decay_schedule(config.learning_rate, config.num_steps)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))

    def init(key: Key) -> ProjectionState:
        project = MLPProjection.build(key, num_parameters + 2, config.num_embedding, config.width)
        logit = jnp.asarray(np.log(config.epsilon / (1 - config.epsilon)), jnp.float32)
        smoother = Smoother(project, logit)
        return ProjectionState(smoother, optimiser.init(eqx.filter(smoother, eqx.is_inexact_array)))

    def scores(smoother: Smoother, batch: Reweighted) -> tuple[Scalar, Scalar]:
        if not config.learn_epsilon:
            held = jax.lax.stop_gradient(smoother.epsilon_logit)
            smoother = eqx.tree_at(lambda at: at.epsilon_logit, smoother, held)

        def one(population: Reweighted) -> tuple[Scalar, Scalar]:
            log_weights = smoothed_weights(smoother, population, config.num_neighbours)
            after = population_score(population, log_weights, config.rest_weight)
            return after, population_score(population, population.log_weights, config.rest_weight)

        after, before = jax.vmap(one)(batch)
        return jnp.mean(after), jnp.mean(before - after)

    def update(
        key: Key, state: ProjectionState, populations: Reweighted
    ) -> tuple[ProjectionState, ProjectionInfo]:
        decision = jax.random.randint(key, (config.batch_size,), 0, populations.theta.shape[0])
        batch = jax.tree.map(lambda leaf: leaf[decision], populations)
        (score, gain), gradient = eqx.filter_value_and_grad(scores, has_aux=True)(state.smoother, batch)
        changes, optimiser_state = optimiser.update(gradient, state.optimiser)
        smoother = eqx.apply_updates(state.smoother, changes)
        info = ProjectionInfo(score, gain, state.smoother.epsilon)
        return ProjectionState(smoother, optimiser_state), info

    return ProjectionLearner(init, update)


@eqx.filter_jit
def updates(
    key: Key, state: ProjectionState, populations: Reweighted, config: ProjectionConfig, num_updates: int
) -> tuple[ProjectionState, ProjectionInfo]:
    """Several updates as one compiled loop; the info has a leading axis."""
    learner = build(populations.theta.shape[1], config)
    arrays, rest = eqx.partition(state, eqx.is_array)

    def step(arrays, key):
        state, info = learner.update(key, eqx.combine(arrays, rest), populations)
        return eqx.filter(state, eqx.is_array), info

    arrays, infos = jax.lax.scan(step, arrays, jax.random.split(key, num_updates))
    return eqx.combine(arrays, rest), infos
