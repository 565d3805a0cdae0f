"""REINFORCE in plain JAX on a search problem of your own: pure `reset` and `step`, `vmap` and `scan`.

Something that can be felt within a few metres lies in a square of 20 m. The reward is the entropy of its
position that a reading takes away [nats].
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from dowsax.envs import REWARDS, SCENARIOS, SearchProblem, belief_features, build
from dowsax.inference import Credible, DifferentialEvolution, FilterConfig, Preset
from dowsax.types import Scalar, Station, Theta
from dowsax.world import Gaussian, Identity, Model, Motion, Parameter

SIDE_M, STEP_M, RANGE_M = 20.0, 2.0, 4.0


class Somewhere(eqx.Module):
    """A prior of your own: anywhere in the square."""

    coordinates: Identity = Identity()
    parameters: tuple[Parameter, ...] = eqx.field(
        static=True, default=(Parameter("x", "m", "east"), Parameter("y", "m", "north"))
    )

    def sample(self, key) -> Theta:
        return jax.random.uniform(key, (2,), maxval=SIDE_M)

    def log_prob(self, theta: Theta) -> Scalar:
        return jnp.where(jnp.all((theta >= 0) & (theta <= SIDE_M)), -2 * jnp.log(SIDE_M), -jnp.inf)


def bump(theta: Theta, station: Station) -> Scalar:
    """A field of your own."""
    return jnp.exp(-0.5 * jnp.sum((station.position - theta[:2]) ** 2) / RANGE_M**2)


def build_problem(particles: int, moves: int) -> SearchProblem:
    """Return the problem: model, filter, sources, moves, stop rule; a search starts in the south-west."""
    config = FilterConfig(num_particles=particles, temper=False, num_moves=2, max_moves=2)
    steps = ((STEP_M, 0.0), (-STEP_M, 0.0), (0.0, STEP_M), (0.0, -STEP_M))
    return SearchProblem(
        Model(Somewhere(), bump, Gaussian(0.1, 0.05)),
        Preset(config, (DifferentialEvolution(),)),
        SCENARIOS["id"],
        Motion(steps, (0.0, 0.0), (SIDE_M, SIDE_M)),
        max_readings=moves + 1,
        stop=Credible(radius=0.5),
    )


class Sizes(NamedTuple):
    """Sizes of a run."""

    searches: int = 64
    moves: int = 16
    updates: int = 60
    particles: int = 64


def train(sizes: Sizes, seed: int = 0) -> jax.Array:
    """Return (updates, searches), the return of each search [nats]; those of the first move at random."""
    problem = build_problem(sizes.particles, sizes.moves)
    environment = build(problem, reward=REWARDS["entropy"], observe=belief_features(problem))
    network_key, key = jax.random.split(jax.random.key(seed))
    inputs = jax.eval_shape(environment.reset, key)[1].shape[0]
    network = eqx.nn.MLP(inputs, problem.actions.num_actions, 32, 2, key=network_key)
    # Without weights in the last layer all moves are equally likely.
    network = eqx.tree_at(lambda at: at.layers[-1].weight, network, replace_fn=jnp.zeros_like)
    network = eqx.tree_at(lambda at: at.layers[-1].bias, network, replace_fn=jnp.zeros_like)
    weights, rest = eqx.partition(network, eqx.is_array)
    optimiser = optax.adam(1e-2)

    def roll_out(weights, key):
        """Run searches to their end; rows of a search that has ended are not alive."""
        network = eqx.combine(weights, rest)
        reset_key, step_key = jax.random.split(key)
        states, seen = jax.vmap(environment.reset)(jax.random.split(reset_key, sizes.searches))

        def move(carry, key):
            states, seen, alive = carry
            act_key, move_key = jax.random.split(key)
            actions = jax.random.categorical(act_key, jax.vmap(network)(seen))
            keys = jax.random.split(move_key, sizes.searches)
            states, step = jax.vmap(environment.step)(keys, states, actions)
            row = seen, actions, jnp.where(alive, step.reward, 0.0), alive
            return (states, step.observation, alive & ~step.terminated & ~step.truncated), row

        carry = states, seen, jnp.ones(sizes.searches, bool)
        return jax.lax.scan(move, carry, jax.random.split(step_key, sizes.moves))[1]

    def loss(weights, seen, actions, advantages):
        log_probs = jax.nn.log_softmax(jax.vmap(jax.vmap(eqx.combine(weights, rest)))(seen))
        chosen = jnp.take_along_axis(log_probs, actions[..., None], axis=-1)[..., 0]
        return -jnp.mean(jnp.sum(chosen * advantages, axis=0))

    def update(carry, key):
        weights, optimiser_state = carry
        seen, actions, rewards, alive = roll_out(weights, key)
        to_go = jnp.cumsum(rewards[::-1], axis=0)[::-1]
        # The mean over the searches is the baseline.
        advantages = jnp.where(alive, to_go - jnp.mean(to_go, axis=1, keepdims=True), 0.0)
        gradient = jax.grad(loss)(weights, seen, actions, advantages / sizes.moves)
        change, optimiser_state = optimiser.update(gradient, optimiser_state)
        return (optax.apply_updates(weights, change), optimiser_state), to_go[0]

    run = jax.jit(lambda carry, keys: jax.lax.scan(update, carry, keys)[1])
    return run((weights, optimiser.init(weights)), jax.random.split(key, sizes.updates))


if __name__ == "__main__":
    returns = train(Sizes())
    error = returns[-1].std() / returns.shape[1] ** 0.5
    random, trained = returns[0].mean(), returns[-1].mean()
    print(f"random moves learn {random:.2f} nats, trained ones {trained:.2f} ± {error:.2f}")
